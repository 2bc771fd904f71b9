"""The one room in which programs are started: who asks, which program, with which environment, and how it ends."""
