"""What Ullage says of itself to a client of the Agent Client Protocol that has just come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp import PROTOCOL_VERSION, schema

from ullage import __version__
from ullage.acp.extensions import METHODS


def introduction(ways_to_sign_in: Sequence[Any]) -> schema.InitializeResponse:
    """The answer to `initialize`: the version that is spoken here, whichever the client speaks, and what a client may ask for."""
    return schema.InitializeResponse(
        protocol_version=PROTOCOL_VERSION,
        agent_info=schema.Implementation(name="ullage", title="Ullage", version=__version__),
        agent_capabilities=schema.AgentCapabilities(
            load_session=True,
            mcp_capabilities=schema.McpCapabilities(http=True, sse=False),
            prompt_capabilities=schema.PromptCapabilities(image=True, audio=False, embedded_context=True),
            session_capabilities=schema.SessionCapabilities(
                list=schema.SessionListCapabilities(),
                delete=schema.SessionDeleteCapabilities(),
                resume=schema.SessionResumeCapabilities(),
                close=schema.SessionCloseCapabilities(),
                fork=schema.SessionForkCapabilities(),
            ),
            field_meta={"ullage": {"methods": [f"_{name}" for name in METHODS]}},
        ),
        auth_methods=list(ways_to_sign_in),
    )
