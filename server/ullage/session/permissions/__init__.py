"""What the user allows once and for all: rules, where they are kept, and what they would have covered."""
