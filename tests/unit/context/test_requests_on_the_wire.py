"""The strict fake's rules, on what is really sent: a second judge of every request, which shares no code with the view."""

from __future__ import annotations

import json

from hypothesis import given

from tests.fake_api.validation import validate_request
from tests.unit.context.logs import prompt
from tests.unit.context.pictures import kept
from tests.unit.context.strategies import histories
from ullage.context.entries import Logged
from ullage.context.view.projection import project
from ullage.context.view.request import build_request
from ullage.models.serialise import Serialiser, betas

MODEL = "claude-opus-5-5"


@given(histories())
def test_the_api_takes_every_request(log: list[Logged]):
    request = build_request(project([*log, Logged(len(log) + 1, 0.0, prompt("Go on, please."))]))
    body = Serialiser(kept).body(request, opening={"model": MODEL, "stream": True}, max_tokens=1_000, adaptive_thinking=True)
    validate_request(json.loads(body), betas=betas(request))
