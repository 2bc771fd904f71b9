"""What the model sees: the log folded into the messages of the next request.

`Projection` does it entry by entry, so that a turn costs what is new; `project` does it for a whole log, and both give
the same view (a property test holds that). Nothing here reads a file, a clock or a wire.
"""
