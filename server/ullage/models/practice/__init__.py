"""The practice model, which answers if no key is set. It is no language model and says so. Everything around it is real.

It plays scenario files and, for any other prompt, looks around in the workspace with the real tools. It keeps no state: each
request tells where it stands, so that it goes on after a reload, a crash or a compaction.
"""
