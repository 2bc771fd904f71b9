"""What the agent changed in the workspace: recorded, and gone back to."""
