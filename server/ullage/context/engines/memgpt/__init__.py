"""The engine of `memgpt`: first in, first out with a summary of summaries, and memory blocks that the model edits itself."""
