"""The wire types of prompts: what is attached to them, commands, the queue, and answers to questions. See PROTOCOL.md."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs

from ullage.lsp.protocol.items import Id


@attrs.frozen
class GivenAnswer:
    """The user's answer to one question: the options that they chose, and their own words. With neither they left it out."""

    option_ids: list[Id] | None = None
    text: str | None = None


@attrs.frozen
class AnswerParams:
    """Params of `ullage/question/respond`: one answer to each question, in their order; without `answers` all are skipped."""

    session_id: Id
    tool_call_id: Id
    question_id: Id
    answers: list[GivenAnswer] | None = None


@attrs.frozen
class LineRange:
    """The first and the last line, counted from 1."""

    first: int
    last: int


@attrs.frozen
class FileAttachment:
    """A file or a folder that is put into a prompt, or an open document that was never saved (`untitled:`)."""

    uri: str
    lines: LineRange | None = None


@attrs.frozen
class TextAttachment:
    """A text that is in no file; `name` says where it is from."""

    name: str
    text: str


@attrs.frozen
class ProblemsAttachment:
    """The editor's problems, put into a prompt."""


@attrs.frozen
class PastedAttachment:
    """An image that was pasted or dropped; `data` is base64, `name` that of the file that was dropped."""

    data: str
    name: str | None = None


@attrs.frozen
class PageAttachment:
    """A page of the web, which the server fetches once, now."""

    url: str


@attrs.frozen
class ResourceAttachment:
    """A resource of an MCP server, which is read when the prompt comes."""

    server: str
    uri: str


AttachmentRef: TypeAlias = FileAttachment | TextAttachment | ProblemsAttachment | PastedAttachment | PageAttachment | ResourceAttachment
ATTACHMENT_KINDS: dict[type[Any], str] = {
    FileAttachment: "file",
    TextAttachment: "text",
    ProblemsAttachment: "problems",
    PastedAttachment: "pasted",
    PageAttachment: "page",
    ResourceAttachment: "resource",
}


@attrs.frozen
class PromptParams:
    """Params of `prompt`."""

    session_id: Id
    text: str
    attachments: list[AttachmentRef] | None = None
    delivery: Literal["queue", "steer"] | None = None


@attrs.frozen
class CommandDone:
    """A prompt was a command, and was carried out; `session_id` is a session that it made."""

    name: str
    session_id: str | None = None


@attrs.frozen
class PromptResult:
    """Result of `prompt`: the id of its item."""

    prompt_id: Id
    command: CommandDone | None = None


@attrs.frozen
class CommandInput:
    """A hint at the words that can follow the name of a command."""

    hint: str


@attrs.frozen
class AvailableCommand:
    """A command that can be sent as a prompt, `/name`."""

    name: str
    description: str
    input: CommandInput | None = None
    source: str | None = None
    """The file of the project that declares it; None for one of Ullage's own."""


@attrs.frozen
class CommandsParams:
    """Params of `ullage/command/list`. With a session its project's commands and skills are listed, too."""

    session_id: Id | None = None


@attrs.frozen
class CommandsResult:
    """Result of `ullage/command/list`."""

    commands: list[AvailableCommand]


@attrs.frozen
class UnqueueParams:
    """Params of `unqueue`."""

    session_id: Id
    prompt_id: Id


@attrs.frozen
class UnqueueResult:
    """Result of `unqueue`: what was attached to the prompt, as far as it can be attached again."""

    attachments: list[AttachmentRef]
