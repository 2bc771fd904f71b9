"""Talking to a language model: one Protocol, its Anthropic and its practice implementation."""
