"""Claude in Google Vertex AI, through the SDK's client for it.

Credentials are the Application Default Credentials of Google's own library (the extra `ullage[vertex]`): the file that
`GOOGLE_APPLICATION_CREDENTIALS` names, the one that `gcloud auth application-default login` wrote, or those of the machine. The search of
the library would run `gcloud` to ask for a project, so the two files are opened here, and no program is started.

The model stands in the page; betas are a header as at Anthropic's; a stream has server-sent events. Source: Anthropic's page "Claude on
Vertex AI", and the reference of Vertex AI for `publishers.models.list`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlsplit

from ullage.context.blocks import Json
from ullage.models.clouds.names import vertex_card
from ullage.models.clouds.places import Clouds, checked_project, google_address, google_project, google_region
from ullage.models.counting import CountPage
from ullage.models.endpoint_checks import mapping, mappings, word
from ullage.models.errors import VERTEX, CloudRefused, Endpoint, ListRefused, NotSetUp
from ullage.models.event_stream import events
from ullage.models.failures import understand
from ullage.models.model import ModelCard
from ullage.models.model_card import LIST_TIMEOUT, MOST_MODELS, NO_SUCH_PAGE, CardAnswer, OfferedModel
from ullage.models.transport import Transport
from ullage.models.wire import HEADERS, with_betas

if TYPE_CHECKING:
    from ullage.models.wire import Client, Connect

VERSION = "vertex-2023-10-16"
TITLE = "Google Vertex AI"
SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
FILE = "GOOGLE_APPLICATION_CREDENTIALS"

NO_PACKAGE = (
    "Google Vertex AI needs the package google-auth, which is not installed beside Ullage. Install it with "
    "`pip install ullage[vertex]` (in VS Code *Ullage: Connect a model…* does that)."
)
NO_PROJECT = (
    'Google Vertex AI is asked for a project, and none is set. Enter its id in the setting "Ullage › Vertex: Project", or set '
    "GOOGLE_CLOUD_PROJECT in the environment."
)
NO_CREDENTIALS = (
    "There are no credentials for Google Cloud on this machine. Sign in with `gcloud auth application-default login`, or name the file of "
    f"a service account in {FILE}."
)


class VertexWire:
    """The wire to one model in Vertex AI."""

    stream_kind = "text/event-stream"

    def __init__(self, name: str, clouds: Clouds, environment: Mapping[str, str] = os.environ) -> None:
        self._name = name
        self._environment = environment
        self._address = clouds.vertex_base_url.strip().rstrip("/")
        self._region = self._project = ""
        self._why_not: NotSetUp | None = None
        try:
            self._region = google_region(clouds, environment)
            self._project = google_project(clouds, environment)
        except NotSetUp as error:  # said by the first call, not where a model is only made
            self._why_not = error
        place = self._address or self._region
        self.endpoint = Endpoint(name, self._address, None, VERTEX, f"{TITLE} ({place})" if place else TITLE)

    @property
    def counting(self) -> CountPage:
        """The page of a project where tokens are counted. The project may be known from the credentials alone."""
        return CountPage(f"{self._models}/count-tokens:rawPredict")

    @property
    def _models(self) -> str:
        return f"/projects/{self._project}/locations/{self._region}/publishers/anthropic/models"

    def make_client(self, transport: Transport) -> Client:
        """Makes the SDK's client. Raises `NotSetUp` if package or project are missing, `CloudRefused` where there are no credentials."""
        from anthropic.lib.vertex import AsyncAnthropicVertex

        if self._why_not is not None:
            raise self._why_not
        if find_spec("google") is None or find_spec("google.auth") is None or find_spec("requests") is None:
            raise NotSetUp(NO_PACKAGE)
        credentials, of_file = default_credentials(self._environment)
        self._project = self._project or (checked_project(of_file) if of_file else "")
        if not self._project:
            raise NotSetUp(NO_PROJECT)
        return AsyncAnthropicVertex(
            region=self._region,
            project_id=self._project,
            credentials=credentials,
            base_url=self._address or google_address(self._region),
            max_retries=0,
            timeout=transport.timeout,
            default_headers=HEADERS,
            http_client=transport.http,
        )

    def page(self, client: Client) -> str:
        """The page where the model streams a reply."""
        return f"{self._models}/{quote(self._name, safe='@')}:streamRawPredict"

    def opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The beginning of the body: the version, and that the reply is streamed."""
        return {"anthropic_version": VERSION, "stream": True}

    def headers(self, betas: Sequence[str]) -> Mapping[str, str]:
        """The headers of a request, with the betas that are needed."""
        return with_betas(betas)

    def counted_opening(self, betas: Sequence[str]) -> Mapping[str, Json]:
        """The beginning of the body for counting. All models are counted for on one page, so the body names the model."""
        return {"anthropic_version": VERSION, "model": self._name}

    def events(self, pieces: AsyncIterable[bytes]) -> AsyncGenerator[Mapping[str, Json], None]:
        """The events of a streamed reply, read as server-sent events. Raises `Nonsense`."""
        return events(pieces)

    def expected(self) -> ModelCard:
        """The card by the model's name, without asking anybody."""
        return vertex_card(self._name, self._region)

    async def ask(self, connect: Connect) -> CardAnswer:
        """The card of `expected`: Vertex has no page that tells windows."""
        return CardAnswer(self.expected(), settled=True)

    async def offered(self, connect: Connect) -> tuple[OfferedModel, ...]:
        """The models that Anthropic publishes in Vertex AI. Not every project may use all of them. Raises `ModelError`; `ListRefused` where
        none are listed."""
        from anthropic import APIStatusError

        try:
            async with asyncio.timeout(LIST_TIMEOUT):
                client = await connect()
                parts = urlsplit(self._address or google_address(self._region))
                page = f"{parts.scheme}://{parts.netloc}/v1beta1/publishers/anthropic/models?pageSize=200"
                headers = {"x-goog-user-project": self._project}  # a user's own credentials have none
                listed = await client.get(page, cast_to=object, options={"headers": headers})
        except Exception as problem:
            if isinstance(problem, APIStatusError) and problem.status_code in (*NO_SUCH_PAGE, 403):
                raise ListRefused(f"{self.endpoint.name} does not list its models to you (HTTP {problem.status_code}).") from problem
            raise understand(problem, self.endpoint).error from problem
        published = mappings(mapping(listed).get("publisherModels"))
        found = [offered for each in published if (offered := self._offered(each)) is not None]
        if not found:
            raise ListRefused(f"{self.endpoint.name} answers, but lists no model of Claude's.")
        return tuple(found[:MOST_MODELS])

    def _offered(self, described: Mapping[str, object]) -> OfferedModel | None:
        name = word(described, "name").rpartition("/")[2]
        if not name.startswith("claude-"):
            return None
        version = word(described, "versionId")
        if version.isdigit() and len(version) == len("20250929"):
            name = f"{name}@{version}"
        card = vertex_card(name, self._region)
        return OfferedModel(name, card.display_name, card.window if card.source == "table" else None, card.prices)


def default_credentials(environment: Mapping[str, str]) -> tuple[Any, str]:
    """The Application Default Credentials of this user or machine, and the project that they name, if any.

    Raises `CloudRefused` if there are none, or they cannot be read.
    """
    auth, problems = cast("Any", import_module("google.auth")), cast("Any", import_module("google.auth.exceptions"))
    named = environment.get(FILE, "").strip()
    file = Path(named) if named else _file_of_gcloud(environment)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it warns of files of unknown origin; these are the user's own
            if named or file.is_file():
                credentials, project = auth.load_credentials_from_file(str(file), scopes=SCOPES)
            else:
                credentials, project = auth.default(scopes=SCOPES)
    except problems.DefaultCredentialsError as error:
        if named or file.is_file():
            raise CloudRefused(f"The credentials in {file} cannot be used: {str(error)[:300]}") from None
        raise CloudRefused(NO_CREDENTIALS) from None
    return credentials, str(project or "")


def _file_of_gcloud(environment: Mapping[str, str]) -> Path:
    """The file that `gcloud auth application-default login` writes (the rule of google-auth)."""
    if environment.get("CLOUDSDK_CONFIG"):
        folder = Path(environment["CLOUDSDK_CONFIG"])
    elif sys.platform == "win32":
        folder = Path(environment.get("APPDATA") or environment.get("SystemDrive", "C:") + "\\") / "gcloud"
    else:
        folder = Path.home() / ".config" / "gcloud"
    return folder / "application_default_credentials.json"
