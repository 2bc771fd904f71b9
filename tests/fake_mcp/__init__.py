"""An MCP server that refuses what a strict one would, and does on demand what a bad one does."""
