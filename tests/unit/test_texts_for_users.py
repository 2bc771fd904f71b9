"""The sentences that the extension knows to say in other languages are those of the server's code, word for word, and none is missing.

Where a text can reach a user is no list of sentences: it is every field of the wire with a text that the server says (`SAID`), every
error of a request, and every message of the editor. The trace (`tests/user_texts/`) goes back from there to each literal in the code
that can be part of such a text.

It cannot see:

- one word in small letters ("whole"): most literals like that are names for programs
- what comes out of a dictionary of JSON, a file, a program or a server: those words are not Ullage's
- words that a function gets as an argument and gives back in another form than a text or a collection of texts
- whether the pieces of a text are found again when they stand together: `tests/extension/l10n.test.ts` has examples of each kind
"""

from __future__ import annotations

import ast
import gc
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

import ullage
from tests.trees import below, parsed
from tests.user_texts.code import Class, Code
from tests.user_texts.tracing import Place, Trace, Words, form_of

ROOT = Path(__file__).parents[2]
PATHS_AND_ROWS = ("store/", "tools/command_lines/lookup.py", "context/compaction/proof.py")
"""What stands behind `*several` there is the name of a file, or a number."""
KNOWN = ROOT / "client-extension" / "src" / "server" / "sentences"

ELSEWHERE = frozenset(
    {f"ullage.{name}" for name in ("acp", "replay", "cli", "importing", "inspection", "policies_command", "store_command")}
)
"""Other front ends, with words of their own, and the command line."""

WIRE = "ullage.lsp.protocol"
"""The package of the wire's types."""

SAID = frozenset(
    {
        *("Allowed.explanation", "Allowed.name", "Allowed.warning", "AskedPart.text", "AskedPart.why", "Asking.no_sandbox"),
        *("ChangedFile.note", "CheckResult.explanation", "CheckResult.problem", "CheckResult.warning", "CompactionItem.error"),
        *(
            "CompactionItem.skipped",
            "DecidedFile.why",
            "FileBack.conflict",
            "ImportResult.failures",
            "ItemFate.title",
            "ModelInfo.display_name",
        ),
        *("NoticeItem.text", "OfferedModel.display_name", "PermissionOption.name", "Preview.nothing", "PreviewCost.estimate"),
        *("PreviewLine.title", "RestoredFile.note", "Retry.reason", "SessionMode.description", "SessionMode.name", "ShownMedia.name"),
        *("ShownMedia.words", "ToolCallItem.permission_reason", "ToolCallItem.title", "Uncovered.why", "UserItem.attachments"),
        *(
            "WorktreeFile.conflict",
            "ContextPart.title",
            "AgentRun.doing",
            "HookRun.why",
            "InstructionsFile.problem",
            "InstructionsFile.why",
        ),
        *("InstructionsResult.no_sandbox", "InstructionsResult.reason", "McpListResult.problems", "McpServer.why", "PassedHook.why"),
    }
)
"""Texts that the server says, or can say."""

NOT_SAID = frozenset(
    {
        # the words of the user, of the model, of tools and of files
        *("AppendUpdate.text", "AssistantItem.text", "BroughtSession.title", "Checkpoint.title", "CommitMessageResult.text"),
        *("Answer.chosen", "Answer.question", "Answer.text", "GivenAnswer.text", "Question.header", "Question.question"),
        *("QuestionOption.description", "QuestionOption.label"),
        *(
            "CompactionItem.focus",
            "CompactionItem.nearby",
            "CompactionItem.summary",
            "Diff.new_text",
            "Diff.old_text",
            "ExportResult.text",
            "ForkOrigin.title",
        ),
        *(
            "ForkPrompt.text",
            "OpenTurn.title",
            "PastCall.text",
            "PlanEntry.content",
            "Preview.summary",
            "Problem.message",
            "Problem.source",
            "AvailableCommand.source",
        ),
        *("SearchHit.excerpt", "SearchHit.session_title", "SessionSummary.title", "Snapshot.title", "TextAttachment.name"),
        *("PastedAttachment.name", "CacheMiss.change"),
        *("TextAttachment.text", "ThinkingItem.text", "TitleUpdate.title", "ToolCallItem.input", "ToolCallItem.output"),
        *("TurnChanges.title", "UserItem.text", "VersionTextResult.text"),
        *("CommandOutputResult.text", "RunningCommand.command", "RunningCommand.last_line"),
        *("ChatFailure.said", "ChatText.text", "ChatThinking.text", "ChatToolCall.input", "ChatToolResult.text", "McpLogResult.text"),
        *("McpResource.description", "McpTool.description", "OtherCompaction.examples", "OtherSession.title", "PassedHook.command"),
        *("ChatTool.description", "ChatTool.input_schema", "McpServer.shown", "ShownHook.command", "ShownHook.matcher"),
        # names that the extension words itself, or does not draw
        *("AvailableCommand.description", "AvailableCommand.name", "Category.name", "CommandDone.name", "CommandInput.hint"),
        *("CompactionItem.policy", "Epoch.policy", "Gauge.policy", "ModelInfo.limits_source", "Preview.policy", "SearchHit.what"),
        *("ToolCallItem.name", "Allowed.action", "AgentRun.name", "ToolCallItem.goes_on"),
        # names and addresses
        *(
            "ResourceAttachment.server",
            "Allowed.pattern",
            "ModelInfo.name",
            "OfferedModel.name",
            "PageAttachment.url",
            "ResourceAttachment.server",
            "PastedAttachment.data",
            "Proposal.pattern",
        ),
        *("Snapshot.agent_of", "RemoveWorktreeResult.branch", "Worktree.branch", "EditorModel.name", "EditorModel.vendor"),
        *("ChatImage.data", "ChatImage.media_type", "ChatTool.name", "ChatToolCall.name", "InstructionsFile.imported_by"),
        *("InstructionsFile.name", "LookResult.model", "McpResource.name", "McpServer.fingerprint", "McpServer.host", "McpServer.name"),
        *("McpTool.name", "OtherSession.program", "OtherSession.version", "PassedHook.event", "SecretResult.value", "ShownHook.event"),
    }
)
"""Texts that nobody translates."""

IDS_AND_PATHS = re.compile(r"(^|_)(id|ids|path|paths|uri|files?|folder|document|store_folder|full_output|restored)$")

CUT = frozenset(
    {
        *(("Text", "text"), ("Attachment", "text"), ("Summarised", "text"), ("Summary", "text"), ("UserPrompt", "text")),
        ("TextPart", "text"),
        *(("SystemPart", "text"), ("SystemPart", "name")),
    }
)
"""Fields that hold what the model reads or wrote."""

NAMES = frozenset(
    {
        *(
            "path",
            "paths",
            "id",
            "session_id",
            "content",
            "placeholder",
            "marker",
            "summary",
            "key",
            "command",
            "model_text",
            "output",
            "input",
        ),
        *("line", "pattern", "prompt_id", "folder"),
    }
)
"""What parameters and fields are called that hold no words of Ullage for users, wherever they stand."""

NO_SENTENCES = frozenset(
    {
        # names of models and of a setting's words
        "Handoff",
        "Models API",
        "Messages API",
        "Chat Completions API",
        "Amazon Bedrock",
        "Google Vertex AI",
        "text/plain",
        # names of programs
        "Codex",
        "Cline",
        "Gemini CLI",
        # names of Claude Code's tools
        *("Bash", "Read", "Edit", "Write", "Grep", "Glob", "Task", "Agent"),
        # tables of programs and files
        "cargo --version, go version, node --version, node -v, npm --version, npm -v, pip --version, python --version, python3 --version",
        "vitest run",
        # what only programs compare, or the model reads
        *("password authentication failed|no password supplied", "database .* does not exist", "root certificate file", "too many"),
        *("pg_hba.conf|role .* does not exist", "translate host name|resolve host|Name or service", "refused|No such file"),
        *("starting up|shutting down|not yet accepting", "timeout|timed out", "does not support SSL"),
        "Task from the agent that works with the user. The user did not type this.\n\n",
        "back to ",
        "undo of changes",
        "\n[more when the command has ended]\n",
        "[The user took the file {} out of the conversation.]",
        "it is no JSON object, or is cut off",
        "without a store nothing leaves memory",
        "{}\n[cut: the hook said {} characters]",
        "no page is asked for at port {}: it is of another service",
        "{} is in a private network ({}), where only the user asks for pages",
        "{} could not be read ({}), so the site may not want it. The user can still attach it",
        "the site does not want programs to fetch this page ({} says so). The user can still attach it: @{}",
    }
)
"""Literals that look like sentences for users and are none."""


def test_every_known_sentence_stands_in_the_code() -> None:
    assert len(known()) > 500
    said = _said_in(Path(ullage.__file__).parent)
    assert [sentence for sentence in known() if _without_names(sentence) not in said] == []


def test_every_sentence_that_users_can_meet_is_known() -> None:
    forms = {_without_names(sentence) for sentence in known()} | NO_SENTENCES
    missing = {
        words: way for words, way in said_to_users(code()).items() if is_sentence(words.form) and _without_names(words.form) not in forms
    }
    assert [f"{words.module}:{words.line} {words.form!r}, used in {way[0]}" for words, way in missing.items()] == []


def test_the_trace_knows_which_field_each_argument_is_for() -> None:
    """Behind `*several` it would take one for another."""
    package = Path(ullage.__file__).parent
    found = [
        f"{path.relative_to(package)}:{call.lineno}"
        for path in package.rglob("*.py")
        if not path.is_relative_to(package / "replay")
        for call in nodes(path)
        if isinstance(call, ast.Call) and _is_class(call.func) and any(_is_several(each) for each in call.args[:-1])
    ]
    assert [each for each in found if not each.startswith(PATHS_AND_ROWS)] == []


def _is_several(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Starred) and not isinstance(argument.value, ast.Tuple)


def _is_class(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    return name[:1].isupper()


def test_every_text_on_the_wire_is_said_or_not() -> None:
    texts = {f"{owner.name}.{name}" for owner, name in sent_texts(code()) if IDS_AND_PATHS.search(name) is None}
    assert texts - NOT_SAID - SAID == set()
    assert (SAID | NOT_SAID) - texts - {"UserItem.attachments"} == set()


@pytest.mark.parametrize(
    ("source", "form"), [('f"Read {path}"', "Read {}"), ('"a" "b {}"', "ab {}"), ('f"{one}{two!r} of {n:,}"', "{}{} of {}")]
)
def test_the_form_of_a_sentence(source: str, form: str) -> None:
    assert form in _forms(below(ast.parse(source)))


def known() -> list[str]:
    """The sentences that the extension knows."""
    literals = re.findall(r"known\(\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'),?\s*\)", "".join(map(_text, sorted(KNOWN.glob("*.ts")))))
    return [json.loads(each) if each[0] == '"' else each[1:-1].replace("\\'", "'") for each in literals]


def _text(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def nodes(path: Path) -> Sequence[ast.AST]:
    """All of a file, in no order that counts."""
    return tuple(below(parsed(path)))


@cache
def code() -> Code:
    """The server."""
    return Code(Path(ullage.__file__).parent, ELSEWHERE)


@pytest.fixture(autouse=True, scope="module")
def let_go_of_the_code() -> Iterator[None]:
    """A million objects are not looked through by the garbage collector, neither while they are made nor in all later tests."""
    gc.disable()
    yield
    code.cache_clear()
    nodes.cache_clear()
    parsed.cache_clear()
    gc.enable()


def sent_texts(server: Code) -> list[tuple[Class, str]]:
    """The fields of the wire that hold texts and go from the server to the client."""
    owners = [owner for name, module in server.modules.items() if name.startswith(WIRE) for owner in module.classes.values()]
    sent = [owner for owner in owners if owner.name != "NewRule" and not (owner.name.endswith("Params") and owner.name != "UpdateParams")]
    return [(owner, name) for owner in sent for name, kind in owner.fields.items() if re.search(r"\bstr\b", ast.unparse(kind))]


def said_to_users(server: Code) -> dict[Words, tuple[Place, ...]]:
    """The literals that can be part of a text for users, with the way to each."""
    trace = Trace(server, CUT, NAMES)
    for owner, name in sent_texts(server):
        if f"{owner.name}.{name}" in SAID:
            trace.field(owner, name)
    of_requests = frozenset({"ullage.lsp.methods", "ullage.lsp.server"})
    for error in ("JsonRpcException", "JsonRpcInternalError"):
        trace.argument(error, 0, "message", of_requests)
    for shown, position, name in (
        ("ShowMessageParams", 1, "message"),
        ("ShowMessageRequestParams", 1, "message"),
        ("MessageActionItem", 0, "title"),
    ):
        trace.argument(shown, position, name, of_requests)
    trace.argument("WorkDoneProgressBegin", 0, "title", frozenset({"ullage.lsp.bridge"}))
    return trace.words


def is_sentence(form: str) -> bool:
    """Two words, or one that begins with a capital."""
    fixed = re.sub(r"\{[^{}]*\}", "", form)
    two = re.search(r"[A-Za-z]{2,}[,;:.)`”\"']* +[(`“\"']*[A-Za-z]{2,}", fixed)
    is_model = fixed.startswith("Claude ")
    return not is_model and (two is not None or re.fullmatch(r"\W*[A-Z][a-z]+\W*", fixed) is not None)


def _said_in(package: Path) -> set[str]:
    return {form for path in package.rglob("*.py") for form in _forms(nodes(path))}


def _forms(source: Iterable[ast.AST]) -> set[str]:
    forms = (form_of(node) for node in source if isinstance(node, ast.Constant | ast.JoinedStr))
    return {_without_names(form) for form in forms if form is not None}


def _without_names(sentence: str) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", sentence)
