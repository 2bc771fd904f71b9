"""Hooks as a list in words, with what was decided about each, and deciding by words: for front ends that have no page for them."""

from __future__ import annotations

from ullage.session.errors import SessionError
from ullage.session.hooks.allowed import Runs
from ullage.session.hooks.running import Hooks, HooksNow, ListedHook

NO_HOOKS = "There are no hooks. They stand in .ullage/hooks.json, .claude/settings.json and .claude/settings.local.json."
HOW = (
    "`/hooks allow NUMBER` lets one run in the sandbox, `/hooks allow NUMBER outside` with all your rights; `/hooks never NUMBER` keeps it "
    "from running, and `/hooks forget NUMBER` takes back what you said. A hook that is edited has to be allowed anew."
)
_WORDS: dict[str, Runs | None] = {"allow": "sandbox", "never": "never", "forget": None}


def hooks_in_words(now: HooksNow) -> str:
    """The list, as Markdown."""
    lines = [now.off] if now.off else []
    lines += [line for number, each in enumerate(now.listed, 1) for line in _lines(number, each)]
    lines += [f"- `{_spelt(' '.join(filter(None, (each.event, each.command, each.source))))}`: not run, {each.why}" for each in now.passed]
    if not now.listed and not now.passed:
        return "\n".join((*lines, NO_HOOKS))
    if now.no_sandbox:
        lines.append(f"No sandbox confines hooks here: {now.no_sandbox}.")
    return "\n".join((*lines, "", HOW))


def _lines(number: int, listed: ListedHook) -> list[str]:
    hook, last = listed.hook, listed.last
    when = f"{hook.event} {hook.matcher}".strip()
    shown, source = _spelt(when), _spelt(hook.source)
    lines = [f"{number}. {decided(listed.runs)}: `{shown}` in `{source}`, at most {hook.seconds:g} seconds"]
    lines += [f"   `{_spelt(line)}`" for line in hook.command.splitlines() if line.strip()]
    if last is not None:
        lines.append(
            f"   Last: {_spelt(last.how)}, in {last.seconds:.1f} seconds. Runs: {last.times:,}. Tokens for the agent: {last.tokens:,}"
        )
    return lines


def decided(runs: Runs | None) -> str:
    """What the user decided, in words for them."""
    match runs:
        case "sandbox":
            return "Runs in the sandbox"
        case "outside":
            return "Runs with all your rights"
        case "never":
            return "Never runs"
        case None:
            return "Not allowed yet"


async def decide(hooks: Hooks, words: str) -> None:
    """Carries out `allow 2`, `allow 2 outside`, `never 2` or `forget 2`. Raises `SessionError`."""
    word, _, rest = words.partition(" ")
    number, _, where = rest.strip().partition(" ")
    listed = (await hooks.listed()).listed
    is_known = word in _WORDS and number.isdecimal() and 0 < int(number) <= len(listed)
    if not is_known or where.strip() not in ("", "outside") or (where and word != "allow"):
        raise SessionError("invalid", f"There is no such hook. {HOW}")
    await hooks.decide(listed[int(number) - 1].id, "outside" if where else _WORDS[word])


def _spelt(text: str) -> str:
    """As it can stand in a line of code."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text).replace("`", "'")
