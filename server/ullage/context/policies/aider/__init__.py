"""`aider`: a small chat history, halved and summarised again and again, and a map of the repository.

Only finished turns count. aider summarises up to four times until the history fits; here once at each boundary, which comes to the same. It
makes the map anew for every call; here, where that would cost the cached prefix each time, it is made with each summary. A running turn of
more than 70 % of the window is summarised too, which aider, whose turns run few commands, never does.
"""
