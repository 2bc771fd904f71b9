"""Whether the tests notice faults: forty places of `context/` and `session/` are spoilt, one at a time, and the tests are run.

`python -m bench.mutations [--root FOLDER] [--wide] [NAME …]` says of each which test failed first. Without `--wide` only those tests run
that are near: they mirror the module or import it. With it, all others of `WIDE` run after them where none of these fails.

Nothing is changed in place: the server and its tests are copied to a folder for temporary files, and the faults are put in there. `--root`
is another checkout to take them from (an earlier commit); what does not stand there word for word is told, and left out. A place is found
by its text, so a module may move.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("server", "tests", "bench", "docs", "pyproject.toml", "package.json")
LINKED = (
    "client-extension",
    "sample-workspace",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "PROTOCOL.md",
    "README.md",
    "CHANGELOG.md",
    "scripts",
)
WIDE = ("tests/unit/session", "tests/unit/context", "tests/unit/test_promises.py", "tests/unit/replay")
TOOLS = Path(".dev", "tools")
"""What set-up has fetched, such as the servers that some tests start."""
MOST_SECONDS = 120
"""Of a test: a fault may make it wait for ever. The longest takes 30 on a quiet machine."""
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault: `now`, which stands once in the server, becomes `then`. `hurts` says what a user would see of it."""

    name: str
    now: str
    then: str
    hurts: str


MUTATIONS = (
    # Whether to compact
    Mutation(
        "held without must",
        'return Compact("threshold", following.why, must=held)',
        'return Compact("threshold", following.why)',
        "a policy that finds nothing to do leaves the window full",
    ),
    Mutation(
        "tried and still full",
        'return _held(state, more) if held else Wait("it was tried")',
        'return Wait("it was tried")',
        "a call is made over the window",
    ),
    Mutation(
        "prompt not counted",
        "return self.full.counted.used + more >= self.full.hold",
        "return self.full.counted.used >= self.full.hold",
        "a long prompt is sent over the window",
    ),
    Mutation(
        "undone at once again",
        "full.used + undone if undone else 0, full.used + lacking",
        "0, full.used + lacking",
        "what the user undid is compacted again with the next prompt",
    ),
    Mutation(
        "saves after an undo",
        " and state.rests <= 0 and state.grown_since_undo is None",
        " and state.rests <= 0",
        "what the user undid is compacted again to save",
    ),
    Mutation(
        "pause not postponed",
        'if saving is None or saving.postponed != "none":\n        return Wait("nothing is to be saved")',
        'if saving is None:\n        return Wait("nothing is to be saved")',
        "it compacts in a pause although the user said not now",
    ),
    Mutation(
        "spend guard never forgets",
        "while self._calls[0] < now - WITHIN_SECONDS:",
        "while False:",
        "after 24 summaries in a session no model is asked for half an hour",
    ),
    Mutation(
        "fork carries on",
        "beyond, last_at = 0, max(last_at, logged.entry.used_at) if last_at else 0.0",
        "last_at = max(last_at, logged.entry.used_at) if last_at else 0.0",
        "a fork is compacted for what another session carried",
    ),
    # Legal cuts and plans
    Mutation(
        "unanswered goes",
        '    return cut < len(messages) or not messages or messages[-1].role == "assistant"',
        "    return True",
        "the prompt that waits for its answer is summarised away",
    ),
    Mutation(
        "pins in a summary",
        "carried = tuple(sorted({*plan.carried, *_within(pinned, plan.summarise_from, plan.summarise_to)}))",
        "carried = plan.carried",
        "what is pinned goes with the summary",
    ),
    Mutation(
        "pins bring excluded back",
        "    pinned = pinned.difference(*(messages_taken_out(each) for each in projection.active))\n",
        "",
        "an excluded message comes back because its neighbour is pinned",
    ),
    Mutation(
        "reactive tail too long",
        "_with_summary(view, cleared, fitting or later[-1:], options.summary)",
        "_with_summary(view, cleared, later, options.summary)",
        "after a refusal as much stays as was refused",
    ),
    Mutation(
        "clipped read spares",
        "whole = (result for result in shown if _whole_output(entries, result) is None)",
        "whole = (result for result in shown)",
        "the only whole text of a file is cleared, its clip stays",
    ),
    Mutation(
        "clip goes alone",
        "elif isinstance(entry, Clipped) and entry.seq in results:\n            batch.append(seq)",
        "elif isinstance(entry, Clipped) and entry.seq in results:\n            pass",
        "a pinned result comes back in a length that overflows",
    ),
    # Exclusion and redaction
    Mutation(
        "printed files stay",
        "any(named(each) == path for each in (*paths, *files_printed(call.input)))",
        "any(named(each) == path for each in paths)",
        "an excluded file stays where a command printed it",
    ),
    Mutation(
        "model quotes stay",
        '{quotations.taken_from(part)}{ended}{rest}"',
        '{part}{ended}{rest}"',
        "what a model quoted of an excluded message stays in its summary",
    ),
    Mutation(
        "marker quotes stay",
        'marker = quotations.taken_from(made.snipped.marker) if made.snipped is not None else ""',
        'marker = made.snipped.marker if made.snipped is not None else ""',
        "an excluded message is quoted by the marker of a snip",
    ),
    Mutation(
        "one run of secrets",
        "start = runs.find(LONG_RUN, end)",
        "start = -1",
        "the second key in a text is not redacted",
    ),
    Mutation(
        "drifting places",
        "if len(lowered) != len(text):",
        "if False:",
        "after a letter like İ a password is not found where it stands",
    ),
    # Undo and what is in view
    Mutation(
        "stale fold",
        "return None if known is None or not _show_alike(known[2], active) else",
        "return None if known is None else",
        "undo and redo show a summary as it read before an exclusion",
    ),
    Mutation(
        "turn began meanwhile",
        '                self._pick(self._conversation.projection.active, undone.id, "undo")  # a turn may have begun meanwhile\n',
        "",
        "an undo changes the conversation under a running turn",
    ),
    Mutation(
        "fitted for an undo",
        "and not for_an_undo and not gone_by(made)",
        "and not gone_by(made)",
        "an undo that had to be fitted is compacted again at once",
    ),
    Mutation(
        "redo leaves pins",
        "            self._unpin(redone)\n",
        "",
        "what a redone exclusion takes out still counts as pinned",
    ),
    # Files
    Mutation(
        "overwrites the user",
        'conflict = "" if version == file.known else CHANGED_SINCE',
        'conflict = ""',
        "going back overwrites what the user wrote since",
    ),
    Mutation(
        "nothing kept before",
        "        versions.keep_packed([pack(each.now.data) for each in chosen if each.now is not None], named=True)\n",
        "",
        "what going back overwrote cannot be had again",
    ),
    Mutation(
        "refused file read again",
        "            if self._read_rules().refusing(resolved, path) is not None:\n                return None\n",
        "",
        "a compaction shows the model a file that it may not read",
    ),
    Mutation(
        "stopped call forgotten",
        "if changes.files or changes.uncovered:\n                self._conversation.append_or_owe(",
        "if changes.uncovered:\n                self._conversation.append_or_owe(",
        "what a stopped command changed cannot be undone",
    ),
    Mutation(
        "user's lines taken back",
        "if not hunk.edited and (ids is None or hunk.id in ids)]\n        back",
        "if ids is None or hunk.id in ids]\n        back",
        "Undo takes lines back that the user wrote into a hunk",
    ),
    # Approvals, modes, queue
    Mutation(
        "other call allowed",
        "            if now == need:\n                return now\n",
        "            return now\n",
        "the call that runs is not the one that was allowed",
    ),
    Mutation(
        "rule made while asked",
        "        if refused is not None:  # the rule was made while they were asked\n"
        "            return await _refused(refused, approvals)\n",
        "",
        "a call runs that a rule refuses by now",
    ),
    Mutation(
        "script changed",
        "return self.digest(rule.pattern)",
        'return ""',
        "a script that was always allowed runs though it was exchanged",
    ),
    Mutation(
        "mode not told again",
        '        elif isinstance(entry, Compaction) and entry.trigger != "upkeep":\n            self._told = None\n',
        "",
        "after a compaction the model does not know that it is in Plan mode",
    ),
    Mutation(
        "begun prompt taken back",
        "        if prompt_id == self._next:\n"
        '            raise SessionError("no_such_item", "This prompt is being answered already. You can stop it")\n',
        "",
        "a prompt that is being answered is taken out of the queue",
    ),
    Mutation(
        "queue after a failure",
        "while went_well and self._queue:",
        "while self._queue:",
        "the next prompt is sent after a turn that failed",
    ),
    # Drafts, reactive compaction, accounting
    Mutation(
        "pinned while written",
        "if not draft.spares(self._means.view):  # something was pinned while the summary was written",
        "if False:",
        "what is pinned while a summary is written goes with it",
    ),
    Mutation(
        "reactive by an old draft",
        'if wanted.trigger == "reactive" or wanted.focus or wanted.by_program:\n            return None',
        "if wanted.focus or wanted.by_program:\n            return None",
        "after a refusal a draft that leaves too much is taken",
    ),
    Mutation(
        "does not shrink",
        "while (entry.restored or entry.nearby) and after >= entry.tokens_before:",
        "while False:",
        "files read again make a compaction larger than what it took",
    ),
    Mutation(
        "images not counted",
        "return calibration.of_new(text) + sum(shown_tokens(block, calibration.images) for block in prompt_blocks(prompt))",
        "return calibration.of_new(text)",
        "a prompt with pictures is sent over the window",
    ),
    Mutation(
        "growth over compactions",
        "            start = latest = None\n        elif latest",
        "            pass\n        elif latest",
        "the warning that a turn will fill the context comes at the wrong time",
    ),
    Mutation(
        "undone steps of the user",
        "elif by_agent and file.before == known.agents and not known.steps:",
        "elif by_agent and not known.steps:",
        "Undo takes back what the user wrote between two calls",
    ),
)


def main(words: Sequence[str]) -> int:
    """Gives the exit code: 1 where a fault was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutations", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(words)
    wanted = [each for each in MUTATIONS if not asked.names or each.name in asked.names]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="ullage-mutations-") as folder:
        copy = _copied(asked.root.resolve(), Path(folder))
        for each in wanted:
            since = time.monotonic()
            found = _tried(each, copy, wide=asked.wide)
            is_unfair = bool(found) and _first_failure([found], copy) != ""
            survived += found == "" or is_unfair
            outcome = "is not there" if found is None else f"caught by {found}" if found else "SURVIVED"
            if is_unfair:
                outcome = f"NOT KNOWN: {found} fails without it as well"
            print(f"{each.name:26} {outcome} ({time.monotonic() - since:.0f} s)", flush=True)  # noqa: T201 - what it is for
    return 1 if survived else 0


def _copied(root: Path, to: Path) -> Path:
    for name in COPIED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__", "artifacts"))
        else:
            shutil.copy(source, to / name)
    for name in LINKED:
        (to / name).symlink_to(root / name)
    if (root / TOOLS).is_dir():
        (to / TOOLS).parent.mkdir()
        (to / TOOLS).symlink_to(root / TOOLS)
    return to


def _tried(mutation: Mutation, copy: Path, *, wide: bool) -> str | None:
    """The test that failed first; empty where none did, None where the place is not there."""
    server = copy / "server" / "ullage"
    places = [file for file in server.rglob("*.py") if mutation.now in file.read_text()]
    text = places[0].read_text() if len(places) == 1 else ""
    if text.count(mutation.now) != 1:
        return None
    module = places[0]
    module.write_text(text.replace(mutation.now, mutation.then))
    try:
        near = list(_near(module.relative_to(server), copy))
        found = _first_failure([str(file.relative_to(copy)) for file in near], copy)
        if not found and wide:
            rest = [file for place in WIDE for file in _tests(copy / place) if file not in near]
            found = _first_failure([str(file.relative_to(copy)) for file in rest], copy)
    finally:
        module.write_text(text)
    return found


def _tests(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("test_*.py"))


def _near(path: Path, copy: Path) -> Iterator[Path]:
    """The test files that mirror a module or import it; those that mirror it first."""
    module = ".".join(("ullage", *path.with_suffix("").parts))
    mirrored = [file for file in _tests(copy / "tests" / "unit" / path.parent) if file.stem.startswith(f"test_{path.stem}")]
    yield from mirrored
    for file in _tests(copy / "tests"):
        if file not in mirrored and module in file.read_text():
            yield file


def _first_failure(names: Sequence[str], copy: Path) -> str:
    if not names:
        return ""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"--timeout={MOST_SECONDS}", *names],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "server"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode == 0:
        return ""
    found = FAILED.search(ran.stdout)
    return found.group(1) if found else f"pytest itself (exit code {ran.returncode}): {ran.stdout[-500:]}{ran.stderr[-500:]}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
