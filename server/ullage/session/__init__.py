"""One conversation: its queue, its turns, the agent loop, its compactions, and what a user sees of them."""
