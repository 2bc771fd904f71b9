"""From a prompt to the end of its turn: the queue, the loop and its steps, tool calls and approvals."""
