"""A real llama.cpp server with a tiny model of random weights, for a test that runs where there is such a server."""
