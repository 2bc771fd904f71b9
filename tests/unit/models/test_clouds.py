"""Conversations with Claude in Bedrock and Vertex, over real sockets: the SDK's clients against fakes that refuse as the clouds do."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.fake_api import Call, EndsAfter, ErrorAfter, Fail, FakeApi, HoldsAfter, Html, ResetsAfter, Say, Think
from tests.fake_api import Reply as Scripted
from tests.fake_api.clouds import FakeBedrock, FakeVertex
from tests.fake_api.clouds.sigv4 import AwsKey
from ullage.context.blocks import Json, Message, SystemPart, Text, ToolSpec, ToolUse
from ullage.context.entries import AssistantReply, Entry, Logged, Prelude, ToolReturned, UserPrompt
from ullage.context.view.projection import Projection
from ullage.context.view.request import Request, build_request
from ullage.models.anthropic_model import AnthropicModel
from ullage.models.clouds import bedrock, vertex
from ullage.models.clouds.bedrock import BedrockWire
from ullage.models.clouds.places import Clouds
from ullage.models.clouds.vertex import VertexWire
from ullage.models.errors import (
    AuthenticationFailed,
    EndpointUnreachable,
    ListRefused,
    ModelError,
    NotSetUp,
    Overloaded,
    PromptTooLong,
    RequestRefused,
    StreamBroken,
    UnknownModel,
)
from ullage.models.model import ModelEvent, Reply, Retrying, TextDelta, ThinkingDelta, ToolInputDelta

AWS = AwsKey("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
"""Amazon's own example of a key."""
SESSION = AwsKey("ASIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "a+session/token==")
KEY = "ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl"
PROFILE = "us.anthropic.claude-opus-5-5"
MODEL = "claude-opus-5-5"
SYSTEM = "You are Ullage. " * 400

naps: list[float] = []


def _not_there(name: str) -> None:
    """In place of `find_spec`."""


async def nap(seconds: float) -> None:
    naps.append(seconds)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # pyright: ignore[reportUnusedFunction]
    """No credentials but those of the test: not of this machine's user, and no machine that gives some out."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "CLOUD_ML_REGION", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "aws-credentials"))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    naps.clear()


def profile_of(tmp_path: Path, key: AwsKey, name: str = "default") -> None:
    """Writes the credentials where AWS's own tools keep them."""
    token = f"aws_session_token = {key.token}\n" if key.token else ""
    text = f"[{name}]\naws_access_key_id = {key.id}\naws_secret_access_key = {key.secret}\n{token}"
    (tmp_path / "aws-credentials").write_text(text, encoding="utf-8")


_made: list[AnthropicModel] = []


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    for model in _made:
        await model.aclose()
    _made.clear()


def made(model: AnthropicModel) -> AnthropicModel:
    _made.append(model)
    return model


def at_bedrock(
    fake: FakeApi, *, name: str = PROFILE, key: str | None = KEY, region: str = "us-east-1", profile: str = ""
) -> AnthropicModel:
    clouds = Clouds(bedrock_region=region, bedrock_profile=profile, bedrock_base_url=fake.base_url)
    return made(AnthropicModel(name, wire=BedrockWire(name, clouds, key), sleep=nap, dice=lambda: 0.0))


def at_vertex(fake: FakeVertex, *, name: str = MODEL, project: str = "", region: str = "") -> AnthropicModel:
    clouds = Clouds(vertex_region=region, vertex_project=project, vertex_base_url=fake.address)
    return made(AnthropicModel(name, wire=VertexWire(name, clouds), sleep=nap, dice=lambda: 0.0))


class Talk:
    """A conversation: the real log and view, a real socket."""

    def __init__(self, model: AnthropicModel) -> None:
        self.model = model
        self.projection = Projection()
        schema: dict[str, Json] = {"type": "object", "properties": {"command": {"type": "string"}}}
        self.prelude = Prelude((SystemPart("system", SYSTEM),), (ToolSpec("bash", "Runs a command.", schema),))
        self._log(self.prelude)

    def _log(self, entry: Entry) -> None:
        self.projection.append(Logged(len(self.projection.entries) + 1, 0.0, entry))

    async def say(self, text: str) -> list[ModelEvent]:
        """The prompt and all that comes of it; tools that are called return `done`."""
        self._log(UserPrompt("p", text))
        return await self.go_on()

    async def go_on(self) -> list[ModelEvent]:
        events = [event async for event in self.model.stream(build_request(self.projection), 1_000)]
        reply = events[-1]
        assert isinstance(reply, Reply)
        self._log(AssistantReply("r", reply.blocks, reply.model, reply.stop_reason, reply.usage))
        for block in reply.blocks:
            if isinstance(block, ToolUse):
                self._log(ToolReturned(block.id, block.name, "done", False, 4))
        return events


@pytest.fixture(params=["bedrock with a key", "bedrock signed", "bedrock signed for a session", "vertex"])
async def cloud(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[FakeApi, AnthropicModel]]:
    """A fake and a model that asks it."""
    if request.param == "vertex":
        async with FakeVertex() as fake:
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(fake.write_account(tmp_path)))
            yield fake, at_vertex(fake)
        return
    key = {"bedrock signed": AWS, "bedrock signed for a session": SESSION}.get(request.param)
    if key is not None:
        profile_of(tmp_path, key)
    async with FakeBedrock(aws=(AWS, SESSION), keys=(KEY,)) as fake:
        yield fake, at_bedrock(fake, key=None if key else KEY)


async def test_a_turn_with_thinking_and_a_tool(cloud: tuple[FakeApi, AnthropicModel]) -> None:
    fake, model = cloud
    fake.enqueue([Think("Which file?"), Say("I look."), Call("bash", {"command": "ls — 世界"})], Say("It is done."))
    talk = Talk(model)
    events = await talk.say("What is there?")
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Which file?"
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "I look."
    assert any(isinstance(event, ToolInputDelta) for event in events)
    reply = events[-1]
    assert isinstance(reply, Reply)
    assert reply.stop_reason == "tool_use"
    assert reply.usage is not None
    assert reply.usage.cache_write_5m_tokens > 0
    second = (await talk.go_on())[-1]
    assert isinstance(second, Reply)
    assert second.usage is not None
    assert second.usage.cache_read_tokens > 0
    assert fake.requests[1].input is not None  # thinking went back unchanged: the fake would have refused it otherwise
    assert naps == []


async def test_the_request_is_that_of_the_cloud(cloud: tuple[FakeApi, AnthropicModel]) -> None:
    fake, model = cloud
    fake.enqueue(Say("Hi."))
    await Talk(model).say("Hello")
    (sent,) = fake.requests
    assert sent.status == 200
    assert sent.headers["accept-encoding"] == "identity"
    assert "x-api-key" not in sent.headers


async def test_a_count(cloud: tuple[FakeApi, AnthropicModel]) -> None:
    fake, model = cloud
    fake.enqueue(Say("Hi."))
    talk = Talk(model)
    reply = (await talk.say("Hello"))[-1]
    assert isinstance(reply, Reply)
    assert reply.usage is not None
    request = Request(talk.prelude.system, talk.prelude.tools, (Message("user", (Text("Hello"),), (1,)),), ())
    assert await model.count(request) == reply.usage.total_input_tokens


async def test_a_cloud_that_does_not_count_is_asked_once() -> None:
    async with FakeBedrock(keys=(KEY,), may_count=False) as fake:
        model = at_bedrock(fake)
        request = Request((), (), (Message("user", (Text("Hello"),), (1,)),), ())
        assert [await model.count(request), await model.count(request)] == [None, None]
        assert len(fake.all_requests) == 1


@pytest.mark.parametrize("cut", [EndsAfter(2), ResetsAfter(2)])
async def test_a_reply_that_is_cut_off_is_said_and_can_be_asked_for_again(cloud: tuple[FakeApi, AnthropicModel], cut: EndsAfter) -> None:
    fake, model = cloud
    fake.enqueue(Scripted((Say("All of this text."),), chunk_size=4, interruption=cut), Say("All."))
    talk = Talk(model)
    with pytest.raises(StreamBroken):
        await talk.say("Hello")
    assert isinstance((await talk.go_on())[-1], Reply)


async def test_an_error_inside_a_reply_is_said(cloud: tuple[FakeApi, AnthropicModel]) -> None:
    fake, model = cloud
    cut = ErrorAfter(1, "rate_limit_error", "Too many tokens, please wait before trying again.")
    fake.enqueue(Scripted((Say("All of this text."),), chunk_size=4, interruption=cut))
    with pytest.raises(ModelError, match="Too many tokens"):
        await Talk(model).say("Hello")


async def test_a_busy_cloud_is_asked_again(cloud: tuple[FakeApi, AnthropicModel]) -> None:
    fake, model = cloud
    fake.enqueue(Fail(429, "rate_limit_error", "Too many requests"), Fail(503, "overloaded_error", "Busy"), Say("Hi."))
    events = await Talk(model).say("Hello")
    assert [event.attempt for event in events if isinstance(event, Retrying)] == [2, 3]


async def test_a_call_that_is_left_ends(cloud: tuple[FakeApi, AnthropicModel]) -> None:
    fake, model = cloud
    fake.enqueue(Scripted((Say("All of this text."),), chunk_size=4, interruption=HoldsAfter(1)))
    stream = model.stream(Request((), (), (Message("user", (Text("Hello"),), (1,)),), ()), 100)
    assert isinstance(await anext(stream), TextDelta)
    await stream.aclose()
    (record,) = await fake.until_ended(1)
    assert record.state == "abandoned"


async def test_a_web_page_is_no_reply(cloud: tuple[FakeApi, AnthropicModel]) -> None:
    fake, model = cloud
    fake.enqueue(Html(200, "<h1>Sign in</h1>"))
    with pytest.raises(EndpointUnreachable, match="answers, but not as"):
        await Talk(model).say("Hello")


async def test_a_prompt_that_is_too_long_says_by_how_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeBedrock(keys=(KEY,), windows={MODEL: 1_100}) as fake, FakeVertex(windows={MODEL: 1_100}) as other:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(other.write_account(tmp_path)))
        for model in (at_bedrock(fake), at_vertex(other)):
            with pytest.raises(PromptTooLong) as caught:
                await Talk(model).say("Hello")
            assert caught.value.window == 1_100
            assert (await model.card()).window == 1_100
        fake.enqueue(Fail(400, "ValidationException", "Input is too long for requested model."))
        fake.state.models = {**fake.state.models, MODEL: other.state.models["claude-opus-5"]}
        with pytest.raises(PromptTooLong):
            await Talk(at_bedrock(fake)).say("Hello")


BEDROCK_REFUSALS: list[tuple[Fail, type[ModelError], str]] = [
    (Fail(403, "ExpiredTokenException", "The security token included in the request is expired"), AuthenticationFailed, "have expired"),
    (Fail(403, "InvalidSignatureException", "Signature expired: 20261125T000000Z is now earlier"), AuthenticationFailed, "clock"),
    (
        Fail(403, "UnrecognizedClientException", "The security token included in the request is invalid."),
        AuthenticationFailed,
        "AWS_PROFILE",
    ),
    (
        Fail(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
        AuthenticationFailed,
        "Ask for it in the console of Bedrock",
    ),
    (
        Fail(403, "AccessDeniedException", "User: x is not authorized to perform: bedrock:InvokeModelWithResponseStream"),
        AuthenticationFailed,
        "They need the permission",
    ),
    (
        Fail(404, "ResourceNotFoundException", "Model use case details have not been submitted for this account."),
        AuthenticationFailed,
        "wants something of this account first",
    ),
    (Fail(404, "ResourceNotFoundException", "This model version has reached the end of its life."), UnknownModel, "Bedrock: Region"),
    (Fail(429, "ThrottlingException", "Too many tokens per day, please wait before trying again."), Overloaded, "quota of this account"),
    (Fail(400, "ServiceQuotaExceededException", "You have exceeded your service quota."), Overloaded, "quota of this account"),
    (Fail(400, "ValidationException", "tools.0: something"), RequestRefused, "tools.0: something"),
]


@pytest.mark.parametrize(
    ("fail", "kind", "words"), BEDROCK_REFUSALS, ids=lambda value: value.message[:30] if isinstance(value, Fail) else ""
)
async def test_what_bedrock_refuses_is_said_with_what_to_do(fail: Fail, kind: type[ModelError], words: str) -> None:
    async with FakeBedrock(keys=(KEY,)) as fake:
        fake.enqueue(fail, Say("Again."))
        talk = Talk(at_bedrock(fake))
        with pytest.raises(kind, match=words) as caught:
            await talk.say("Hello")
        assert fail.message[:20] in str(caught.value)
        assert naps == []  # no waiting helps
        assert isinstance((await talk.go_on())[-1], Reply)  # and nothing is lost


VERTEX_REFUSALS: list[tuple[Fail, type[ModelError], str]] = [
    (Fail(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."), AuthenticationFailed, "gcloud auth"),
    (
        Fail(403, "PERMISSION_DENIED", "Vertex AI API has not been used in project 12 before or it is disabled."),
        AuthenticationFailed,
        "is not enabled",
    ),
    (Fail(403, "PERMISSION_DENIED", "This API method requires billing to be enabled."), AuthenticationFailed, "Enable billing"),
    (Fail(403, "PERMISSION_DENIED", "Permission 'aiplatform.endpoints.predict' denied"), AuthenticationFailed, "Vertex AI User"),
    (Fail(400, "FAILED_PRECONDITION", "Publisher Model is not servable in region eu."), UnknownModel, "Vertex: Region"),
    (Fail(429, "RESOURCE_EXHAUSTED", "Quota exceeded for requests per day with base model: claude"), Overloaded, "quota of this project"),
    (Fail(400, "invalid_request_error", "tools.0: something"), RequestRefused, "tools.0: something"),
]


@pytest.mark.parametrize(
    ("fail", "kind", "words"), VERTEX_REFUSALS, ids=lambda value: value.message[:30] if isinstance(value, Fail) else ""
)
async def test_what_vertex_refuses_is_said_with_what_to_do(
    fail: Fail, kind: type[ModelError], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeVertex() as fake:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(fake.write_account(tmp_path)))
        fake.enqueue(fail, Say("Again."))
        talk = Talk(at_vertex(fake))
        with pytest.raises(kind, match=words) as caught:
            await talk.say("Hello")
        assert fail.message[:20] in str(caught.value)
        assert naps == []
        assert isinstance((await talk.go_on())[-1], Reply)


async def said_of(model: AnthropicModel, kind: type[ModelError]) -> str:
    with pytest.raises(kind) as caught:
        await Talk(model).say("Hello")
    return str(caught.value)


async def test_bedrock_without_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeBedrock(aws=(AWS,), keys=(KEY,)) as fake:
        assert "There are no credentials" in await said_of(at_bedrock(fake, key=None), AuthenticationFailed)
        assert bedrock.NO_REGION in await said_of(at_bedrock(fake, region=""), NotSetUp)
        assert "no region of AWS" in await said_of(at_bedrock(fake, region="us-east-1.evil.example/"), NotSetUp)
        assert "(elsewhere)" in await said_of(at_bedrock(fake, key=None, profile="elsewhere"), AuthenticationFailed)
        assert "API Key is valid" in await said_of(at_bedrock(fake, key="ABSKwrong"), AuthenticationFailed)
        profile_of(tmp_path, AwsKey(AWS.id, "another"))
        assert "signature" in await said_of(at_bedrock(fake, key=None), AuthenticationFailed)
        assert "does not know the model" in await said_of(at_bedrock(fake, name="anthropic.claude-9"), UnknownModel)
        told = await said_of(at_bedrock(fake, name="anthropic.claude-opus-5-5"), UnknownModel)
        assert "`us.anthropic.claude-opus-5-5`" in told
        monkeypatch.setattr(bedrock, "find_spec", _not_there)
        assert await said_of(at_bedrock(fake, key=None), NotSetUp) == bedrock.NO_PACKAGE
        fake.enqueue(Say("Hi."))
        await Talk(at_bedrock(fake)).say("Hello")  # a key of Bedrock's own needs no package


async def test_a_profile_goes_before_a_key_and_brings_its_region(tmp_path: Path) -> None:
    profile_of(tmp_path, SESSION, "work")
    (tmp_path / "aws-config").write_text("[profile work]\nregion = eu-west-1\n", encoding="utf-8")
    async with FakeBedrock(aws=(SESSION,), region="eu-west-1") as fake:
        fake.enqueue(Say("Hi."))
        await Talk(at_bedrock(fake, key=KEY, region="", profile="work")).say("Hello")


async def test_vertex_without_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeVertex() as fake:
        assert vertex.NO_CREDENTIALS in await said_of(at_vertex(fake), AuthenticationFailed)
        broken = tmp_path / "broken.json"
        broken.write_text("{", encoding="utf-8")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(broken))
        assert "broken.json cannot be used" in await said_of(at_vertex(fake), AuthenticationFailed)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(fake.write_account(tmp_path)))
        assert "no id of a Google Cloud project" in await said_of(at_vertex(fake, project="../other"), NotSetUp)
        assert "no region of Google Cloud" in await said_of(at_vertex(fake, region="eu.evil.example/"), NotSetUp)
        assert "another-project" in await said_of(at_vertex(fake, project="another-project"), AuthenticationFailed)
        assert "does not have the model `claude-9`" in await said_of(at_vertex(fake, name="claude-9"), UnknownModel)
        fake.refuses_account = True
        assert "cannot be used" in await said_of(at_vertex(fake), AuthenticationFailed)
        monkeypatch.setattr(vertex, "find_spec", _not_there)
        assert await said_of(at_vertex(fake), NotSetUp) == vertex.NO_PACKAGE


async def test_who_has_signed_in_meanwhile_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeVertex() as fake:
        model = at_vertex(fake)
        assert vertex.NO_CREDENTIALS in await said_of(model, AuthenticationFailed)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(fake.write_account(tmp_path)))
        fake.enqueue(Say("Hi."))
        await Talk(model).say("Hello")


async def test_credentials_that_have_run_out_are_looked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile_of(tmp_path, AwsKey(SESSION.id, SESSION.secret, "of yesterday"))
    async with FakeBedrock(aws=(SESSION,)) as fake:
        talk = Talk(at_bedrock(fake, key=None))
        with pytest.raises(AuthenticationFailed, match="does not accept the credentials"):
            await talk.say("Hello")
        profile_of(tmp_path, SESSION)
        fake.enqueue(Say("Hi."))
        assert isinstance((await talk.go_on())[-1], Reply)
    async with FakeVertex() as other:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(other.write_account(tmp_path)))
        other.enqueue(Say("Hi."), Say("Again."))
        talk = Talk(at_vertex(other))
        await talk.say("Hello")
        other.tokens.clear()
        with pytest.raises(AuthenticationFailed, match="gcloud auth"):
            await talk.say("And now?")
        assert isinstance((await talk.go_on())[-1], Reply)


async def test_the_models_that_clouds_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeBedrock(keys=(KEY,)) as fake, FakeVertex() as other:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(other.write_account(tmp_path)))
        listed = {each.name: each for each in await at_bedrock(fake).offered()}
        assert listed["us.anthropic.claude-opus-5-5"].window == 1_000_000
        assert listed["us.anthropic.claude-opus-5-5"].display_name == "US Anthropic Claude Opus 5.5"
        assert not any("meta" in name for name in listed)
        assert (await at_vertex(other).offered())[0].name.startswith("claude-")
        fake.state.lists_models = other.state.lists_models = False
        for model in (at_bedrock(fake), at_vertex(other)):
            with pytest.raises(ListRefused):
                await model.offered()
        fake.state.lists_models = other.state.lists_models = True
        fake.state.models = other.state.models = {}
        for model in (at_bedrock(fake), at_vertex(other)):
            with pytest.raises(ListRefused, match="lists no model of Claude's"):
                await model.offered()


@pytest.mark.parametrize(
    ("card", "window", "prices"),
    [
        (lambda: BedrockWire("global.anthropic.claude-opus-5-5", Clouds(), None).expected(), 1_000_000, (4.0, 20.0, 0.2, 5.0)),
        (lambda: BedrockWire("us.anthropic.claude-opus-5-5", Clouds(), None).expected(), 1_000_000, (4.4, 22.0, 0.22, 5.5)),
        (lambda: BedrockWire("us-gov.anthropic.claude-opus-5-5", Clouds(), None).expected(), 1_000_000, (4.8, 24.0, 0.24, 6.0)),
        (lambda: BedrockWire("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", Clouds(), None).expected(), 200_000, (3.3, 16.5, 0.33, 4.125)),
        (
            lambda: BedrockWire("arn:aws:bedrock:x:1:inference-profile/eu.anthropic.claude-opus-4-6-v1", Clouds(), None).expected(),
            1_000_000,
            (5.5, 27.5, 0.55, 6.875),
        ),
        (lambda: BedrockWire("claude-opus-5-5", Clouds(), None).expected(), 1_000_000, (4.0, 20.0, 0.2, 5.0)),
        (lambda: BedrockWire("arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", Clouds(), None).expected(), 200_000, None),
        (lambda: VertexWire("claude-opus-5-5", Clouds()).expected(), 1_000_000, (4.0, 20.0, 0.2, 5.0)),
        (
            lambda: VertexWire("claude-haiku-4-5@20251001", Clouds(vertex_region="europe-west1")).expected(),
            200_000,
            (1.1, 5.5, 0.11, 1.375),
        ),
    ],
)
def test_windows_and_prices_are_known_by_the_clouds_names(
    card: Callable[[], object], window: int, prices: tuple[float, float, float, float] | None
) -> None:
    from ullage.models.model import ModelCard

    known = card()
    assert isinstance(known, ModelCard)
    assert known.window == window
    found = known.prices and (known.prices.input, known.prices.output, known.prices.cache_read, known.prices.cache_write_5m)
    assert found == prices


def test_a_page_is_the_clouds_own_and_holds_nothing_else() -> None:
    client: object = None
    page = BedrockWire("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Clouds(), KEY).page(client)  # pyright: ignore[reportArgumentType]
    assert page == "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream"
    page = BedrockWire("a/../b?x", Clouds(), KEY).page(client)  # pyright: ignore[reportArgumentType]
    assert page == "/model/a%2F..%2Fb%3Fx/invoke-with-response-stream"
    page = VertexWire("../x", Clouds(vertex_project="p")).page(client)  # pyright: ignore[reportArgumentType]
    assert page == "/projects/p/locations/global/publishers/anthropic/models/..%2Fx:streamRawPredict"


async def test_keys_are_not_repeated() -> None:
    async with FakeBedrock(keys=(KEY,)) as fake:
        secret = f"The Canonical String was 'x-amz-security-token:{SESSION.token} for {AWS.id}' with {KEY} and Signature={'a' * 64}"
        fake.enqueue(Fail(403, "InvalidSignatureException", secret))
        told = await said_of(at_bedrock(fake), AuthenticationFailed)
        assert all(hidden not in told for hidden in (str(SESSION.token), AWS.id, KEY, "a" * 64))
        assert base64.b64encode(KEY.encode()).decode() not in told
