"""MCP servers: programs and services that a user connects, with their tools, prompts and resources (Model Context Protocol)."""
