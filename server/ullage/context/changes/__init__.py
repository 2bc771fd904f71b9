"""What the agent changed in files, compared and joined line by line: merging, hunks, and the review of them. Pure."""
