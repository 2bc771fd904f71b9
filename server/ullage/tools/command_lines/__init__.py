"""What a command line does, as far as that can be known before it runs: read, resolved, and judged by a list of programs."""
