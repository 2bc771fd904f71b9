"""Generated coding sessions, for machines without recorded ones: the same seed gives the same session, of any length.

A session is a sequence of turns on a made-up project: a request, some calls with their results (search, read, edit, run), a closing word.
What is read early is edited later, so that a compaction has something to lose. Most results have some hundred characters, some
have thousands; a message has about 1,000 on the average. How a session becomes entries of Ullage's log: `entries.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
"""A message as the Messages API names its parts, with `at` (seconds since the session began); a reply carries `usage` too."""

CHARACTERS_PER_TOKEN = 3.5
"""For the `usage` that is written down: a guess at what a model would report."""

STEP_SECONDS = (2.0, 40.0)
"""A call with its result."""
PAUSE_SECONDS = (20.0, 600.0)
"""Before the user says the next thing."""
CACHE_SECONDS = 300.0
"""Without a request for longer, the prompt cache has forgotten the session: the next one writes all of it anew."""

FILES = 60
PARALLEL_CALLS = 0.1
"""Share of replies that call two tools at once."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_PARTS = _words(
    "cache queue index parser token buffer session cursor ledger router widget packet schema batch stream worker lease shard mirror budget"
)
_VERBS = _words("load store merge split drain close open count parse render verify resolve flush sample rotate seal")
_WISHES = (
    "Make {name} in {path} return early where there is nothing to do.",
    "The tests of {path} fail since this morning. Find out why and fix it, please.",
    "Rename {name} so that it says what it does, everywhere.",
    "{path} has become hard to read: take {name} apart, and do not change what it does.",
    "Add a test for {name}. Never touch the fixtures in tests/data.",
    "Why does {name} take so long on large inputs? Measure first, then change {path}.",
)
_PROSE = _words(
    "the value is checked before it is stored and an empty one is left alone since the caller may hold a lease on it until the next flush"
)


@dataclass(slots=True)
class _File:
    path: str
    names: list[str]
    lines: list[str] = field(default_factory=list[str])


class Generated:
    """An endless session. `messages()` goes on where the last call of it stopped."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)  # noqa: S311 - nothing secret comes of it
        self._commits: list[str] = []
        self._calls = 0
        self._clock = 0.0
        self._asked = 0.0
        self._context = 0
        self._written = 0
        self._files = [self._file(number) for number in range(FILES)]

    def messages(self) -> Iterator[Message]:
        """User and assistant in turn, the user first; each call's result stands in the next message."""
        while True:
            yield from self._turn()

    def _turn(self) -> Iterator[Message]:
        random = self._random
        subjects = random.sample(self._files, 3)
        wish = random.choice(_WISHES).format(name=random.choice(subjects[0].names), path=subjects[0].path)
        yield self._said({"role": "user", "content": [{"type": "text", "text": f"{wish} {self._prose(random.randint(3, 40))}"}]})
        for _ in range(random.randint(3, 14)):
            count = 2 if random.random() < PARALLEL_CALLS else 1
            made = [self._call(random.choice(subjects)) for _ in range(count)]
            text = [{"type": "text", "text": self._prose(random.randint(6, 30))}] if random.random() < 0.6 else []
            yield self._replied([*text, *(call for call, _ in made)], "tool_use")
            yield self._said({"role": "user", "content": [result for _, result in made]})
        closing = f"Done: `{random.choice(subjects[0].names)}` in {subjects[0].path}. {self._prose(random.randint(10, 80))}"
        yield self._replied([{"type": "text", "text": closing}], "end_turn")

    def _call(self, file: _File) -> tuple[Message, Message]:
        random = self._random
        kind = random.choices(("read_file", "edit_file", "bash", "search"), (4, 3, 4, 2))[0]
        name = random.choice(file.names)
        failed = False
        if kind == "read_file":
            input, output = {"path": file.path}, self._numbered(file)
        elif kind == "edit_file":
            at = random.randrange(len(file.lines))
            old, new = file.lines[at], self._code(name)
            file.lines[at] = new
            input, output = {"path": file.path, "old_text": old, "new_text": new}, f"Edited {file.path}."
        elif kind == "bash":
            failed = random.random() < 0.25
            input, output = self._command(file, name, failed=failed)
        else:
            found = random.sample(self._files, random.randint(1, 12))
            hits = (f"{each.path}:{random.randint(1, 400)}: {random.choice(each.lines)}" for each in found)
            input, output = {"pattern": name}, "\n".join(hits)
        self._calls += 1
        id = f"toolu_{self._calls:08d}"
        result: Message = {"type": "tool_result", "tool_use_id": id, "content": output}
        if failed:
            result["is_error"] = True
        return {"type": "tool_use", "id": id, "name": kind, "input": input}, result

    def _command(self, file: _File, name: str, *, failed: bool) -> tuple[dict[str, Any], str]:
        random = self._random
        if self._commits and random.random() < 0.1:
            return {"command": f"git show --stat {random.choice(self._commits[-8:])}"}, f" {file.path} | {random.randint(1, 90)} +++--"
        if random.random() < 0.2:
            digest = f"{random.getrandbits(160):040x}"
            self._commits.append(digest)
            return {"command": f"git commit -qam 'Change {name}' && git rev-parse HEAD"}, digest
        cases = [f"{file.path}::test_{random.choice(file.names)} PASSED" for _ in range(random.choice((3, 5, 8, 20, 120)))]
        if failed:
            cases.append(f"E   AssertionError: {name} gave {random.randint(0, 999)}, not {random.randint(0, 999)}")
        return {"command": f"pytest -q tests/test_{file.path.split('/')[-1]}"}, "\n".join(cases)

    def _file(self, number: int) -> _File:
        random = self._random
        names = [f"{random.choice(_VERBS)}_{random.choice(_PARTS)}_{random.choice(_PARTS)}" for _ in range(8)]
        file = _File(f"src/{random.choice(_PARTS)}/{random.choice(_PARTS)}_{number}.py", names)
        file.lines = [self._code(random.choice(names)) for _ in range(random.choice((12, 25, 40, 80, 160)))]
        return file

    def _code(self, name: str) -> str:
        random = self._random
        return f"    {random.choice(_PARTS)} = {name}({random.choice(_PARTS)}, limit={random.randint(1, 9_999)})  # {self._prose(5)}"

    def _numbered(self, file: _File) -> str:
        start = self._random.randrange(len(file.lines)) if len(file.lines) > 60 else 0
        return "\n".join(f"{number:>5}  {line}" for number, line in enumerate(file.lines[start : start + 60], start + 1))

    def _prose(self, words: int) -> str:
        start = self._random.randrange(len(_PROSE))
        return " ".join((_PROSE * (words // len(_PROSE) + 2))[start : start + words])

    def _said(self, message: Message) -> Message:
        self._clock += self._random.uniform(*(STEP_SECONDS if message["content"][0]["type"] == "tool_result" else PAUSE_SECONDS))
        self._written += _tokens(message)
        return {**message, "at": self._clock}

    def _replied(self, content: list[Message], stop_reason: str) -> Message:
        message: Message = {"role": "assistant", "content": content, "stop_reason": stop_reason, "at": self._clock}
        output, total = _tokens(message), self._context + self._written
        read = self._context if self._clock - self._asked <= CACHE_SECONDS else 0
        usage = {"input_tokens": 0, "cache_read_input_tokens": read, "cache_creation_input_tokens": total - read}
        self._asked, self._context, self._written = self._clock, total, output
        return {**message, "usage": {**usage, "output_tokens": output}}


def generated(messages: int, seed: int = 1) -> list[Message]:
    """A session of exactly so many messages."""
    return list(islice(Generated(seed).messages(), messages))


def _tokens(message: Message) -> int:
    return int(len(json.dumps(message)) / CHARACTERS_PER_TOKEN)


if __name__ == "__main__":
    for each in islice(Generated(int(sys.argv[2]) if len(sys.argv) > 2 else 1).messages(), int(sys.argv[1])):
        sys.stdout.write(json.dumps(each, ensure_ascii=False) + "\n")
