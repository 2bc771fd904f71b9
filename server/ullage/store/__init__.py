"""What is kept on disk: the log, the prompt queue, clipped outputs, transcripts, the search index, the user's own state.

Everything of a workspace lies in a folder of the user's own outside of it (`folder.py`).
"""
