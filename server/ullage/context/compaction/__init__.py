"""The heart of compaction: whether to compact, and what a compaction becomes. Used live (`session/`) and in `replay/`; values only."""
