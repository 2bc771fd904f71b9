"""What policies share: the seam to whoever carries them out, the staged engine, and what a model reads of a conversation."""
