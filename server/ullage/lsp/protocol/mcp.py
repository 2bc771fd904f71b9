"""The wire types of MCP servers, and of secrets that the client keeps for them. See PROTOCOL.md, "MCP servers"."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import attrs

from ullage.lsp.protocol.items import AtMost, Id

McpState: TypeAlias = Literal["off", "untrusted", "starting", "running", "waiting", "sign_in", "failed"]
McpSource: TypeAlias = Literal["settings", ".mcp.json", ".vscode/mcp.json"]
ServerName: TypeAlias = Annotated[str, AtMost(100)]


@attrs.frozen
class McpTool:
    """A tool of a server, in its own words; `read_only` is what the server says of it."""

    name: str
    description: str
    read_only: bool | None = None


@attrs.frozen
class McpResource:
    """A resource of a server, which can be attached to a prompt."""

    uri: str
    name: str
    description: str | None = None


@attrs.frozen
class McpServer:
    """A server that is configured. `shown` is its command or its address, `why` why it is not running. Tokens are estimated."""

    name: str
    source: McpSource
    state: McpState
    fingerprint: str
    asks: bool
    tools: list[McpTool]
    resources: list[McpResource]
    prompts: int
    index_tokens: int
    tool_tokens: int
    kind: Literal["stdio", "http"] | None = None
    file: str | None = None
    shown: str | None = None
    host: str | None = None
    why: str | None = None
    signed_in: bool | None = None


@attrs.frozen
class McpListResult:
    """Result of `ullage/mcp/list`; `problems` are those of whole files."""

    servers: list[McpServer]
    problems: list[str]


@attrs.frozen
class McpTurnParams:
    """Params of `ullage/mcp/turn`: the configuration that the user saw, and whether it is to run."""

    name: ServerName
    fingerprint: Id
    on: bool


@attrs.frozen
class McpServerParams:
    """Params of all requests that name a server and nothing else."""

    name: ServerName


@attrs.frozen
class McpLogResult:
    """Result of `ullage/mcp/log`."""

    text: str


@attrs.frozen
class SecretParams:
    """Params of `ullage/secret/read`."""

    key: str


@attrs.frozen
class SecretResult:
    """Result of `ullage/secret/read`; without a value nothing is kept."""

    value: str | None = None


@attrs.frozen
class KeepSecretParams:
    """Params of `ullage/secret/keep`; without a value the kept value is deleted."""

    key: str
    value: str | None = None
