"""What the agent can do: one file a tool, its text for the model beside it."""
