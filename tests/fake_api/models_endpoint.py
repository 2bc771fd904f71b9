"""`GET /v1/models` and `GET /v1/models/{id}` (section 1.5)."""

from __future__ import annotations

from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.connection import ResponseWriter
from tests.fake_api.json_values import JsonObject
from tests.fake_api.record import RecordedRequest
from tests.fake_api.refused import Refused
from tests.fake_api.responses import respond_json
from tests.fake_api.rules.compaction import COMPACTION_BETA
from tests.fake_api.state import FakeState

_YES: JsonObject = {"supported": True}
_NO: JsonObject = {"supported": False}


async def answer_list(state: FakeState, record: RecordedRequest, response: ResponseWriter) -> None:
    """All models on one page, newest first."""
    unique = {facts.id: facts for facts in state.models.values()}
    data = [model_info(facts, compaction=COMPACTION_BETA in record.betas) for facts in unique.values()]
    await respond_json(
        response,
        record,
        {
            "data": data,
            "has_more": False,
            "first_id": data[0]["id"],
            "last_id": data[-1]["id"],
        },
    )


async def answer_one(state: FakeState, record: RecordedRequest, response: ResponseWriter, name: str) -> None:
    """One model by id or alias. Raises `Refused` (404)."""
    facts = state.models.get(name)
    if facts is None:
        raise Refused(404, "not_found_error", f"model: {name}")
    await respond_json(response, record, model_info(facts, compaction=COMPACTION_BETA in record.betas))


def model_info(facts: ModelFacts, *, compaction: bool = False) -> JsonObject:
    """A model as the Models API describes it; with `compaction` also what is told only to those who sent the beta header (section 2.4)."""
    info = _info(facts)
    if compaction:
        supported = _YES if facts.compacts else _NO
        info["capabilities"] |= {"compaction": {**supported, "summarize": supported}}
    return info


def _info(facts: ModelFacts) -> JsonObject:
    return {
        "type": "model",
        "id": facts.id,
        "display_name": facts.display_name,
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active" if facts.retires is None else "deprecated",
        "deprecated_at": None if facts.retires is None else "2026-05-01T00:00:00Z",
        "retires_at": facts.retires,
        "line": facts.line,
        "max_input_tokens": facts.window,
        "max_tokens": facts.max_output,
        "capabilities": {
            "batch": _YES,
            "citations": _YES,
            "code_execution": _NO,
            "context_management": {
                "supported": False,
                "clear_thinking_20251015": _NO,
                "clear_tool_uses_20250919": _NO,
                "compact_20260112": _NO,
            },
            "effort": {
                "supported": True,
                **dict.fromkeys(("low", "medium", "high", "xhigh", "max"), _YES),
            },
            "image_input": _YES if facts.takes_images else _NO,
            "pdf_input": _YES if facts.takes_pdfs else _NO,
            "server_tools": {
                "supported": facts.searches,
                "code_execution": _NO,
                "web_search": _YES if facts.searches else _NO,
            },
            "structured_outputs": _YES,
            "thinking": {
                "supported": True,
                "types": {
                    name: _YES if name in facts.thinking_types else _NO for name in ("adaptive", "between_tools", "disabled", "enabled")
                },
            },
        },
    }
