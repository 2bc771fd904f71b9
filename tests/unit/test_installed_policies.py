"""Policies of other packages: found by their entry points, judged, named where they are wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from tests.example_policy import install, install_metadata
from ullage.context import policy
from ullage.context.engines import engine
from ullage.context.engines.engine import Unchanging
from ullage.context.policies.none import NONE
from ullage.context.policies.table import BUILT_IN
from ullage.context.policy import BelowWindow, FixedTokens, ShareOfWindow, ThresholdOptions
from ullage.installed_policies import RENAMED, Installed, fault_in, installed, policies


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Installed]]:
    """What is found with one more folder on the path."""

    def with_folder(folder: Path) -> Installed:
        monkeypatch.syspath_prepend(folder)  # pyright: ignore[reportUnknownMemberType]
        installed.cache_clear()
        return installed()

    known = set(sys.modules)
    yield with_folder
    installed.cache_clear()
    for name in set(sys.modules) - known:
        if name.startswith(("example_policies", "made_up_")):
            del sys.modules[name]


def made_up(folder: Path, number: int, text: str, point: str = "POLICIES") -> Path:
    """A package with that module in a folder; gives the folder."""
    folder.mkdir(exist_ok=True)
    (folder / f"made_up_{number}.py").write_text(text)
    return install_metadata(folder, f"made-up-{number}", "1.0", {f"point-{number}": f"made_up_{number}:{point}"})


IMPORTS = "from dataclasses import replace\nfrom ullage.context.policies.none import NONE\n"


def test_the_policies_of_a_package_stand_after_those_of_ullage(tmp_path: Path, found: Callable[[Path], Installed]) -> None:
    here = found(install(tmp_path))
    assert list(here.policies) == [*BUILT_IN, "example-early", "example-ten-sentences"]
    assert here.packages == dict.fromkeys(["example-early", "example-ten-sentences"], "ullage-example-policies 0.1.0")
    assert here.problems == ()
    assert policies() is here.policies


def test_every_name_that_is_told_for_an_earlier_one_is_there() -> None:
    now = vars(policy) | vars(engine) | vars(engine.Engine) | dict.fromkeys(field.name for field in fields(policy.Policy))
    assert set(RENAMED.values()) <= set(now)
    assert set(RENAMED).isdisjoint(now)


def test_one_policy_alone_may_be_given_too(tmp_path: Path, found: Callable[[Path], Installed]) -> None:
    made_up(tmp_path, 1, IMPORTS + "ONE = replace(NONE, name='one')", "ONE")
    assert "one" in found(tmp_path).policies


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('out of order')", "RuntimeError: out of order"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("import a_module_that_nobody_has", "cannot be loaded: ModuleNotFoundError"),
        ("from ullage.context.gone import Engine", "written for another version of Ullage: ModuleNotFoundError"),
        ("from ullage.context.policy import Gone", "written for another version of Ullage: ImportError"),
        ("from ullage.context.engines.engine import Handoff", "(Handoff is called SummaryText now): ImportError"),
        ("from ullage.context.policy import ClearNumbers", "(ClearNumbers is called ClearOptions now): ImportError"),
        (
            f"{IMPORTS}from ullage.context.policy import Policy\nPOLICIES = [Policy('old', 'Old', (), NONE.engine, line=None)]",
            "(line is called threshold now): TypeError",
        ),
        ("OTHER = 1", "AttributeError"),
        ("POLICIES = 7", "7 is no ullage.context.policy.Policy"),
        ("POLICIES = 'ullage'", "'ullage' is no ullage.context.policy.Policy"),
        ("def POLICIES(): ...", "is no ullage.context.policy.Policy"),
        (IMPORTS + "POLICIES = [NONE]", "there is a policy 'none' already, from Ullage itself"),
        (IMPORTS + "POLICIES = [replace(NONE, name='twice'), replace(NONE, name='twice')]", "'twice' already, from made-up-1 1.0"),
        (IMPORTS + "def each():\n    yield NONE\n    raise ValueError('broken')\nPOLICIES = each()", "ValueError: broken"),
    ],
)
def test_what_cannot_be_used_is_named_and_the_others_go_on(
    tmp_path: Path, found: Callable[[Path], Installed], text: str, said: str
) -> None:
    made_up(tmp_path, 1, text)
    made_up(tmp_path, 2, IMPORTS + "POLICIES = [replace(NONE, name='good')]")
    here = found(tmp_path)
    assert "good" in here.policies
    assert here.policies["none"] is NONE
    [problem] = here.problems
    assert problem.startswith("The policies 'point-1' of the package made-up-1 1.0 ")
    assert said in problem


class _HalfAnEngine:
    def arrive(self) -> None: ...

    def plan(self) -> None: ...


def wanting(**attributes: Any) -> Unchanging:
    return type("Wanting", (Unchanging,), attributes)()


class OfAnOlderVersion:
    """It has the four answers, but not what else an engine has."""

    arrive, upkeep, plan, summarise = Unchanging.arrive, Unchanging.upkeep, Unchanging.plan, Unchanging.summarise


class Raising(Unchanging):
    @property
    def tools(self) -> frozenset[str]:  # pyright: ignore[reportIncompatibleVariableOverride] - as a package may have it
        raise RuntimeError("not now")


def changed(**fields: Any) -> object:
    return replace(NONE, **fields)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (changed(name=""), "'' is no name"),
        (changed(name="Mine"), "'Mine' is no name"),
        (changed(name="a b"), "'a b' is no name"),
        (changed(name=3), "3 is no name"),
        (changed(engine=None), "has no arrive, upkeep, plan, summarise"),
        (changed(engine=_HalfAnEngine()), "has no upkeep, summarise"),
        (changed(engine=wanting(tools={"memory"})), "has for tools {'memory'}"),
        (changed(engine=wanting(sweeps=0)), "has for sweeps 0"),
        (changed(engine=wanting(keeps_up="no")), "has for keeps_up 'no'"),
        (changed(engine=wanting(wants_files=1)), "has for wants_files 1"),
        (changed(engine=OfAnOlderVersion()), "has no tools: begin it with"),
        (changed(engine=wanting(handoff=print)), "handoff is called summarise now"),
        (changed(engine=Raising()), "cannot be asked what it needs: RuntimeError: not now"),
        (changed(title=None), "needs a title"),
        (changed(sources="me"), "sources (a tuple of texts)"),
        (changed(measure="words"), "'words', which is none of 'usage'"),
        (changed(restore=True), "neither None nor RestoreOptions"),
        (changed(threshold=4), "is not ThresholdOptions"),
        (changed(threshold=ThresholdOptions(90_000)), "is not ThresholdOptions"),  # pyright: ignore[reportArgumentType]
        (changed(threshold=ThresholdOptions(ShareOfWindow(1.5))), "at 1.5 of the window"),
        (changed(threshold=ThresholdOptions(ShareOfWindow(0.5, at_least=-1))), "not before -1"),
        (changed(threshold=ThresholdOptions(ShareOfWindow(True))), "at True of the window"),
        (changed(threshold=ThresholdOptions(ShareOfWindow(0.5, at_most=0))), "at 0 at the latest"),
        (changed(threshold=ThresholdOptions(FixedTokens(0))), "at 0: it must be"),
        (changed(threshold=ThresholdOptions(BelowWindow(-1, 7))), "-1 and 7"),
        (changed(threshold=ThresholdOptions(hold_share=0.0)), "hold_share"),
    ],
)
def test_a_value_out_of_range_is_named(value: object, said: str) -> None:
    assert said in fault_in(value)


@pytest.mark.parametrize("policy", BUILT_IN.values(), ids=BUILT_IN)
def test_every_policy_of_ullage_would_be_taken_from_a_package_too(policy: object) -> None:
    assert fault_in(policy) == ""
