"""Where the commands of the agent run: what they may read, write and reach.

`bubblewrap.py` has the command line for Linux, `confinement.py` what a command sees of the machine, `system_calls.py` what it may ask of
the kernel. `guarded.py` says what stays read-only within the workspace.
"""
