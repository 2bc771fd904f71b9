"""The policies that come with Ullage, a file or a folder each: options, prompts, sources, and the engine if it has its own.

`ullage policies NAME` shows what the docstring of a policy's module says after its first line: how it differs from its source.
"""
