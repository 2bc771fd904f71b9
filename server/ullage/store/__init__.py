"""The append-only log on disk, transcripts, clipped outputs, and search over them."""
