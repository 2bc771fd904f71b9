"""Files as the user and the agent have them: folders and containment, open documents, the watcher, recent edits."""
