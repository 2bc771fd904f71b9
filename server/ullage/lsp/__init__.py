"""The edge: the only folder that knows pygls, JSON-RPC and wire types."""
