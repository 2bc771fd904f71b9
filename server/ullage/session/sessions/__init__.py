"""The sessions of a workspace: listed, opened, forked, searched, and taken over from elsewhere."""
