"""What is kept on disk: the log, the prompt queue, clipped outputs, transcripts, the search index, the user's own state.

Everything of a workspace lies in `.ullage/` in its first folder, which ignores itself for git.
"""
