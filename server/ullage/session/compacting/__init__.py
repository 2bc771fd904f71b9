"""What a live session does around a compaction: when one is due, who is asked, what is read again, what is logged and shown."""
