"""What a call has to be allowed, asked until what was allowed is what there is.

While the user is asked, a folder can be exchanged for a link, a file for another one, a script for a different script. So what the call
needs is found out again after the answer, and asked anew where it is not the same. The tool then gets what was allowed and keeps to it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ullage.context.blocks import ToolUse
from ullage.session.approvals import Approvals, Refused
from ullage.tools.tool import PermissionNeed, ShowsBefore, Tool, ToolOutcome


async def permit(call: ToolUse, tool: Tool, approvals: Approvals) -> PermissionNeed | ToolOutcome | None:
    """What was allowed, None where the call is free; the outcome where it is not to be run. Raises `BadToolInput`."""
    need = await _need(call, tool)
    again = False
    while isinstance(need, PermissionNeed) and not approvals.allows(need):
        answer = await approvals.ask(call.id, need, again=again)
        if isinstance(answer, Refused):
            said = f" They said: {answer.reason}" if answer.reason else ""
            return ToolOutcome(f"The user refused this call; it was not run.{said}", is_error=True, refusal=answer.reason)
        now = await _need(call, tool)
        if now == need:
            break
        need, again = now, True
    return need


async def _need(call: ToolUse, tool: Tool) -> PermissionNeed | ToolOutcome | None:
    if tool.kind in ("read", "search", "think"):
        return tool.permission(call.input)
    need = await asyncio.to_thread(tool.permission, call.input)  # it may look at files
    if need is None or need.target is None or not isinstance(tool, ShowsBefore):
        return need
    change = await tool.foresee(call.input, need.target)
    return change if isinstance(change, ToolOutcome) else replace(need, diff=change)
