"""The way from the sandbox to hosts that the user allowed.

The sandbox has a network of its own with the loopback device alone. `connection.py` gets a socket that listens in there, `proxy.py` serves
it in the server's own network, and `hosts.py` says where it may connect to.
"""
