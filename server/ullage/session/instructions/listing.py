"""All rules, skills and commands as a list for the user: what each takes of every request, and whether it is in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ullage.context.counting.tokens import estimate_text
from ullage.session.instructions.in_force import ListedRules
from ullage.session.instructions.prompt_files import PromptFile, in_the_list, is_built_in

InstructionsKind: TypeAlias = Literal["rules", "skill", "command"]

TAKEN = "Ullage has a command of the same name"
IN_FORCE = "in force"
NOT_IN_FORCE = "not in force"


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """One file with rules, a skill or a command, as the list has it."""

    kind: InstructionsKind
    shown: str
    """The path of the file, as the user knows it."""
    name: str
    """The name by which it is called; empty for rules."""
    tokens: int
    """An estimate of what it takes of every request; 0 while it takes nothing."""
    state: str
    """Whether it is in force, and why, in words for the user."""
    trouble: str
    """What is wrong with it, in words for the user; empty if nothing is."""
    source: str
    """The file that imports it; empty if it stands where such files stand."""


def listed_instructions(rules: Sequence[ListedRules], files: Sequence[PromptFile]) -> Sequence[InstructionFile]:
    """The list for the user: the rules first, then skills and commands."""
    told = [InstructionFile("rules", each.shown, "", each.tokens, each.state, each.trouble, each.source) for each in rules]
    return (*told, *map(_listed, files))


def _listed(file: PromptFile) -> InstructionFile:
    trouble = file.trouble or (TAKEN if is_built_in(file.name) else file.note)
    is_told = file.kind == "skill" and not file.trouble and not file.by_hand
    tokens = estimate_text(in_the_list(file)) if is_told else 0
    counts = not file.trouble and (file.kind == "skill" or not is_built_in(file.name))
    return InstructionFile(file.kind, file.shown, file.name, tokens, IN_FORCE if counts else NOT_IN_FORCE, trouble, "")
