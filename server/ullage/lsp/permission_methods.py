"""What the server does for the requests about permissions and questions: the user's answers, and their rules."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.protocol import permissions as shapes
from ullage.lsp.protocol import prompts
from ullage.session.errors import SessionError

if TYPE_CHECKING:  # takes long to import
    from ullage.session.permissions.past import CheckedRule
    from ullage.session.sessions.sessions import Sessions
    from ullage.tools.rules.covering import PermissionRule

_NOTHING = wire.Nothing()


def respond(sessions: Sessions, params: shapes.RespondParams) -> wire.Nothing:
    """Answers an approval; that of a sub-agent at work also while the user looks at its log. Raises `SessionError`."""
    rules = [_rule(rule) for rule in params.rules or ()]
    session = sessions.shown(params.session_id)
    session.answer_permission(params.tool_call_id, params.option_id, params.reason or "", permission_id=params.permission_id, rules=rules)
    return _NOTHING


def answer(sessions: Sessions, params: prompts.AnswerParams) -> wire.Nothing:
    """Gives the user's answers to a question of the agent. Raises `SessionError`."""
    from ullage.session.turns.questions import Given

    given = None if params.answers is None else [Given(tuple(each.option_ids or ()), each.text or "") for each in params.answers]
    sessions.get(params.session_id).answer_question(params.tool_call_id, params.question_id, given)
    return _NOTHING


def _rule(rule: shapes.NewRule) -> PermissionRule:
    from ullage.tools.rules.covering import PermissionRule

    return PermissionRule(rule.action, rule.pattern, rule.scope, refuses=rule.refuses is True)


async def _list(sessions: Sessions, params: shapes.ListParams) -> shapes.AllowedResult:
    permits = None if params.session_id is None else sessions.get(params.session_id).permits
    rules = sessions.always_allowed.rules() if permits is None else permits.rules()
    lapsed = [""] * len(rules) if permits is None else await asyncio.to_thread(lambda: [permits.why_lapsed(rule) for rule in rules])
    way = sessions.way_of_asking
    asking = shapes.Asking(way.wanted, way.in_force, way.no_sandbox or None)
    return shapes.AllowedResult([_allowed(rule, why) for rule, why in zip(rules, lapsed, strict=True)], asking)


def _allowed(rule: PermissionRule, why_lapsed: str) -> shapes.Allowed:
    from ullage.tools.permission import shown_rule
    from ullage.tools.rules.covering import explanation_of, warning_about

    return shapes.Allowed(
        rule.action,
        rule.pattern,
        shown_rule(rule.action, rule.pattern, rule.files),
        rule.scope,
        explanation_of(rule),
        rule.used,
        rule.since,
        rule.last_used,
        why_lapsed or warning_about(rule) or None,
        rule.refuses or None,
    )


async def _forget(sessions: Sessions, params: shapes.ForgetParams) -> wire.Nothing:
    if (params.action is None) != (params.pattern is None):
        raise SessionError("invalid", "Name both the action and the pattern of what is to be asked again, or neither for everything")
    if params.scope == "session" and params.session_id is None:
        raise SessionError("invalid", "Name the session whose rule is to be taken back")
    permits = None if params.session_id is None else sessions.get(params.session_id).permits
    if params.action is None or params.pattern is None:
        (sessions.always_allowed if permits is None else permits).forget_all()
    elif permits is None:
        sessions.always_allowed.forget(params.scope or "workspace", params.action, params.pattern)
    else:
        permits.forget(params.scope or "workspace", params.action, params.pattern)
    return _NOTHING


async def _allow(sessions: Sessions, params: shapes.AllowParams) -> wire.Nothing:
    permits, rule = sessions.get(params.session_id).permits, _rule(params.rule)
    replaced = None if params.replaces is None else _rule(params.replaces)
    permits.add(rule)
    if replaced is not None and replaced.key != rule.key:
        permits.forget(*replaced.key)
    return _NOTHING


async def _check(sessions: Sessions, params: shapes.CheckParams) -> shapes.CheckResult:
    session = sessions.get(params.session_id)
    return _checked(await asyncio.to_thread(session.past_calls.check, _rule(params.rule)))


def _checked(checked: CheckedRule) -> shapes.CheckResult:
    matches = [
        shapes.PastCall(each.call.text, each.call.times, each.call.at, each.allowed, each.refused or None) for each in checked.matches
    ]
    return shapes.CheckResult(
        matches, checked.matched, checked.of, checked.problem or None, checked.explanation or None, checked.warning or None
    )


PERMISSION_METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.ALLOWED: _list,
    wire.FORGET: _forget,
    wire.ALLOW: _allow,
    wire.CHECK: _check,
}
"""The function that answers each method. The functions raise `SessionError`."""
