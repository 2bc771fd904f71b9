"""The engine of `lossless`: summaries over stretches of the conversation, summaries over summaries, each one openable."""
