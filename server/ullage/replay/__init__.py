"""Recorded sessions as data: read where they lie, priced as the prompt cache would have it, asked what was needed later."""
