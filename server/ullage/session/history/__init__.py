"""What the user does with the past: preview, undo and redo, pins and exclusions, epochs and what became of each message."""
