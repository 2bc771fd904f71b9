"""What policies share: the answers that an engine gives, the staged engine, and what a model reads of a conversation."""
