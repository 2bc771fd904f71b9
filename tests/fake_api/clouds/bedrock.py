"""The runtime of Amazon Bedrock with Claude: signed requests, a binary stream, models by profiles of inference.

What the model itself refuses and answers is the fake's own. Sources: the API references of Amazon Bedrock, the service model of botocore,
and error reports in public issue trackers for wordings. Nothing was tried against the live service.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from tests.fake_api.accepted import accept_count
from tests.fake_api.catalogue import MODELS, ModelFacts
from tests.fake_api.clouds.frames import FrameWriter, respond_error
from tests.fake_api.clouds.sigv4 import AwsKey, check_signature
from tests.fake_api.connection import HttpRequest, ResponseWriter
from tests.fake_api.control import answer_control, is_control
from tests.fake_api.json_values import JsonObject, is_array, is_object
from tests.fake_api.messages_endpoint import answer_messages
from tests.fake_api.record import RecordedRequest
from tests.fake_api.refused import Refused
from tests.fake_api.routes import recorded
from tests.fake_api.script import Script
from tests.fake_api.server import FakeApi

INVOKE = "/model/{id}/invoke-with-response-stream"
VERSION = "bedrock-2023-05-31"
_MODEL = re.compile(r"/model/(?P<id>[^/]+)/(?P<operation>invoke-with-response-stream|count-tokens)")
_ID = re.compile(r"(?:(?P<where>global|us|eu|apac|jp|au|us-gov)\.)?anthropic\.(?P<name>claude-[a-z0-9-]+?)(?:-v\d(?::\d)?)?")


class FakeBedrock(FakeApi):
    """Bedrock over a real socket; see `FakeApi`.

    `aws` are the credentials whose signatures are accepted, `keys` the keys of Bedrock's own. `lists_models`: whether the account may list
    profiles. `may_count`: whether it may count.
    """

    reply_path = INVOKE

    def __init__(
        self,
        script: Script | None = None,
        *,
        models: Mapping[str, ModelFacts] = MODELS,
        windows: Mapping[str, int] | None = None,
        aws: Collection[AwsKey] = (),
        keys: Collection[str] = (),
        region: str = "us-east-1",
        lists_models: bool = True,
        may_count: bool = True,
    ) -> None:
        super().__init__(script, models=models, windows=windows, keys=keys, lists_models=lists_models)
        self._aws = {key.id: key for key in aws}
        self._keys = frozenset(keys)
        self._region = region
        self._may_count = may_count

    async def _handle(self, request: HttpRequest, response: ResponseWriter) -> None:
        if is_control(request):
            await answer_control(self.state, request, response)
            return
        found = _MODEL.fullmatch(request.path)
        is_reply = found is not None and found["operation"] == "invoke-with-response-stream"
        known = (
            replace(request, path=INVOKE, headers=_with_betas(request), body=self._as_messages(request, found["id"]))
            if found and is_reply
            else request
        )

        async def work(record: RecordedRequest) -> None:
            self._check_credentials(request)
            match request.method, request.path:
                case "GET", "/inference-profiles":
                    await self._list(response)
                case "POST", _ if found is not None and is_reply:
                    _check_invocation(request)
                    self._check_model(found["id"])
                    await answer_messages(self.state, record, FrameWriter(response))
                case "POST", _ if found is not None:
                    await self._count(request, found["id"], record, response)
                case _:
                    raise Refused(404, "UnknownOperationException", "")

        async def refuse(record: RecordedRequest, refused: Refused) -> None:
            record.error = refused.message
            await respond_error(response, refused.status, refused.error_type, refused.message)

        await recorded(self.state, known, response, work, refuse)

    def _check_credentials(self, request: HttpRequest) -> None:
        bearer = request.headers.get("authorization", "")
        if not bearer.startswith("Bearer "):
            check_signature(request, self._aws, self._region, "bedrock")
        elif bearer.removeprefix("Bearer ") not in self._keys:
            raise Refused(403, "AccessDeniedException", "Authentication failed: Please make sure your API Key is valid.")

    def _as_messages(self, request: HttpRequest, id: str) -> bytes:
        """The body as the Messages API would get it."""
        body = _object(request.body)
        inner = {name: value for name, value in body.items() if name not in ("anthropic_version", "anthropic_beta")}
        return json.dumps({"model": self._name(id), "stream": True, **inner}).encode()

    def _name(self, id: str) -> str:
        found = _ID.fullmatch(unquote(id))
        return found["name"] if found else unquote(id)

    def _check_model(self, id: str) -> None:
        found = _ID.fullmatch(unquote(id))
        if found is None or found["name"] not in self.state.models:
            raise Refused(400, "ValidationException", "The provided model identifier is invalid.")
        if not found["where"]:
            told = f"Invocation of model ID {unquote(id)} with on-demand throughput isn’t supported. Retry your request with the ID or"
            raise Refused(400, "ValidationException", f"{told} ARN of an inference profile that contains this model.")

    async def _count(self, request: HttpRequest, id: str, record: RecordedRequest, response: ResponseWriter) -> None:
        found = _ID.fullmatch(unquote(id))
        if found is None or found["where"] or not self._may_count:
            raise Refused(400, "ValidationException", "The provided model doesn't support counting tokens.")
        asked: Any = _object(request.body).get("input")
        try:
            inner = base64.b64decode(asked["invokeModel"]["body"], validate=True)
        except (KeyError, TypeError, binascii.Error):
            raise Refused(400, "ValidationException", "Member must satisfy constraint: input.invokeModel.body") from None
        _check_invocation(replace(request, body=inner))
        record.body = json.loads(self._as_messages(replace(request, body=inner), id))
        record.headers = _with_betas(replace(request, body=inner))
        await response.respond(
            200, {"content-type": "application/json"}, json.dumps({"inputTokens": accept_count(self.state, record)}).encode()
        )

    async def _list(self, response: ResponseWriter) -> None:
        if not self.state.lists_models:
            told = "User: arn:aws:iam::111122223333:user/test is not authorized to perform: bedrock:ListInferenceProfiles"
            raise Refused(403, "AccessDeniedException", told)
        unique = {facts.id: facts for facts in self.state.models.values()}
        profiles = [
            {
                "inferenceProfileId": f"{where}.anthropic.{facts.id}",
                "inferenceProfileName": f"{where.upper()} Anthropic {facts.display_name}",
                "status": "ACTIVE",
                "type": "SYSTEM_DEFINED",
            }
            for facts in unique.values()
            for where in ("global", "us")
        ]
        other = {
            "inferenceProfileId": "us.meta.llama4-scout",
            "inferenceProfileName": "Llama",
            "status": "ACTIVE",
            "type": "SYSTEM_DEFINED",
        }
        listed = json.dumps({"inferenceProfileSummaries": [*profiles, other]}).encode()
        await response.respond(200, {"content-type": "application/json"}, listed)


def _check_invocation(request: HttpRequest) -> None:
    body = _object(request.body)
    if body.get("anthropic_version") != VERSION:
        raise Refused(400, "ValidationException", f"anthropic_version: Input should be '{VERSION}'")
    for name in ("model", "stream"):
        if name in body:
            raise Refused(400, "ValidationException", f"{name}: Extra inputs are not permitted")
    if "anthropic_beta" in body and not is_array(body["anthropic_beta"]):
        raise Refused(400, "ValidationException", "anthropic_beta: Input should be a valid list")
    if request.headers.get("anthropic-beta"):
        raise Refused(400, "ValidationException", "betas are named in the body here")  # the real one passes over the header


def _with_betas(request: HttpRequest) -> dict[str, str]:
    betas = _object(request.body).get("anthropic_beta")
    named = ",".join(str(each) for each in betas) if is_array(betas) else ""
    return {**request.headers, **({"anthropic-beta": named} if named else {})}


def _object(body: bytes | None) -> JsonObject:
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        raise Refused(400, "ValidationException", "Malformed input request, please reformat your input and try again.") from None
    return value if is_object(value) else {}
