"""The figures by project."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.unit.replay.made_up_runs import many
from ullage.context.policies.ullage import ULLAGE
from ullage.recorded.retention import Acquired, HitShare
from ullage.replay.measuring.comparison import compared
from ullage.replay.measuring.figures import MeasuredSession, Report
from ullage.replay.measuring.leaving_out import variant_name, variants, variants_in
from ullage.replay.measuring.projects import BESIDE, NO_PROJECT, RECORDED, Interval, by_project, project_of
from ullage.replay.measuring.runs import Run
from ullage.replay.reporting.html.page import as_html
from ullage.replay.reporting.report_json import as_json
from ullage.replay.reporting.report_short import as_short
from ullage.replay.reporting.report_table import as_table
from ullage.replay.reporting.wording import LEFT_OUT, with_interval

POLICIES = ("ullage", "claude-code")
FOLDERS = ("/work/app", "/work/lib", "/home/me/app/.worktrees/7")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/home/me/app", "app"),
        ("C:\\work\\app\\", "app"),
        ("/work/app/.worktrees/me/fix-it", "app"),
        ("/work/app/.claude/worktrees/fix", "app"),
        ("/work/app-worktrees/app-x3/sub", "app"),
        ("/work/app/.conductor/rome", "app"),
        ("/work/app/worktrees/one", "app"),
        ("0123456789ab", "0123456789ab"),
        ("", NO_PROJECT),
        ("/", NO_PROJECT),
    ],
)
def test_a_project_is_the_repository_of_its_folder(folder: str, name: str):
    assert project_of(folder) == name


def test_a_folder_that_is_no_folder_takes_no_time():
    assert project_of(f"/{'a' * 1_000_000}") == "a" * 1_000_000


def told(sessions: int = 12, projects: Sequence[str] = FOLDERS) -> tuple[tuple[MeasuredSession, ...], list[Run]]:
    made, runs = many(sessions, POLICIES)
    return tuple(replace(row, project=projects[index % len(projects)]) for index, row in enumerate(made.rows)), runs


def test_projects_add_up_to_the_whole():
    rows, runs = told()
    by = by_project(rows, compared(runs))
    assert [(project.name, project.sessions) for project in by.projects] == [("app", 8), ("lib", 4)]
    assert by.projects[0].folders == ("/work/app", "/home/me/app/.worktrees/7")
    standings = {each.policy: each for each in compared(runs).standings}
    for index, whole in enumerate(by.together):
        app, lib = (project.policies[index] for project in by.projects)
        share = whole.estimates["needed_in_view"].share
        assert share == app.estimates["needed_in_view"].share + lib.estimates["needed_in_view"].share
        assert (share.hits, share.of) == (standings[whole.policy].needed.in_view, standings[whole.policy].needed.needed)
        assert by.projects[0].without[index].estimates["needed_in_view"].share == lib.estimates["needed_in_view"].share
        assert by.mean(whole.policy, "needed_in_view") == pytest.approx(
            ((app.value("needed_in_view") or 0) + (lib.value("needed_in_view") or 0)) / 2
        )
        assert whole.dollars == pytest.approx(standings[whole.policy].total)
    ullage, beside = by.together
    assert beside.policy == BESIDE
    assert ullage.beside == pytest.approx((ullage.dollars or 0) / (beside.dollars or 1))
    assert beside.beside == 1


def test_what_forgetting_costs_is_added_on_both_sides():
    rows, runs = told()
    costly = [replace(run, forgetting=2.0 if run.policy == "ullage" else 1.0) for run in runs]
    ullage, beside = by_project(rows, compared(costly)).together
    of = {each.policy: sum(run.total + run.forgetting for run in costly if run.policy == each.policy) for each in (ullage, beside)}
    assert ullage.beside_forgetting == pytest.approx(of["ullage"] / of[BESIDE])
    assert ullage.beside_forgetting != pytest.approx(ullage.beside)
    assert beside.beside_forgetting == 1


def test_a_sub_agent_belongs_to_its_session():
    """Its facts are drawn with those of its session: they are no sessions of their own."""
    rows, runs = told(3)
    main = rows[0].session_id
    names = {row.session_id: row.session_id if index == 0 else f"{main}/{index}" for index, row in enumerate(rows)}
    rows = tuple(replace(row, session_id=names[row.session_id], project="/work/app") for row in rows)
    by = by_project(rows, compared(replace(run, session_id=names[run.session_id]) for run in runs))
    assert [each.sessions for each in by.together] == [1, 1]
    assert all(each.estimates["needed_in_view"].interval is None for each in by.together)


def test_without_policies_what_was_recorded_is_told():
    rows, _ = told()
    assert [each.policy for each in by_project(rows, compared(())).together] == [RECORDED]


def test_every_report_has_them():
    rows, runs = told()
    report = Report(rows, runs=tuple(runs), policies=POLICIES)
    short, table, page, figures = as_short(report), as_table(report), as_html(report, runs), json.loads(as_json(report))
    app = next(each for each in figures["projects"] if each["project"] == "app")
    kept = next(each for each in app["policies"] if each["policy"] == "ullage")["needed_in_view"]
    low, high = kept["interval"]
    shown = f"{kept['share'] * 100:.0f} % ({low * 100:.0f} to {high * 100:.0f})"
    assert low < kept["share"] < high
    assert shown in table
    assert shown in page
    assert "Project by project" in page
    assert "by project: app " in " ".join(short.split())
    assert figures["all_projects"][0]["mean_of_projects"]["needed_in_view"] is not None
    assert figures["chosen_without_the_project"] is None
    assert LEFT_OUT not in table


def test_options_are_chosen_without_the_project_that_they_are_held_against():
    other = variant_name("tests 1.0")
    rows, runs = told(projects=FOLDERS[:2])
    better = {"ullage": "/work/app", other: "/work/lib"}
    made = [
        replace(
            run,
            policy=policy,
            retained=replace(run.retained, acquired=Acquired(1, 900, HitShare(8 if row.project == better[policy] else 2, 10))),
        )
        for row in rows
        for run in runs
        if run.session_id == row.session_id and run.policy == "ullage"
        for policy in better
    ]
    by = by_project(rows, compared(made))
    assert by.chosen == {"app": other, "lib": "ullage"}
    assert by.left_out is not None
    assert by.left_out.value("text_acquired_again_in_view") == 0.2
    report = Report(rows, runs=tuple(made), policies=("ullage", other))
    table, figures = as_table(report), json.loads(as_json(report))
    assert LEFT_OUT in table
    assert "all, each chosen without it: 20 %" in table
    assert LEFT_OUT in as_short(report)
    assert figures["chosen_without_the_project"]["by_project"] == by.chosen
    assert figures["chosen_without_the_project"]["all_left_out"]["text_acquired_again_in_view"]["share"] == 0.2


def test_with_one_project_there_is_nothing_to_leave_out():
    rows, runs = told(projects=("/work/app",))
    runs += [replace(run, policy=variant_name("tests 1.0")) for run in runs if run.policy == "ullage"]
    assert by_project(rows, compared(runs)).left_out is None


def test_the_options_in_force_are_among_those_that_can_be_chosen():
    made = variants()
    assert made["ullage"] == ULLAGE
    assert variants_in(made) == tuple(made)
    assert len({policy.restore for policy in made.values()}) == len(made)


def test_what_a_policy_kept_is_not_told_where_it_says_nothing_of_it():
    """Where a blank stood for its summaries, as everywhere else in the report."""
    rows, runs = told()
    blank = [
        replace(run, compactions=tuple(replace(point, stood_in="blank") for point in run.compactions)) if run.policy == "ullage" else run
        for run in runs
    ]
    ullage, beside = by_project(rows, compared(blank)).together
    assert ullage.estimates["needed_in_view"].share.of == 0
    assert ullage.dollars is not None
    assert beside.estimates["needed_in_view"].share.of > 0


def test_how_a_share_is_shown():
    assert with_interval(0.94, Interval(0.912, 0.958)) == "94 % (91 to 96)"
    assert with_interval(0.94, None) == "94 %"
    assert with_interval(None, None) == "-"


def test_one_project_needs_no_table_of_projects():
    rows, runs = told()
    rows = tuple(replace(row, project="/work/app") for row in rows)
    report = Report(rows, runs=tuple(runs), policies=POLICIES)
    assert "Project by project" not in as_html(report, runs)
    assert "by project" not in as_short(report)
    assert "mean of projects" not in as_table(report).partition("A project is told")[0]
