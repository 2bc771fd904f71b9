"""The proof of a compaction before it is used: whether what it leaves in view holds what the newest messages needed. No model is asked.

A draft that was made ahead is put to the test by the messages that came since it was planned. One that is made at once is tested by the
messages that it keeps. These messages stay in view in any case. But they show what the work needs: the paths, names and hashes in them
that stood in view before, and the text that the agent got from its tools again. Had the compaction been in force before them, it should
have held that: in its summary, in the messages that it keeps from before them, in the files that are read again.

What is missing is added at the end of the summary, each with the entry in which it stood last. A draft that lacks much has been overtaken
by the work (`lacks_much`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ullage.context.compaction.draft import with_entry
from ullage.context.compaction.needed import Fact, FactKind, KeptText, facts_in, from_tools, marks_of, written_text
from ullage.context.compaction.seen import texts_in
from ullage.context.compaction_entries import Checked, Compaction, Held
from ullage.context.entries import AssistantReply, Logged, Notice, ToolReturned, UserPrompt
from ullage.context.redact import redact
from ullage.context.summary.whole_summary import HEADING
from ullage.context.view.log_places import place_of
from ullage.context.view.projection import Projection

PROVED: tuple[FactKind, ...] = ("path", "identifier", "hash")
"""The kinds of facts that are checked. An error line is left out: it is said again where it comes up again, and the summary has the open
ones."""

MOST_MISSING = 0.5
"""Share of what was used. A draft that lacks more is made anew, or waits ..."""
FEWEST_MISSING = 16
"""... unless these are so few that adding them says as much. At 177 drafts (28 recorded sessions, a window of 100,000 tokens) 6 lacked that
much. The others held 97 % of the paths and 75 % of the names that the messages since had used, and 3 were added on average."""

_KINDS: dict[FactKind, str] = {"path": "Files", "identifier": "Names", "hash": "Hashes"}
USED = "used lately, with the entry that had it last"


@dataclass(frozen=True, slots=True)
class Proof:
    """What was checked, and the facts that are missing, each with the seq of the entry in which it stood last."""

    checked: Checked
    missing: tuple[tuple[Fact, int], ...]

    @property
    def lacks_much(self) -> bool:
        """Whether so much is missing that the work has gone on to what the draft does not hold."""
        used = sum(held.used for held in (self.checked.paths, self.checked.names, self.checked.hashes))
        return len(self.missing) >= FEWEST_MISSING and len(self.missing) > MOST_MISSING * used


def prove(view: Projection, entry: Compaction) -> Proof:
    """Checks a compaction with a summary that is to be logged next in the log of `view`: by the messages since it was planned, if the model
    has replied since, else by those that it keeps.

    That takes the longer the more is in view, so it belongs into another thread where that is much.
    """
    ahead = any(isinstance(logged.entry, AssistantReply) for logged in view.entries[place_of(view.entries, entry.through + 1) :])
    since = entry.through if ahead or entry.summarised is None else entry.summarised.last_seq
    before = [(seq, text) for seq, text in texts_in(view) if seq <= since]
    seq_of_entry = view.entries[-1].seq + 1
    after = [text for seq, text in texts_in(with_entry(view, entry)) if seq <= since or seq == seq_of_entry]
    window = _window(view, since)
    written = (written_text(logged.entry) for logged in window if isinstance(logged.entry, AssistantReply))
    used = facts_in(redact("\n".join(written)))
    stood = facts_in("\n".join(text for _, text in before))
    needed = sorted((fact for fact in used & stood if fact.kind in PROVED), key=lambda fact: (PROVED.index(fact.kind), fact.text))
    kept = KeptText("\n".join(after))
    missing = [fact for fact in needed if not kept.holds(fact)]
    known = marks_of(text for _, text in before)
    again = from_tools((logged.entry for logged in window), known.__contains__, marks_of(after))
    checked = Checked(
        *(_messages(window), ahead),
        *(_held(kind, needed, missing) for kind in PROVED),
        characters=Held(again.held, again.known),
    )
    return Proof(checked, tuple((fact, _last_seq(fact, before)) for fact in missing))


def with_proof(entry: Compaction, proof: Proof) -> Compaction:
    """The compaction with what was checked, and with its summary completed by what was missing. It must have a summary."""
    told, checked = entry.summarised, proof.checked
    if not proof.missing or told is None:
        return replace(entry, checked=checked)
    beside = "" if HEADING in told.text else f"\n\n{HEADING}"
    text = "\n".join((told.text + beside, *(line for kind in PROVED if (line := _line(kind, proof)))))
    paths, names, hashes = (Held(held.used, held.used) for held in (checked.paths, checked.names, checked.hashes))
    checked = replace(checked, paths=paths, names=names, hashes=hashes, added=len(proof.missing))
    return replace(entry, summarised=replace(told, text=text), checked=checked)


def _window(view: Projection, since: int) -> list[Logged]:
    """The entries after `since` that are in view."""
    shown = {source for message in view.messages for source in message.sources}
    return [logged for logged in view.entries[place_of(view.entries, since + 1) :] if logged.seq in shown]


def _messages(window: Sequence[Logged]) -> int:
    """The number of messages as they are sent: a reply is one, and so is all that stands between two replies."""
    messages, of_user = 0, False
    for logged in window:
        if isinstance(logged.entry, AssistantReply | ToolReturned | UserPrompt | Notice):
            was, of_user = of_user, not isinstance(logged.entry, AssistantReply)
            messages += not (of_user and was)
    return messages


def _held(kind: FactKind, needed: Sequence[Fact], missing: Sequence[Fact]) -> Held:
    used, lacking = (sum(fact.kind == kind for fact in facts) for facts in (needed, missing))
    return Held(used - lacking, used)


def _last_seq(fact: Fact, texts: Sequence[tuple[int, str]]) -> int:
    """The seq of the newest entry in whose text the fact stands; 0 if it stands in none."""
    return next((seq for seq, text in sorted(texts, key=lambda each: -each[0]) if fact.text in text and fact in facts_in(text)), 0)


def _line(kind: FactKind, proof: Proof) -> str:
    told = ", ".join(f"`{fact.text}`{f' (#{seq})' if seq else ''}" for fact, seq in proof.missing if fact.kind == kind)
    return f"- {_KINDS[kind]} {USED}: {told}" if told else ""
