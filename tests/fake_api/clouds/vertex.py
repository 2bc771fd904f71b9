"""Vertex AI with Claude: a service account's tokens, the paths of project, region and model, Google's errors beside Anthropic's.

What the model itself refuses and answers is the fake's own. Sources: the reference of Vertex AI, Google's page on service accounts
("HTTP/REST" of OAuth 2.0), and error reports in public issue trackers for wordings. Nothing was tried against the live service.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.fake_api.accepted import accept_count
from tests.fake_api.catalogue import MODELS, ModelFacts
from tests.fake_api.connection import HttpRequest, ResponseWriter
from tests.fake_api.control import answer_control, is_control
from tests.fake_api.json_values import JsonObject, is_object
from tests.fake_api.messages_endpoint import answer_messages
from tests.fake_api.record import RecordedRequest
from tests.fake_api.refused import Refused
from tests.fake_api.responses import respond_json
from tests.fake_api.routes import recorded
from tests.fake_api.script import Script
from tests.fake_api.server import FakeApi

PREDICT = "/models/{model}:streamRawPredict"
VERSION = "vertex-2023-10-16"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PATH = re.compile(
    r"/v1/projects/(?P<project>[^/]+)/locations/(?P<region>[^/]+)/publishers/anthropic/models/(?P<model>[^/:]+):(?P<verb>streamRawPredict|rawPredict)"
)
_AUDIENCE = "https://oauth2.googleapis.com/token"
"""For whom accounts sign, whatever the address is that their file names."""
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class FakeVertex(FakeApi):
    """Vertex over a real socket; see `FakeApi`. Tokens come from its own page, for the key that `write_account` makes."""

    reply_path = PREDICT

    def __init__(
        self,
        script: Script | None = None,
        *,
        models: Mapping[str, ModelFacts] = MODELS,
        windows: Mapping[str, int] | None = None,
        compaction: bool = False,
        project: str = "test-project",
        region: str = "global",
        lists_models: bool = True,
        lifetime: int = 3_600,
    ) -> None:
        super().__init__(script, models=models, windows=windows, compaction=compaction, lists_models=lists_models)
        self.project = project
        self._region = region
        self._lifetime = lifetime
        self._key = _throw_away_key()
        self._email = f"tester@{project}.iam.gserviceaccount.com"
        self.tokens: list[str] = []
        """Those that were given out; to empty the list is to take them back."""
        self.refuses_account = False

    @property
    def address(self) -> str:
        """What stands for Google's own, with the version."""
        return f"{self.base_url}/v1"

    def write_account(self, folder: Path) -> Path:
        """The file of a service account, whose tokens are asked here."""
        pem = self._key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file = folder / "account.json"
        account = {
            "type": "service_account",
            "project_id": self.project,
            "private_key_id": "k1",
            "private_key": pem.decode(),
            "client_email": self._email,
            "client_id": "1",
            "token_uri": f"{self.base_url}/token",
        }
        file.write_text(json.dumps(account), encoding="utf-8")
        return file

    async def _handle(self, request: HttpRequest, response: ResponseWriter) -> None:
        if is_control(request):
            await answer_control(self.state, request, response)
            return
        found = _PATH.fullmatch(request.path)
        is_reply = found is not None and found["verb"] == "streamRawPredict"
        known = request
        if found is not None and is_reply:
            body = {"model": unquote(found["model"]).partition("@")[0], **_without_version(request)}
            known = replace(request, path=PREDICT, body=json.dumps(body).encode())

        async def work(record: RecordedRequest) -> None:
            if request.path == "/token":
                await self._give_token(request, response)
                return
            if record.key not in self.tokens:
                raise Refused(401, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 access token.")
            match request.method, request.path:
                case "GET", "/v1beta1/publishers/anthropic/models":
                    await self._list(record, response)
                case "POST", _ if found is not None:
                    self._check_place(found["project"], found["region"])
                    _check_body(request, counts=not is_reply)
                    if is_reply:
                        self._check_model(found["model"])
                        await answer_messages(self.state, record, _Words(response))
                    elif found["model"] == "count-tokens":
                        record.body = _without_version(request)
                        record.body["model"] = str(record.body.get("model")).partition("@")[0]
                        await respond_json(response, record, {"input_tokens": accept_count(self.state, record)})
                    else:
                        raise Refused(400, "INVALID_ARGUMENT", "This fake streams every reply")
                case _:
                    raise Refused(404, "NOT_FOUND", "Not Found")

        async def refuse(record: RecordedRequest, refused: Refused) -> None:
            record.error = refused.message
            await _respond_error(response, refused.status, refused.error_type, refused.message)

        await recorded(self.state, known, response, work, refuse)

    def _check_place(self, project: str, region: str) -> None:
        if project != self.project:
            told = f"Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/{project}'"
            raise Refused(403, "PERMISSION_DENIED", f"{told} (or it may not exist).")
        if region != self._region:
            raise Refused(400, "FAILED_PRECONDITION", f"Publisher Model is not servable in region {region}.")

    def _check_model(self, model: str) -> None:
        name = unquote(model)
        if name.partition("@")[0] not in self.state.models:
            where = f"projects/{self.project}/locations/{self._region}/publishers/anthropic/models/{name}"
            raise Refused(404, "NOT_FOUND", f"Publisher Model `{where}` was not found or your project does not have access to it.")

    async def _give_token(self, request: HttpRequest, response: ResponseWriter) -> None:
        form = parse_qs((request.body or b"").decode())
        claims = self._claims(form.get("assertion", [""])[0])
        good = form.get("grant_type") == [_GRANT] and claims.get("iss") == self._email and claims.get("aud") == _AUDIENCE
        if self.refuses_account or not good or claims.get("scope") != SCOPE:
            body = {"error": "invalid_grant", "error_description": "Invalid grant: account not found"}
            await response.respond(400, {"content-type": "application/json"}, json.dumps(body).encode())
            return
        self.tokens.append(f"ya29.fake-token-{len(self.tokens) + 1}")
        told = {"access_token": self.tokens[-1], "expires_in": self._lifetime, "token_type": "Bearer"}
        await response.respond(200, {"content-type": "application/json"}, json.dumps(told).encode())

    def _claims(self, assertion: str) -> JsonObject:
        """Of a token that the account's key has signed; empty where it is none."""
        head, _, rest = assertion.partition(".")
        payload, _, signature = rest.partition(".")
        try:
            self._key.public_key().verify(_unpacked(signature), f"{head}.{payload}".encode(), padding.PKCS1v15(), hashes.SHA256())
        except (InvalidSignature, ValueError):
            return {}
        value: Any = json.loads(_unpacked(payload))
        return value if is_object(value) else {}

    async def _list(self, record: RecordedRequest, response: ResponseWriter) -> None:
        if not self.state.lists_models:
            raise Refused(403, "PERMISSION_DENIED", "Permission 'aiplatform.publisherModels.list' denied")
        unique = {facts.id: facts for facts in self.state.models.values()}
        models = [{"name": f"publishers/anthropic/models/{facts.id}", "versionId": "default"} for facts in unique.values()]
        await respond_json(response, record, {"publisherModels": models})


class _Words(ResponseWriter):
    """Passes on what is sent; an error whose type is one of Google's goes into its envelope."""

    def __init__(self, inner: ResponseWriter) -> None:
        self._inner = inner
        self.status = None
        self.start, self.send, self.finish, self.reset = inner.start, inner.send, inner.finish, inner.reset

    async def respond(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        told: Any = json.loads(body) if body.startswith(b"{") else {}
        kind: str = told.get("error", {}).get("type", "") if told.get("type") == "error" else ""
        if kind.isupper():
            kept = {name: value for name, value in headers.items() if name not in ("content-type", "content-length")}
            await _respond_error(self._inner, status, kind, told["error"]["message"], kept)
        else:
            await self._inner.respond(status, headers, body)


async def _respond_error(response: ResponseWriter, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
    body = (
        {"error": {"code": status, "message": message, "status": kind}}
        if kind.isupper()
        else {"type": "error", "error": {"type": kind, "message": message}}
    )
    await response.respond(status, {**(headers or {}), "content-type": "application/json"}, json.dumps(body).encode())


@cache
def _throw_away_key() -> rsa.RSAPrivateKey:
    """Made once: it takes a tenth of a second and more."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


def _check_body(request: HttpRequest, *, counts: bool) -> None:
    body = _object(request)
    if body.get("anthropic_version") != VERSION:
        raise Refused(400, "invalid_request_error", f"anthropic_version: Input should be '{VERSION}'")
    if "model" in body and not counts:
        raise Refused(400, "invalid_request_error", "model: Extra inputs are not permitted")
    if request.headers.get("anthropic-version"):
        return  # the real one passes over the header


def _without_version(request: HttpRequest) -> JsonObject:
    return {name: value for name, value in _object(request).items() if name != "anthropic_version"}


def _object(request: HttpRequest) -> JsonObject:
    try:
        value = json.loads(request.body or b"{}")
    except ValueError:
        return {}
    return value if is_object(value) else {}


def _unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
