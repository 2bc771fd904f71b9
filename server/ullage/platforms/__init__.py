"""What differs by operating system and concerns more than one room. docs/platforms.md says where the rest stands.

Nothing here starts a program or keeps anything. Each function takes the system as a value, so that the tests of one system hold the others.
"""
