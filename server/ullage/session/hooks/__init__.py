"""Hooks: commands that files want run before and after tools, at compactions and at the end of a turn, if the user lets them."""
