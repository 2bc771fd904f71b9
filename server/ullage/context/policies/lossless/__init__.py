"""`lossless`: Lossless Context Management, as lossless-claw does it.

Summaries over messages of at most 20,000 tokens, over 8 of those, and over 4 of these; each says which entries it stands for, and `recall`
opens them, in the place of the tools that lossless-claw brings. Its second, more pressing prompt for a summary that came out too long is
left out: one that gains nothing is not taken, and the program's few lines stand in, as there.
"""
