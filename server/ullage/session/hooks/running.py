"""The hooks of one session: which the user lets run, running them, and what each did last.

They run one after the other, in the order of their files. A hook that fails in any way is told to the user in place, and the turn goes on.
`answers.py` reads what hooks say at each event, and `at_events.py` does what follows from it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from ullage.context.blocks import Json
from ullage.context.counting.tokens import estimate_text
from ullage.session.conversation import Conversation
from ullage.session.errors import SessionError, refusing
from ullage.session.hooks.allowed import ITS_FOLDER, AllowedHooks, HookDecision, Runs
from ullage.session.hooks.answers import HookAnswer, said_by
from ullage.session.hooks.declared import Declared, Event, Hook, Passed, declared_hooks
from ullage.session.hooks.matching import matches
from ullage.session.surroundings import Surroundings
from ullage.session.timeline.items import NoticeItem, new_id
from ullage.tools.hook_command import CannotRun, HookCommand
from ullage.tools.rules.reading import ReadRulesNow
from ullage.workspace.folders import Folders

UNDECIDED = "nhooks"
"""The id of the notice that hooks wait for the user's decision."""

WAITING = "There are hooks that you have not decided about. They do not run until you allow them."

MOST_TOLD = 20
"""Most different things that one hook has the user told in a session. The list of hooks has what it said last."""

SHOWN_COMMAND = 120
"""Characters of a command in a sentence for the user."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """What a hook did when it last ran."""

    at: float
    seconds: float
    how: str
    """How the run ended, in words for the user."""
    failed: bool
    tokens: int
    """An estimate of what the hook has told the agent in this session, all runs together."""
    times: int


@dataclass(frozen=True, slots=True)
class ListedHook:
    """One hook, for the user."""

    id: str
    """The digest of the hook as it is now, with its scripts: when it is edited it has another one."""
    hook: Hook
    runs: Runs | None
    """What the user decided about the hook; None if nothing."""
    last: LastRun | None


@dataclass(frozen=True, slots=True)
class HooksNow:
    """All hooks as they are now."""

    listed: tuple[ListedHook, ...]
    passed: tuple[Passed, ...]
    off: str
    """Why no hook runs, in words for the user; empty if those run that are allowed."""
    no_sandbox: str
    """Why no sandbox confines hooks, in words that follow "because"; empty if one does."""


class Hooks:
    """The hooks of one session: reads, runs and lists them."""

    def __init__(self, conversation: Conversation, surroundings: Surroundings, read_rules: ReadRulesNow, mode: Callable[[], str]) -> None:
        self._conversation = conversation
        self._surroundings = surroundings
        self._read_rules = read_rules
        self._mode = mode
        self._declared = Declared()
        self._allowed = AllowedHooks(surroundings.hooks_kept)
        self._last: dict[Hook, LastRun] = {}
        self._one_runs = asyncio.Lock()
        self._told: dict[Hook, set[str]] = {}

    # What there is

    @property
    def off(self) -> str:
        """Why no hook runs, in words for the user; empty if those run that the user allowed."""
        settings = self._surroundings.settings
        if not settings.trusted:
            return "This workspace is not trusted, so no hook runs."
        return "" if settings.hooks else 'The setting "Ullage › Hooks: Enabled" is off, so no hook runs.'

    async def renew(self) -> None:
        """Reads the files again. A notice says so as long as hooks wait for a decision."""
        decided = await self._look()
        waits = not self.off and any(each.runs is None for each in decided.values())
        timeline = self._conversation.timeline
        if waits and timeline.get(UNDECIDED) is None:
            timeline.put(NoticeItem(UNDECIDED, self._conversation.clock(), "info", WAITING, "hooks"))
        elif not waits and timeline.get(UNDECIDED) is not None:
            timeline.remove(UNDECIDED)

    async def listed(self) -> HooksNow:
        """All hooks as they are now."""
        decided = await self._look()
        listed = tuple(ListedHook(each.digest, hook, each.runs, self._last.get(hook)) for hook, each in decided.items())
        return HooksNow(listed, self._declared.passed, self.off, self._surroundings.sandbox_missing())

    async def decide(self, id: str, runs: Runs | None) -> None:
        """Keeps what the user decided about a hook that they were shown; None takes it back. Raises `SessionError`, also if it was changed
        since."""
        decided = await self._look()
        if all(each.digest != id for each in decided.values()):
            raise SessionError("invalid", "This hook, or a script that it runs, was changed since it was shown. Look at it again")
        with refusing():
            await asyncio.to_thread(self._allowed.decide, id, self._home, runs)
        await self.renew()

    async def _look(self) -> Mapping[Hook, HookDecision]:
        def look() -> tuple[Declared, Mapping[Hook, HookDecision]]:
            declared = declared_hooks(self._home, self._read_rules())
            return declared, self._allowed.about(declared.hooks, self._home, self._surroundings.folders)

        self._declared, decided = await asyncio.to_thread(look)
        return decided

    @property
    def folder(self) -> Path | None:
        """The folder in which hooks start; None if no folder is open."""
        return self._surroundings.folders.first

    @property
    def _home(self) -> Folders:
        """The folders that the user has open: in a worktree the agent writes, and hooks are not read from there."""
        return (self._surroundings.home or self._surroundings).folders

    # Running

    def any_for(self, event: Event, names: tuple[str, ...] = ("",)) -> bool:
        """Whether a hook is declared for that event and these names, allowed or not."""
        return any(hook.event == event and matches(hook.matcher, names) for hook in self._declared.hooks)

    async def run(
        self, event: Event, given: Callable[[Hook], Mapping[str, Json]], names: tuple[str, ...] = ("",)
    ) -> list[tuple[Hook, HookAnswer]]:
        """Runs the hooks of an event that the user allowed, one after the other, and gives what each said. `given` is what each is told
        besides what all are."""
        if self.off or not self.any_for(event, names):
            return []
        said: list[tuple[Hook, HookAnswer]] = []
        async with self._one_runs:
            for hook in self._declared.hooks:
                if hook.event == event and matches(hook.matcher, names):
                    runs = (await asyncio.to_thread(self._allowed.about, (hook,), self._home, self._surroundings.folders))[hook].runs
                    if runs in ("sandbox", "outside"):
                        said.append((hook, await self._run_one(hook, given(hook), confined=runs == "sandbox")))
        return said

    async def _run_one(self, hook: Hook, given: Mapping[str, Json], *, confined: bool) -> HookAnswer:
        folder = self.folder
        if folder is None:
            return HookAnswer()
        told: dict[str, Json] = {
            "session_id": self._conversation.session_id,
            "transcript_path": "",
            "cwd": str(folder),
            "permission_mode": "default" if self._mode() == "act" else "plan",
            "hook_event_name": hook.event,
            **given,
        }
        command = HookCommand(
            hook.command,
            json.dumps(told).encode(),
            folder,
            hook.seconds,
            dict.fromkeys(ITS_FOLDER, str(folder)),
            confined,
            writes=self._mode() == "act",
        )
        began = monotonic()
        try:
            said = said_by(hook.event, await self._surroundings.run_hook(command), hook.seconds)
        except CannotRun as error:
            said = HookAnswer(trouble=str(error))
        self._note(hook, said, monotonic() - began)
        if said.trouble:
            self.tell_user(hook, "warning", f"A hook failed ({in_words(hook)}): {said.trouble}")
        if said.to_user:
            self.tell_user(hook, "info", f"A hook says ({in_words(hook)}): {said.to_user}")
        return said

    def tell_user(self, hook: Hook, level: str, text: str) -> None:
        """Tells the user something of a hook in the timeline: the same only once, and `MOST_TOLD` things of one hook at most, since it may
        run with every call."""
        told = self._told.setdefault(hook, set())
        if text not in told and len(told) < MOST_TOLD:
            told.add(text)
            shown = NoticeItem(new_id("n"), self._conversation.clock(), "warning" if level == "warning" else "info", text, "hooks")
            self._conversation.timeline.put(shown)

    def told_agent(self, hook: Hook, text: str) -> None:
        """Counts what the agent was told by a hook."""
        last = self._last.get(hook)
        if last is not None:
            self._last[hook] = replace(last, tokens=last.tokens + estimate_text(text))

    def _note(self, hook: Hook, said: HookAnswer, seconds: float) -> None:
        before = self._last.get(hook)
        how = said.trouble or (
            "it said no" if said.blocks is not None else "it wants the turn to end" if said.ends is not None else "it went well"
        )
        tokens, times = (0, 0) if before is None else (before.tokens, before.times)
        self._last[hook] = LastRun(self._conversation.clock(), seconds, how, bool(said.trouble), tokens, times + 1)


def in_words(hook: Hook) -> str:
    """A hook in a sentence for the user."""
    command = " ".join(hook.command.split())
    shown = command if len(command) <= SHOWN_COMMAND else f"{command[:SHOWN_COMMAND]} …"
    return f"{hook.event}, `{shown.replace('`', chr(39))}`"
