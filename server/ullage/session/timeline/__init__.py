"""What a user sees of a session: its items, and numbered updates of them for the client."""
