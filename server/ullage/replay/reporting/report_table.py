"""All of the report as text: the answer, a few tables, each with what its columns mean, then what is missing and what was mended.

What a terminal shows of it at first is `report_short.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from ullage.recorded.readers.values import printable
from ullage.recorded.retention import HitShare
from ullage.recorded.transcript import Source
from ullage.replay.measuring.comparison import choose, compared
from ullage.replay.measuring.figures import Figures, MeasuredSession, Report, as_recorded, together
from ullage.replay.measuring.projects import by_project
from ullage.replay.reporting import wording
from ullage.replay.reporting.answer import in_words
from ullage.replay.reporting.policies_table import cautions, cost_lines, fate_lines, kept_lines, left_out_lines, listed, project_lines
from ullage.replay.reporting.wording import ABSENT, columns, incomplete, missing, money, number, percent, ranges

WIDTH = 118
"""Characters to which explanations are wrapped; tables are as wide as they need to be."""

_ALL = "all"

PROGRAMS: dict[Source, str] = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "ullage": "Ullage",
    "opencode": "OpenCode",
    "gemini-cli": "Gemini CLI",
    "cline": "Cline",
    "pi": "pi",
}


def as_table(report: Report) -> str:
    """The whole report as text."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    rows = [(str(index), row.figures) for index, row in enumerate(report.rows, 1)]
    if len(rows) > 1:
        rows.append((_ALL, together(figures for _, figures in rows)))
    if report.policies:
        comparison = compared(report.runs)
        told = in_words(comparison, choose(comparison), as_recorded(report.rows, comparison.sessions))
        yield from section("The answer", (), *told)
    yield from section("Sessions", _sessions(report.rows), wording.SESSIONS)
    yield from section("Tokens and cost", _tokens(rows), wording.cost(report.as_model), wording.TOKENS, wording.SUMMARIES)
    yield from section("Context and cache", _context(rows), wording.CONTEXT)
    if any(figures.compactions for _, figures in rows):
        yield from section("Needed after compactions", _needed(rows), wording.NEEDED, wording.KINDS)
    if report.policies:
        yield from _policies(report)
    yield from _projects(report)
    yield from items(f"Figures that are missing ({ABSENT}), or partial or estimated (*)", shortfalls(rows))
    yield from items("What was mended or could not be read", notes(report.rows))


def _policies(report: Report) -> Iterator[str]:
    comparison = compared(report.runs)
    standings = [*comparison.standings, *([comparison.optimum] if comparison.optimum is not None else [])]
    yield from section(
        "Policies: what they would have cost",
        cost_lines(standings),
        wording.policies(report.places),
        wording.POLICY_COST,
        *([wording.OPTIMUM] if comparison.optimum is not None else []),
    )
    if comparison.standings:
        yield from section(
            "Policies: what was needed after their compactions and was in view",
            kept_lines(comparison.standings),
            wording.stand_ins(report.places, report.summaries),
            wording.POLICY_KEPT,
        )
        yield from section("Policies: what became of it", fate_lines(comparison.standings), wording.POLICY_FATES)
    yield from items("Policies of which what is shown as kept says little", cautions(comparison.standings))
    yield from items("What went wrong under policies", listed(standings, comparison))


def _projects(report: Report) -> Iterator[str]:
    by = by_project(report.rows, compared(report.runs))
    if (report.policies or len(by.projects) > 1) and any(each.compactions for each in by.together):
        yield from section("By project", project_lines(by), wording.PROJECTS)
    yield from items(wording.LEFT_OUT, left_out_lines(by))


def section(title: str, table: Iterable[str], *told: str) -> Iterator[str]:
    """A table under its title, and below it what is to be said of it."""
    yield title
    yield from table
    for explanation in told:
        yield from wrapped(explanation, indent="  ")
    yield ""


def items(title: str, told: Iterable[str]) -> Iterator[str]:
    """The lines of `told` one after the other under a title, where there are any; the title may be empty."""
    lines = [line for item in told for line in wrap(item, WIDTH, initial_indent="  ", subsequent_indent="    ")]
    if lines:
        yield from (*((title,) if title else ()), *lines, "")


def wrapped(text: str, indent: str = "") -> Iterator[str]:
    """The text in lines of at most `WIDTH` characters."""
    yield from wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _sessions(rows: Iterable[MeasuredSession]) -> Iterator[str]:
    cells = [
        [str(index), row.session_id, PROGRAMS[row.source], ", ".join(map(printable, row.models)) or ABSENT, printable(row.path.name)]
        for index, row in enumerate(rows, 1)
    ]
    return columns(["#", "session", "program", "models", "file"], cells, left=5)


def _tokens(rows: Iterable[tuple[str, Figures]]) -> Iterator[str]:
    head = [
        "#",
        "requests",
        "full|price",
        "written|5 min",
        "written|1 hour",
        "read",
        "output",
        "from|cache",
        "cost",
        "summaries|cached",
        "summaries|uncached",
    ]
    return columns(
        head, [[name, number(figures.calls.made), *_token_cells(figures), *_cost_cells(figures)] for name, figures in rows], left=1
    )


def _token_cells(figures: Figures) -> list[str]:
    if "tokens" in missing(figures):
        return [ABSENT] * 6
    tokens, parts = figures.tokens, incomplete(figures)
    sent = (tokens.input_tokens, tokens.cache_write_5m_tokens, tokens.cache_write_1h_tokens, tokens.cache_read_tokens)
    mark = "*" if "tokens" in parts else ""
    output_mark = "*" if "output" in parts else ""
    return [*(number(each) + mark for each in sent), number(tokens.output_tokens) + output_mark, percent(figures.share_from_cache)]


def _cost_cells(figures: Figures) -> list[str]:
    without, parts = missing(figures), incomplete(figures)
    if "summaries" in without:
        return [cost_of(figures), ABSENT, ABSENT]
    mark = "*" if "summaries" in parts else ""
    return [cost_of(figures), *(money(each.total) + mark for each in (figures.summaries_warm, figures.summaries_cold))]


def cost_of(figures: Figures) -> str:
    """The dollars of figures as they stand in a column: with `*` if they are partial, `-` if they are not known."""
    if "dollars" in missing(figures):
        return ABSENT
    return money(figures.dollars.total) + ("*" if "dollars" in incomplete(figures) else "")


def _context(rows: Iterable[tuple[str, Figures]]) -> Iterator[str]:
    head = ["#", "context|mean", "context|largest", "compactions", "read from|cache", "predicted", "off by"]
    return columns(head, [[name, *_context_cells(figures)] for name, figures in rows], left=1)


def _context_cells(figures: Figures) -> list[str]:
    without, reads = missing(figures), figures.cache_reads
    largest = None if "tokens" in without else figures.largest_context
    contexts = [number(figures.mean_context), number(largest), number(figures.compactions)]
    if "predicted cache reads" in without:
        return [*contexts, ABSENT, ABSENT, ABSENT]
    mark = "*" if "predicted cache reads" in incomplete(figures) else ""
    off = reads.predicted / reads.recorded - 1 if reads.recorded else None
    return [*contexts, number(reads.recorded) + mark, number(reads.predicted) + mark, percent(off, "+")]


def _needed(rows: Iterable[tuple[str, Figures]]) -> Iterator[str]:
    head = ["#", "compactions", "paths", "names", "hashes", "errors", "user's|messages", "names by|file", "read|again"]
    return columns(head, [[name, *_needed_cells(figures)] for name, figures in rows if figures.compactions], left=1)


def _needed_cells(figures: Figures) -> list[str]:
    kept = figures.kept
    if "needed later" in missing(figures):
        shares = [ABSENT] * (len(kept.kinds) + 1)
    else:
        mark = "*" if "needed later" in incomplete(figures) else ""
        shares = [_share(each.kept, mark) for each in kept.kinds.values()] + [_share(kept.names_beside_their_file, mark)]
    return [number(figures.compactions), *shares, number(kept.files_read_again)]


def _share(share: HitShare, mark: str) -> str:
    return f"{share.hits}/{share.of}{mark}"


def shortfalls(rows: Iterable[tuple[str, Figures]]) -> Iterator[str]:
    """The reasons why figures are missing or partial: each once, with the figures that it is the reason for and the numbers of the
    sessions."""
    named: dict[str, list[int]] = {}
    for name, figures in rows:
        if name == _ALL:
            continue
        told: dict[str, list[str]] = {}
        for figure, why in (missing(figures) | incomplete(figures)).items():
            told.setdefault(why, []).append(figure)
        for why, of_figures in told.items():
            named.setdefault(f"{', '.join(of_figures)}: {why}", []).append(int(name))
    yield from (f"{ranges(numbers)}: {text}" for text, numbers in named.items())


_FIRST_AT = re.compile(r" \(the first at line ([\d,]+)\)\Z")
_MOST_LINES = 3
"""How many sessions are named with the line at most."""


def notes(rows: Iterable[MeasuredSession]) -> Iterator[str]:
    """The notes on sessions: each kind of repair once, with how often there was one in all, and where the first is; then what else was
    noted."""
    counts: dict[tuple[str, str], int] = {}
    places: dict[tuple[str, str], list[int]] = {}
    lines: dict[tuple[str, str], list[str]] = {}
    for index, row in enumerate(rows, 1):
        mended = {f"{repair.count} {repair.what}: ": repair for repair in row.repairs}
        for note in row.notes:
            start = next((start for start in mended if note.startswith(start)), "")
            told = _FIRST_AT.sub("", note)
            what = (mended[start].what, told.removeprefix(start)) if start else ("", told)
            counts[what] = counts.get(what, 0) + (mended[start].count if start else 0)
            places.setdefault(what, []).append(index)
            lines.setdefault(what, []).extend(f"{index} at line {found}" for found in _FIRST_AT.findall(note))
    for what, follows in sorted(places, key=lambda each: not each[0]):
        told = f"{counts[what, follows]:,} {what}: {follows}" if what else follows
        yield f"{ranges(places[what, follows])}: {told}{_where(lines[what, follows])}"


def _where(lines: Sequence[str]) -> str:
    """The words that name the line of the first repair in each session; empty if no line is told."""
    more = f", and in {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
    return f" (the first of {', of '.join(lines[:_MOST_LINES])}{more})" if lines else ""
