"""Which changes of the agent are open: a fold over the entries that tell of changed files and of what the user decided about them.

The fold goes by the versions alone, so a long log costs nothing. Only where the user edited between two calls of the agent are texts needed
to tell whose a line is: such steps are kept, and `settled` looks at the texts. Open hunks stand in `hunks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ullage.context.change_entries import ChangedFile, FileVersion, Reviewed, ReviewedTogether, Uncovered
from ullage.context.changes.hunks import carried
from ullage.context.entries import Logged, UserPrompt, files_changed, reviewed


@dataclass(frozen=True, slots=True)
class CarriedText:
    """A baseline that is no stored version: one that the user accepted, with what they changed since."""

    text: str


Baseline: TypeAlias = FileVersion | CarriedText | None
"""What the user has accepted of a file. None: there was no file."""


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """A change that did not begin with the agent's last version, or one that the user made."""

    before: FileVersion | None
    after: FileVersion | None
    by_agent: bool


@dataclass(frozen=True, slots=True)
class OpenChange:
    """A file with open changes of the agent: from the baseline to the agent's version, and on from there by the steps."""

    path: str
    baseline: FileVersion | None
    agents: FileVersion | None
    steps: tuple[ReviewStep, ...] = ()
    shared: bool = False
    """Whether some of it may be the change of another command, which ran at the same time."""


@dataclass(frozen=True, slots=True)
class SettledChange:
    """An open change after all of its steps (`settled`): the baseline, and the agent's version. None: there was no file."""

    baseline: Baseline
    agents: FileVersion | None

    @property
    def is_closed(self) -> bool:
        """Whether none of the agent's changes is open any more."""
        return self.baseline == self.agents


@dataclass(slots=True)
class TurnChanges:
    """What the calls of one turn changed. `files` has by path what was there before the first of them and after the last; `at` is Unix
    seconds."""

    turn_id: str
    title: str
    at: float
    files: dict[str, ChangedFile] = field(default_factory=dict[str, ChangedFile])
    uncovered: dict[str, Uncovered] = field(default_factory=dict[str, Uncovered])


TextOf: TypeAlias = Callable[[FileVersion], str | None]
"""Gives the text of a version; None if it is no text, or is no longer there."""


class Review:
    """The fold of one session. `open` has the files with open changes by path, in the order in which they were first changed."""

    def __init__(self) -> None:
        self.open: dict[str, OpenChange] = {}
        self.turns: dict[str, TurnChanges] = {}
        self._turns_of: dict[str, dict[str, None]] = {}
        """The ids of the turns that have open changes of a file, by its path."""
        self._gone_back: dict[str, OpenChange] = {}
        """Changes that were open before the user went back to where they began, by path: they are open again if the user goes forward."""
        self._turns_gone_back: dict[str, dict[str, None]] = {}
        """The ids of the turns that the user went back over, by path."""
        self._prompt: tuple[UserPrompt, float] | None = None

    def add(self, logged: Logged) -> bool:
        """Takes in an entry; tells whether it changes anything here."""
        entry = logged.entry
        if isinstance(entry, UserPrompt):
            if not entry.steering or self._prompt is None:
                self._prompt = entry, logged.at
            return False
        if isinstance(entry, Reviewed | ReviewedTogether):
            for each in reviewed(entry):
                known = self.open.get(each.path)
                self._put(OpenChange(each.path, each.baseline, each.agents, shared=known is not None and known.shared))
                self._turns_of.get(each.path, {}).pop(each.turn_id, None)
            return True
        changed = files_changed(entry)
        if changed is None:
            return False
        by_agent = changed.tool_use_id is not None
        for each in changed.files:
            if changed.gone_back_to:
                self._went_back(each, changed.gone_back_to)
            else:
                self._gone_back.pop(each.path, None)
                self._changed(each, by_agent=by_agent)
        if by_agent and self._prompt is not None:
            self._in_turn(changed.files, changed.uncovered, *self._prompt)
        return True

    def open_turns(self, path: str) -> Iterable[str]:
        """The ids of the turns of which changes in that file are open."""
        return self._turns_of.get(path, ())

    def _close(self, path: str) -> None:
        self.open.pop(path, None)
        self._turns_of.pop(path, None)

    def _put(self, change: OpenChange) -> None:
        if not change.steps and change.baseline == change.agents:
            self._close(change.path)
        else:
            self.open[change.path] = change

    def _changed(self, file: ChangedFile, *, by_agent: bool) -> None:
        known = self.open.get(file.path)
        if known is None:
            if by_agent:
                self._put(OpenChange(file.path, file.before, file.after, shared=file.shared))
        elif not by_agent and file.after == known.baseline and not known.steps:
            self._close(file.path)
        elif by_agent and file.before == known.agents and not known.steps:
            self._put(replace(known, agents=file.after, shared=known.shared or file.shared))
        else:
            steps = (*known.steps, ReviewStep(file.before, file.after, by_agent))
            self._put(replace(known, steps=steps, shared=known.shared or file.shared))

    def _went_back(self, file: ChangedFile, checkpoint_id: str) -> None:
        """Takes in that the user went back, or forward again: the agent's version moves with them. What was kept meanwhile no longer counts
        as the agent's."""
        known, turns = self.open.get(file.path), self._turns_of.get(file.path, {})
        if known is not None:
            self._changed(file, by_agent=True)
            if file.path not in self.open:
                self._gone_back[file.path] = known
        elif file.path in self._gone_back:
            self._put(replace(self._gone_back.pop(file.path), agents=file.after, steps=()))
        if checkpoint_id in self.turns:
            order = list(self.turns)
            gone = dict.fromkeys(each for each in turns if order.index(each) >= order.index(checkpoint_id))
            self._turns_gone_back.setdefault(file.path, {}).update(gone)
            self._leave_open(file.path, {each: None for each in turns if each not in gone})
        else:
            self._leave_open(file.path, turns | self._turns_gone_back.pop(file.path, {}))

    def _leave_open(self, path: str, turns: dict[str, None]) -> None:
        if path in self.open:
            self._turns_of[path] = turns

    def _in_turn(self, files: Sequence[ChangedFile], uncovered: Sequence[Uncovered], prompt: UserPrompt, at: float) -> None:
        turn = self.turns.setdefault(prompt.id, TurnChanges(prompt.id, prompt.text, at))
        for each in files:
            first = turn.files.get(each.path, each)
            turn.files[each.path] = ChangedFile(each.path, first.before, each.after, first.shared or each.shared)
            if each.path in self.open:
                self._turns_of.setdefault(each.path, {})[prompt.id] = None
        turn.uncovered |= {each.path: each for each in uncovered}


def settled(change: OpenChange, text_of: TextOf) -> SettledChange:
    """The change after all of its steps. Where a text is missing, the baseline is what the user had before the agent's newest change."""
    now = SettledChange(change.baseline, change.agents)
    for step in change.steps:
        then = step.before if step.by_agent else step.after
        baseline = now.baseline if then == now.agents else _carried(now, then, text_of)
        if now.is_closed and step.by_agent:
            baseline = step.before
        now = SettledChange(baseline, step.after)
    return now


def _carried(before: SettledChange, then: FileVersion | None, text_of: TextOf) -> Baseline:
    """The baseline, with what the user changed between the agent's version and `then`. It is `then` itself where a text is missing."""
    if then is None or then == before.baseline:
        return then
    texts = [_text(each, text_of) for each in (before.baseline, before.agents, then)]
    baseline, agents, now = texts
    if baseline is None or agents is None or now is None:
        return then
    text = carried(baseline, agents, now)
    if text == now:
        return then
    if text == baseline:
        return before.baseline
    return CarriedText(text)


def _text(version: Baseline, text_of: TextOf) -> str | None:
    if version is None:
        return ""
    return version.text if isinstance(version, CarriedText) else text_of(version)
