"""A session's values to their counterparts on the wire, one for one. A text that is empty here is left out there."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ullage.context.calls import one_line
from ullage.context.entries import FileDiff
from ullage.context.running_commands import LINE_CHARACTERS
from ullage.lsp.changes_methods import open_changes_to_wire
from ullage.lsp.protocol import history, prompts, running, sessions
from ullage.lsp.protocol import items as wire
from ullage.lsp.protocol import updates as wire_updates
from ullage.session.timeline import items as session
from ullage.session.timeline import updates
from ullage.session.turns.questions import option_id
from ullage.store.origins import is_foreign
from ullage.tools.tool import PlanEntry, Question

if TYPE_CHECKING:  # takes long to import
    from ullage.context.compaction.decide import NextCompaction
    from ullage.context.compaction_entries import Checked, FetchedAgain, Held, Rung
    from ullage.context.running_commands import RunsNow
    from ullage.session.attachments import Ref
    from ullage.session.sessions.bringing_back import WorktreeStanding
    from ullage.session.sessions.figures import SessionFigures, SessionSummary
    from ullage.session.sessions.forking import Fork
    from ullage.session.timeline.turn_costs import TurnCost
    from ullage.workspace.worktrees import Worktree


_WAYS: Mapping[Rung, wire.Way] = {"moves": "moves", "api": "api", "model": "model", "digest": "program", "tail": "note"}
"""The words of the wire for each way of summarising. The log uses two older words."""


def way_of(rung: Rung) -> wire.Way:
    """The way of summarising that the log calls a rung."""
    return _WAYS[rung]


def snapshot_to_wire(snapshot: updates.Snapshot) -> sessions.Snapshot:
    """All of a session that a panel needs, in its form on the wire."""
    return sessions.Snapshot(
        session_id=snapshot.session_id,
        seq=snapshot.seq,
        title=snapshot.title,
        state=snapshot.state,
        items=[item_to_wire(item) for item in snapshot.items],
        earlier=snapshot.earlier,
        plan=[_plan_entry(entry) for entry in snapshot.plan],
        gauge=_gauge(snapshot.gauge),
        model=_model(snapshot.model),
        retry=_retry(snapshot.retry),
        pins=_pins(snapshot.pins),
        modes=None if is_foreign(snapshot.session_id) or snapshot.agent_of is not None else _modes(snapshot.mode),
        forked_from=_fork_origin(snapshot.forked_from),
        store_folder=snapshot.store_folder,
        foreign=is_foreign(snapshot.session_id) or None,
        agent_of=snapshot.agent_of,
        running=[_running(each) for each in snapshot.running] or None,
        changes=open_changes_to_wire(snapshot.changes) if snapshot.changes.count else None,
        worktree=_worktree(snapshot.worktree) if snapshot.worktree else None,
        turn=sessions.NewestTurn(snapshot.turn.id, _turn_cost(snapshot.turn.turn_cost)) if snapshot.turn else None,
    )


def fork_to_wire(fork: Fork) -> sessions.ForkResult:
    """A fork as it was opened."""
    prompt = sessions.ForkPrompt(fork.prompt.text, [_attachment(ref) for ref in fork.refs]) if fork.prompt else None
    return sessions.ForkResult(snapshot_to_wire(fork.session.snapshot()), prompt)


def unqueued_to_wire(attached: Sequence[Ref]) -> prompts.UnqueueResult:
    """The attachments of a prompt that was taken back, in their form on the wire."""
    return prompts.UnqueueResult([_attachment(ref) for ref in attached])


def summary_to_wire(summary: SessionSummary) -> sessions.SessionSummary:
    """A session in the list of sessions."""
    figures = figures_to_wire(summary.figures) if summary.figures else None
    worktree = _worktree(summary.worktree) if summary.worktree else None
    return sessions.SessionSummary(
        *(summary.session_id, summary.title, summary.updated_at, summary.state),
        *(summary.foreign or None, summary.open_elsewhere or None, figures, worktree),
    )


def _worktree(worktree: Worktree) -> running.Worktree:
    return running.Worktree(str(worktree.root), worktree.branch)


def worktree_to_wire(worktree: Worktree, standing: WorktreeStanding) -> running.WorktreeResult:
    """The standing of a worktree beside the workspace folder, in its form on the wire."""
    files = [
        running.WorktreeFile(each.path, each.there.as_uri(), each.here.as_uri(), each.action, each.conflict or None)
        for each in standing.files
    ]
    return running.WorktreeResult(_worktree(worktree), files, standing.commits, standing.more or None, standing.brought or None)


def figures_to_wire(figures: SessionFigures) -> sessions.SessionFigures:
    """The figures of one session in the list of sessions, in their form on the wire."""
    changed = (figures.files, figures.added, figures.removed) if figures.files else (None, None, None)
    return sessions.SessionFigures(figures.status, figures.used, figures.threshold, figures.cost, *changed, running=figures.running or None)


def update_to_wire(update: updates.Update) -> wire_updates.Update:
    """One change of a session, in its form on the wire."""
    match update:
        case updates.ItemUpdated():
            return wire_updates.ItemUpdate(item_to_wire(update.item))
        case updates.TextAppended():
            return wire_updates.AppendUpdate(update.item_id, update.field, update.text)
        case updates.ItemRemoved():
            return wire_updates.RemoveUpdate(update.item_id)
        case updates.StateChanged():
            return wire_updates.StateUpdate(update.state, _retry(update.retry), _ended(update.ended))
        case updates.GaugeChanged():
            return wire_updates.GaugeUpdate(_gauge(update.gauge))
        case updates.PlanChanged():
            return wire_updates.PlanUpdate([_plan_entry(entry) for entry in update.entries])
        case updates.TitleChanged():
            return wire_updates.TitleUpdate(update.title)
        case updates.ModelChanged():
            return wire_updates.ModelUpdate(_model(update.model))
        case updates.ModeChanged():
            return wire_updates.ModeUpdate(update.mode)
        case updates.PinsChanged():
            return wire_updates.PinsUpdate(_pins(update.pins))
        case updates.ChangesChanged():
            return wire_updates.ChangesUpdate(open_changes_to_wire(update.changes))
        case updates.RunningChanged():
            return wire_updates.RunningUpdate([_running(each) for each in update.commands])


def _running(command: RunsNow) -> running.RunningCommand:
    return running.RunningCommand(
        id=command.id,
        tool_call_id=command.tool_use_id,
        command=one_line(command.command, LINE_CHARACTERS),
        began=command.began,
        last_line=command.last_line or None,
        ports=list(command.ports) or None,
        end=command.end,
        ended_at=command.ended_at if command.end else None,
        exit_code=command.exit_code,
        failed=command.failed or None,
    )


def _modes(current: updates.ModeId) -> sessions.SessionModes:
    from ullage.session.turns.modes import MODES

    return sessions.SessionModes(current, [sessions.SessionMode(mode.id, mode.name, mode.description) for mode in MODES])


def _attachment(ref: Ref) -> prompts.AttachmentRef:
    from ullage.session.attachments import FileRef, NewDocumentRef, PageRef, PastedRef, ResourceRef, TextRef

    if isinstance(ref, PastedRef):
        return prompts.PastedAttachment(base64.b64encode(ref.data).decode("ascii"), ref.name)
    if isinstance(ref, NewDocumentRef):
        return prompts.FileAttachment(ref.uri)
    if isinstance(ref, TextRef):
        return prompts.TextAttachment(ref.name, ref.text)
    if isinstance(ref, ResourceRef):
        return prompts.ResourceAttachment(ref.server, ref.uri)
    if isinstance(ref, PageRef):
        return prompts.PageAttachment(ref.url)
    if isinstance(ref, FileRef):
        return prompts.FileAttachment(ref.path.as_uri(), ref.lines and prompts.LineRange(*ref.lines))
    return prompts.ProblemsAttachment()


def _fork_origin(origin: updates.ForkOrigin | None) -> sessions.ForkOrigin | None:
    return None if origin is None else sessions.ForkOrigin(origin.session_id, origin.title)


def _pins(pins: updates.PinnedItems) -> history.Pins:
    return history.Pins(list(pins.item_ids), list(pins.paths))


def item_to_wire(item: session.Item) -> wire.Item:
    """One item of the timeline."""
    match item:
        case session.UserItem():
            return _user(item)
        case session.AssistantItem():
            return wire.AssistantItem(item.id, item.at, item.text)
        case session.ThinkingItem():
            return wire.ThinkingItem(item.id, item.at, item.text, item.seconds)
        case session.ToolCallItem():
            return _tool_call(item)
        case session.CompactionItem():
            return _compaction(item)
        case session.NoticeItem():
            return wire.NoticeItem(item.id, item.at, item.level, item.text, item.action)


def _user(item: session.UserItem) -> wire.UserItem:
    media, cost = _media(item.media), _turn_cost(item.turn_cost)
    return wire.UserItem(item.id, item.at, item.text, list(item.attachments), item.queued, media, item.steering or None, cost)


def _turn_cost(cost: TurnCost | None) -> wire.TurnCost | None:
    if cost is None:
        return None
    return wire.TurnCost(
        calls=cost.calls,
        input=cost.usage.input_tokens,
        cache_read=cost.usage.cache_read_tokens,
        cache_write=cost.usage.cache_write_5m_tokens + cost.usage.cache_write_1h_tokens,
        output=cost.usage.output_tokens,
        cost=cost.dollars,
        unpriced=cost.unpriced or None,
        unreported=cost.unreported or None,
        compactions=cost.compactions or None,
        compaction_cost=cost.compaction_dollars,
        agents=cost.agents or None,
        agent_cost=cost.agent_dollars,
    )


def _tool_call(item: session.ToolCallItem) -> wire.ToolCallItem:
    return wire.ToolCallItem(
        id=item.id,
        at=item.at,
        name=item.name,
        title=item.title,
        tool_kind=item.tool_kind,
        status=item.status,
        input=item.input,
        output=item.output,
        diff=_diff(item.diff),
        full_output=item.full_output,
        permission=[wire.PermissionOption(option.option_id, option.name, option.kind) for option in item.permission] or None,
        permission_id=item.permission_id or None,
        permission_reason=item.permission_reason or None,
        media=_media(item.media),
        failure=item.failure,
        seconds=item.seconds,
        locations=[wire.Location(place.path, place.line) for place in item.locations] or None,
        document=item.document,
        asked=_asked(item.asked),
        questions=[_question(each) for each in item.questions] or None,
        question_id=item.question_id or None,
        answers=[wire.Answer(each.question, list(each.chosen), each.text or None) for each in item.answers] or None,
        agent=_agent(item),
        cost=item.cost,
        goes_on=item.goes_on or None,
    )


def _agent(item: session.ToolCallItem) -> wire.AgentRun | None:
    run = item.agent
    return None if run is None else wire.AgentRun(run.session_id, run.name, run.used, run.threshold, run.cost, item.doing or None)


def _question(question: Question) -> wire.Question:
    options = [wire.QuestionOption(option_id(place), each.label, each.description) for place, each in enumerate(question.options)]
    return wire.Question(question.header, question.question, options, question.multi_select or None)


def _asked(asked: session.AskedParts | None) -> wire.AskedParts | None:
    if asked is None:
        return None
    proposed = asked.proposed
    return wire.AskedParts(
        asked.action,
        [wire.AskedPart(part.text, part.standing, part.why) for part in asked.parts],
        asked.folder or None,
        asked.outside or None,
        [wire.Proposal(each.action, each.pattern) for each in asked.proposals] or None,
        None if proposed is None else wire.ProposedText(proposed.document, proposed.path, proposed.is_new or None),
    )


def _media(shown: tuple[session.ShownMedia, ...]) -> list[wire.ShownMedia] | None:
    return [wire.ShownMedia(each.name, each.words, each.path) for each in shown] or None


def restored_file(path: str, note: str, *, is_read: bool) -> wire.RestoredFile:
    """A file that a compaction read again, or only named."""
    return wire.RestoredFile(path, note, None if is_read else True)


def _compaction(item: session.CompactionItem) -> wire.CompactionItem:
    return wire.CompactionItem(
        id=item.id,
        at=item.at,
        status=item.status,
        trigger=item.trigger,
        tokens_before=item.tokens_before,
        summary=item.summary,
        restored=[restored_file(file.path, file.note, is_read=file.is_read) for file in item.restored],
        cleared=item.cleared,
        snipped=item.snipped,
        summarised=item.summarised,
        focus=item.focus,
        skipped=list(item.skipped),
        error=item.error,
        way=None if item.rung is None else way_of(item.rung),
        tokens_after=item.tokens_after,
        cost=item.cost,
        policy=item.policy or None,
        excluded_files=list(item.excluded_files) or None,
        saves=item.saves,
        fetched_again=fetched_again(item.fetched_again),
        checked=_checked(item.checked),
        nearby=list(item.nearby) or None,
    )


def fetched_again(found: FetchedAgain | None) -> wire.FetchedAgain | None:
    """What was fetched again after a compaction, in its form on the wire; None if that is not known."""
    return None if found is None else wire.FetchedAgain(list(found.files), found.tokens, found.cost)


def _checked(checked: Checked | None) -> wire.Checked | None:
    if checked is None:
        return None
    return wire.Checked(
        messages=checked.messages,
        ahead=checked.ahead,
        paths=_held(checked.paths),
        names=_held(checked.names),
        hashes=_held(checked.hashes),
        characters=_held(checked.characters),
        added=checked.added,
    )


def _held(held: Held) -> wire.Held:
    return wire.Held(held.in_view, held.used)


def _gauge(gauge: updates.Gauge) -> wire.Gauge:
    return wire.Gauge(
        used=gauge.used,
        threshold=gauge.threshold,
        size=gauge.size,
        estimated=gauge.estimated,
        level=gauge.level,
        categories=[wire.Category(category.name, category.tokens) for category in gauge.categories],
        frees=gauge.frees,
        next=_next(gauge.next),
        policy=gauge.policy,
        measure=gauge.measure,
        estimated_tokens=gauge.guess or None,
        cache_hit_rate=gauge.cache_hit_rate,
        cost=gauge.cost,
        frees_cost=gauge.frees_cost,
        anew_cost=gauge.anew_cost,
    )


def _next(following: NextCompaction) -> wire.NextCompaction:
    saving = following.saving
    early = None
    if saving is not None:
        early = wire.EarlySaving(saving.when, saving.dollars, None if saving.postponed == "none" else saving.postponed)
    return wire.NextCompaction(following.why, following.at, following.while_editing or None, early)


def _diff(diff: FileDiff | None) -> wire.Diff | None:
    return None if diff is None else wire.Diff(diff.path, diff.old_text, diff.new_text)


def _model(model: updates.ModelInfo) -> wire.ModelInfo:
    return wire.ModelInfo(model.name, model.display_name, model.practice, model.limits_source, list(model.efforts) or None, model.effort)


def _retry(retry: updates.RetryInfo | None) -> wire.Retry | None:
    return None if retry is None else wire.Retry(retry.attempt, retry.at, retry.reason)


def _ended(turn: updates.EndedTurn | None) -> wire_updates.EndedTurn | None:
    return None if turn is None else wire_updates.EndedTurn(turn.prompt_id, turn.stop_reason)


def _plan_entry(entry: PlanEntry) -> wire.PlanEntry:
    return wire.PlanEntry(entry.content, entry.status)
