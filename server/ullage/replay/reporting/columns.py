"""Text in columns, and numbers as they are shown in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

ABSENT = "-"
"""Stands where there is no figure."""


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """The lines of a table. Columns are as wide as what is in them; all but the first `left` of them are set to the right.

    A `|` breaks a heading into two lines.
    """
    heads = [[cell.partition("|")[0] for cell in head], [cell.partition("|")[2] for cell in head]]
    lines = [*([line for line in heads if any(line)]), *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(head))]
    for line in lines:
        cells = (
            cell.ljust(width) if index < left else cell.rjust(width) for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()


def number(value: float | None) -> str:
    """With commas, without a fraction."""
    return ABSENT if value is None else f"{value:,.0f}"


def percent(value: float | None, sign: str = "") -> str:
    """A share in percent, with one decimal; `sign` as in a format (`+`)."""
    return ABSENT if value is None else f"{round(value * 100, 1) + 0.0:{sign}.1f} %"


def money(dollars: float) -> str:
    """Dollars and cents; below a cent two decimals more."""
    return f"${dollars:,.2f}" if dollars >= 0.01 or not dollars else f"${dollars:.4f}"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in few words: `1-3, 5`."""
    spans: list[tuple[int, int]] = []
    for each in numbers:
        if spans and each == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], each)
        else:
            spans.append((each, each))
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
