"""What the server does for the requests about what the model sees: previews, pins, epochs, the context view, searches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ullage.lsp import protocol as wire
from ullage.lsp.convert import fetched_again, restored_file, way_of
from ullage.lsp.documents import named_file
from ullage.lsp.protocol import context as shown
from ullage.lsp.protocol import history as shapes
from ullage.session.errors import SessionError

if TYPE_CHECKING:  # takes long to import
    from ullage.session.history.cache_now import CacheNow, Miss
    from ullage.session.history.context_view import ContextRow
    from ullage.session.history.epochs import EpochInfo
    from ullage.session.history.preview import ItemFate, Preview, PreviewCost
    from ullage.session.sessions.searching import SearchHit
    from ullage.session.sessions.sessions import Sessions

USUAL_HITS, MOST_HITS = 30, 200
"""How many hits one answer to a search has: usually, and at most."""

USUAL_FATES, MOST_FATES = 200, 1_000
"""How many messages an answer about an epoch has, and how many parts one about the context: usually, and at most."""


async def _undo_compaction(sessions: Sessions, params: shapes.CompactionParams) -> shapes.CompactionResult:
    history = sessions.get(params.session_id).history
    return shapes.CompactionResult(await history.undo(params.compaction_id, fit=bool(params.fit)))


async def _redo_compaction(sessions: Sessions, params: shapes.CompactionParams) -> shapes.CompactionResult:
    history = sessions.get(params.session_id).history
    return shapes.CompactionResult(await history.redo(params.compaction_id, fit=bool(params.fit)))


async def _preview(sessions: Sessions, params: shapes.PreviewParams) -> shapes.Preview:
    return _preview_to_wire(await sessions.get(params.session_id).history.preview(params.focus or ""))


async def _pin(sessions: Sessions, params: shapes.PinParams) -> wire.Nothing:
    history = sessions.get(params.session_id).history
    match params.item_id, params.path:
        case str(item_id), None:
            history.pin_item(item_id, pinned=params.pinned)
        case None, str(path):
            history.pin_file(named_file(path), pinned=params.pinned)
        case _:
            raise SessionError("invalid", "Name either an item or a file to pin")
    return wire.Nothing()


async def _exclude(sessions: Sessions, params: shapes.ExcludeParams) -> shapes.CompactionResult:
    history = sessions.get(params.session_id).history
    match params.item_id, params.path:
        case str(item_id), None:
            return shapes.CompactionResult(await history.exclude(item_id))
        case None, str(path):
            return shapes.CompactionResult(await history.exclude_file(named_file(path)))
        case _:
            raise SessionError("invalid", "Name either an item or a file to exclude")


async def _clear_result(sessions: Sessions, params: shapes.ClearResultParams) -> shapes.CompactionResult:
    return shapes.CompactionResult(await sessions.get(params.session_id).history.clear(params.item_id))


async def _epochs(sessions: Sessions, params: shapes.EpochsParams) -> shapes.EpochsResult:
    found, fates = await sessions.shown(params.session_id).history.epochs(params.since)
    return shapes.EpochsResult(
        [_epoch_to_wire(epoch) for epoch in found], [shapes.ItemFate(fate.item_id, fate.fate, fate.compaction_id) for fate in fates]
    )


async def _epoch_fates(sessions: Sessions, params: shapes.EpochFatesParams) -> shapes.EpochFatesResult:
    offset = 0 if params.offset is None else params.offset
    limit = USUAL_FATES if params.limit is None else params.limit
    if offset < 0 or limit < 1:
        raise SessionError("invalid", "The offset must not be negative, and the limit at least 1")
    history = sessions.shown(params.session_id).history
    page = await history.epoch_fates(params.number, params.group or "changed", offset, min(limit, MOST_FATES))
    return shapes.EpochFatesResult(page.changed, page.before, page.kept, [_fate_to_wire(fate) for fate in page.fates])


async def _context(sessions: Sessions, params: shown.ContextParams) -> shown.ContextResult:
    from ullage.session.history.context_view import Query

    offset = 0 if params.offset is None else params.offset
    limit = USUAL_FATES if params.limit is None else params.limit
    if offset < 0 or limit < 1:
        raise SessionError("invalid", "The offset must not be negative, and the limit at least 1")
    limit = min(limit, MOST_FATES)
    query = Query(params.order or "largest", params.of_kind, params.only, params.text or "", offset, limit, params.draft or "")
    page = await sessions.shown(params.session_id).context.look(query)
    return shown.ContextResult(
        used=page.used,
        threshold=page.threshold,
        size=page.size,
        estimated_tokens=page.guess,
        kinds=[shown.ContextKind(each.kind, each.count, each.tokens) for each in page.kinds],
        largest=[_part_to_wire(row) for row in page.largest],
        total=page.total,
        parts=[_part_to_wire(row) for row in page.rows],
        cache=_cache_to_wire(page.cache),
        requests=page.requests,
        missed=page.missed,
        misses=[_miss_to_wire(miss) for miss in page.misses],
        read_price=page.read_price,
        write_price=page.write_price,
    )


async def _search(sessions: Sessions, params: shapes.SearchParams) -> shapes.SearchResult:
    limit = USUAL_HITS if params.limit is None else params.limit
    if limit < 1:
        raise SessionError("invalid", "The limit must be at least 1")
    return shapes.SearchResult([_hit_to_wire(hit) for hit in await sessions.search(params.query, min(limit, MOST_HITS))])


HISTORY_METHODS: dict[str, Callable[[Sessions, Any], Awaitable[object]]] = {
    wire.UNDO_COMPACTION: _undo_compaction,
    wire.REDO_COMPACTION: _redo_compaction,
    wire.PREVIEW_COMPACTION: _preview,
    wire.PIN: _pin,
    wire.EXCLUDE: _exclude,
    wire.CLEAR_RESULT: _clear_result,
    wire.EPOCHS: _epochs,
    wire.EPOCH_FATES: _epoch_fates,
    wire.CONTEXT: _context,
    wire.SEARCH: _search,
}
"""The function that answers each method. The functions raise `SessionError`."""


def _preview_to_wire(preview: Preview) -> shapes.Preview:
    return shapes.Preview(
        policy=preview.policy,
        way=way_of(preview.rung),
        tokens_before=preview.tokens_before,
        tokens_after=preview.tokens_after,
        threshold=preview.threshold,
        summary=preview.summary,
        cleared=preview.counts.cleared,
        snipped=preview.counts.snipped,
        summarised=preview.counts.summarised,
        lines=[
            shapes.PreviewLine(line.role, line.title, line.tokens_before, line.tokens_after, line.fate, line.item_id)
            for line in preview.lines
        ],
        restored=[restored_file(file.path, file.note, is_read=file.is_read) for file in preview.restored],
        cost=_cost_to_wire(preview.cost),
        nothing=preview.nothing or None,
    )


def _cost_to_wire(cost: PreviewCost | None) -> shapes.PreviewCost | None:
    if cost is None:
        return None
    prices = (cost.summary, cost.next_before, cost.next_after, cost.later_before, cost.later_after)
    return shapes.PreviewCost(*prices, estimate=cost.estimate or None)


def _epoch_to_wire(epoch: EpochInfo) -> shapes.Epoch:
    made = epoch.compaction
    if made is None:
        return shapes.Epoch(epoch.number, epoch.at, epoch.current, epoch.requests, cost=epoch.cost)
    return shapes.Epoch(
        number=epoch.number,
        at=epoch.at,
        current=epoch.current,
        requests=epoch.requests,
        compaction_id=made.id,
        status="undone" if epoch.undone else "active",
        trigger=made.trigger,
        way=way_of(made.rung),
        policy=made.policy,
        tokens_before=made.tokens_before,
        tokens_after=made.estimated_after,
        compaction_cost=made.cost,
        cost=epoch.cost,
        restored=[restored_file(file.path, file.note, is_read=file.is_read) for file in made.restored],
        cleared=made.message_counts.cleared,
        snipped=made.message_counts.snipped,
        summarised=made.message_counts.summarised,
        excluded_files=[file.path for file in made.without_files] or None,
        fetched_again=fetched_again(epoch.fetched_again),
    )


def _fate_to_wire(fate: ItemFate) -> shapes.ItemFate:
    return shapes.ItemFate(fate.item_id, fate.fate, fate.compaction_id, fate.role, fate.title, fate.restored)


def _hit_to_wire(hit: SearchHit) -> shapes.SearchHit:
    return shapes.SearchHit(hit.session_id, hit.session_title, hit.at, hit.what, hit.excerpt, hit.item_id)


def _part_to_wire(row: ContextRow) -> shown.ContextPart:
    part = row.part
    return shown.ContextPart(
        kind=part.kind,
        title=row.title,
        tokens=part.tokens,
        sent=row.is_sent,
        item_id=row.item_id,
        turns_ago=row.turns_ago,
        paths=list(part.paths) or None,
        touched_since=part.touched_since,
        pinned=part.pinned or None,
        excluded=part.excluded or None,
        clear_frees=None if row.clearing is None else row.clearing.frees,
        clear_cost=None if row.clearing is None else row.clearing.cost,
    )


def _cache_to_wire(cache: CacheNow) -> shown.CacheClock:
    request = cache.request
    return shown.CacheClock(
        lives=request.lives,
        read=request.warm.cache_read_tokens,
        anew=request.warm.total_input_tokens - request.warm.cache_read_tokens,
        started_at=request.started,
        warm_cost=cache.warm,
        cold_cost=cache.cold,
        compact_warm_cost=cache.compact_warm,
        compact_cold_cost=cache.compact_cold,
    )


def _miss_to_wire(miss: Miss) -> shown.CacheMiss:
    reasons = list(miss.reasons)
    return shown.CacheMiss(miss.at, miss.tokens, reasons, max(0.0, miss.idle), miss.item_id, miss.cost, miss.change or None)
