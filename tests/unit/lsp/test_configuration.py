"""Settings are read once; a bad value is named and its default used."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.context.policies.table import BUILT_IN
from ullage.lsp.configuration import ServerOptions, read_options
from ullage.models.facts import ModelFacts
from ullage.session.reading_settings import name_on_the_page, read_settings
from ullage.session.settings import Settings

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["model", "name", "cap", "compaction", "x"]), inner, max_size=4)
    ),
    max_leaves=9,
)


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        (None, Settings()),
        ({}, Settings()),
        ({"model": None, "compaction": {"cap": None}}, Settings()),
        ({"server": {"command": ["ullage", "serve"], "interpreter": ""}}, Settings()),
        (
            {"model": {"name": "m", "baseUrl": "http://127.0.0.1:8080", "provider": "anthropic"}},
            Settings(model_name="m", base_url="http://127.0.0.1:8080", provider="anthropic"),
        ),
        (
            {"compaction": {"auto": False, "cap": 50_000, "summary": "digest"}},
            Settings(auto_compact=False, threshold_cap=50_000, summary_engine="digest"),
        ),
        ({"compaction": {"policy": "none"}}, Settings(policy_name="none")),
        (
            {
                "model": {
                    "provider": "openai",
                    "facts": {"gpt-5.5": {"window": 9_000, "images": False, "inputPrice": 1, "outputPrice": 2.5}},
                }
            },
            Settings(provider="openai", facts={"gpt-5.5": ModelFacts(window=9_000, images=False, input_price=1.0, output_price=2.5)}),
        ),
        (
            {"model": {"provider": "bedrock"}, "bedrock": {"region": "us-east-1", "profile": "work"}},
            Settings(provider="bedrock", bedrock_region="us-east-1", bedrock_profile="work"),
        ),
        (
            {"vertex": {"region": "eu", "project": "my-project-1", "baseUrl": "https://gw.example/v1"}},
            Settings(vertex_region="eu", vertex_project="my-project-1", vertex_base_url="https://gw.example/v1"),
        ),
        ({"instructions": {"home": False}}, Settings(home_files=False)),
        ({"hooks": {"enabled": False}}, Settings(hooks=False)),
        ({"store": {"versionsLimit": 16}}, Settings(versions_limit=16)),
        ({"bash": {"timeout": 2.5, "sandbox": "off"}}, Settings(bash_timeout=2.5, bash_sandbox="off")),
    ],
)
def test_what_is_given_is_used_and_the_rest_is_default(section: object, settings: Settings) -> None:
    assert read_settings(section, trusted=True) == (settings, [])


@pytest.mark.parametrize(
    ("area", "name", "value"),
    [
        ("model", "name", ""),
        ("model", "name", 4),
        ("bedrock", "region", "us-east-1.evil.example/"),
        ("bedrock", "profile", "a\nb"),
        ("bedrock", "baseUrl", "s3://x"),
        ("vertex", "region", "Global"),
        ("vertex", "project", "../other"),
        ("vertex", "baseUrl", 4),
        ("model", "facts", []),
        ("model", "facts", {"m": 4}),
        ("model", "facts", {"m": {"window": "large"}}),
        ("model", "facts", {"m": {"window": 12}}),
        ("model", "facts", {"m": {"maxOutput": 0}}),
        ("model", "facts", {"m": {"inputPrice": -1}}),
        ("model", "facts", {"m": {"inputPrice": True}}),
        ("model", "facts", {"m": {"cacheWritePrice": "1"}}),
        ("model", "facts", {"m": {"images": "yes"}}),
        ("model", "facts", {"m": {"price": 1}}),
        ("compaction", "auto", "yes"),
        ("compaction", "auto", 1),
        ("compaction", "cap", 999),
        ("compaction", "cap", 1e6),
        ("compaction", "cap", True),
        ("compaction", "summary", "none"),
        ("compaction", "policy", ""),
        ("compaction", "policy", "Ullage"),
        ("compaction", "policy", ["none"]),
        ("instructions", "home", 1),
        ("store", "versionsLimit", 15),
        ("store", "versionsLimit", 2.5e3),
        ("store", "versionsLimit", True),
        ("bash", "timeout", 0),
        ("bash", "timeout", "120"),
        ("bash", "timeout", float("inf")),
    ],
)
def test_a_bad_value_is_named_and_its_default_used(area: str, name: str, value: object) -> None:
    settings, complaints = read_settings({area: {name: value}}, trusted=True)
    assert settings == Settings()
    (complaint,) = complaints
    assert f'"{name_on_the_page(f"ullage.{area}.{name}")}" must be' in complaint


AZURE, NOWHERE = {"model": {"provider": "azure"}}, {"model": {"baseUrl": "localhost:8080"}}


@pytest.mark.parametrize(
    ("section", "named"),
    [
        (NOWHERE, "Model: Base Url"),
        ({"model": {"baseUrl": "ftp://host"}}, "Model: Base Url"),
        ({"model": {"baseUrl": "http://["}}, "Model: Base Url"),
        ({"model": {"baseUrl": 8080}}, "Model: Base Url"),
        ({"model": {"baseUrl": "localhost:8080", "provider": "openai"}}, "Model: Base Url"),
        (AZURE, "Model: Provider"),
        ({"model": {"provider": ["auto"]}}, "Model: Provider"),
        ({**AZURE, "vertex": {"region": "EU"}}, "Model: Provider"),
        ({"model": {"provider": "bedrock"}, "bedrock": {"region": "us-east-1.evil.example/"}}, "Bedrock: Region"),
        ({"model": {"provider": "bedrock"}, "bedrock": {"baseUrl": "s3://x"}}, "Bedrock: Base Url"),
        ({"model": {"provider": "vertex"}, "vertex": {"project": "../other"}}, "Vertex: Project"),
        ({"model.baseUrl": "http://127.0.0.1:8080"}, 'ullage."model.baseUrl"'),
        ({"ullage.model.baseUrl": "http://127.0.0.1:8080"}, 'ullage."ullage.model.baseUrl"'),
        ({"model": {"baseURL": "http://127.0.0.1:8080"}}, "ullage.model.baseURL"),
        ({"Model": {"Provider": "openai"}}, "ullage.Model.Provider"),
    ],
)
def test_where_it_is_not_known_where_to_ask_nobody_is_asked(section: object, named: str) -> None:
    """The default is Anthropic's own endpoint, with the key that the user gave for theirs."""
    settings, complaints = read_settings(section, trusted=True)
    assert settings.endpoint_fault.startswith("Nothing was sent: ")
    assert named in settings.endpoint_fault
    assert any(named in complaint for complaint in complaints)


@pytest.mark.parametrize(
    "section",
    [
        {"model": {"baseUrl": "localhost:8080", "provider": "bedrock"}},
        {"model": {"baseUrl": "localhost:8080", "provider": "practice"}},
        {"model": {"provider": "anthropic"}, "bedrock": {"region": "EU"}},
        {"vertex": {"region": "EU"}},
        {"model": {"api": "x", "url": "http://127.0.0.1:8080"}},
    ],
)
def test_what_does_not_say_where_the_model_is_asked_holds_nobody_up(section: object) -> None:
    settings, complaints = read_settings(section, trusted=True)
    assert (settings.endpoint_fault, len(complaints)) == ("", 1)


@pytest.mark.parametrize(
    ("section", "settings"),
    [
        ({"bash": {"sandbox": True}}, Settings(bash_sandbox="required")),
        ({"bash": {"sandbox": "Required"}}, Settings(bash_sandbox="required")),
        ({"permissions": {"ask": "all"}}, Settings(ask_for="everything")),
        ({"hooks": {"enabled": "no"}}, Settings(hooks=False)),
    ],
)
def test_a_bad_value_of_what_protects_counts_as_the_strictest(section: object, settings: Settings) -> None:
    read, (complaint,) = read_settings(section, trusted=True)
    assert read == settings
    assert "The strictest value, " in complaint


@pytest.mark.parametrize(
    ("section", "strictest"),
    [
        ({"bash": "required", "permissions": 5, "hooks": []}, {"bash_sandbox": "required", "ask_for": "everything", "hooks": False}),
        ("off", {"bash_sandbox": "required", "ask_for": "everything", "hooks": False}),
        ({"bash": None, "permissions": {}, "hooks": {"enabled": None}}, {}),
    ],
)
def test_what_stands_in_the_place_of_a_group_that_protects_counts_as_the_strictest(section: object, strictest: dict[str, Any]) -> None:
    settings, _ = read_settings(section, trusted=True)
    assert replace(settings, endpoint_fault="") == replace(Settings(), **strictest)


@pytest.mark.parametrize("section", [{"model": 5}, {"model": ["http://127.0.0.1:8080"]}, "http://127.0.0.1:8080", 3])
def test_what_stands_in_the_place_of_the_models_group_sends_nothing(section: object) -> None:
    settings, (complaint,) = read_settings(section, trusted=True)
    assert settings.endpoint_fault.startswith("Nothing was sent: ")
    assert "ullage" in complaint


def test_the_name_of_what_is_no_setting_is_shown_on_one_line_and_not_for_long() -> None:
    _, (complaint,) = read_settings({"a\n\u202eb": 1, "c" * 500: 2}, trusted=True)
    assert "a⏎\\u202eb" in complaint
    assert len(complaint) < 300


@pytest.mark.parametrize(
    ("section", "named"),
    [
        ({"model.name": "m"}, ['ullage."model.name"', "nested objects"]),
        ({"ullage.model.name": "m"}, ['ullage."ullage.model.name"', "nested objects"]),
        ({"model": {"name": "m"}, "compaction.cap": 9_000}, ['ullage."compaction.cap"', "nested objects"]),
        ({"unknown": {"a": 1}}, ["ullage.unknown.a"]),
        ({"compaction": {"limit": 1, "auto": False}, "model": {"api": "x"}}, ["ullage.compaction.limit", "ullage.model.api"]),
        ({"model": "claude"}, ["ullage.model"]),
        ({"ullage": {"model": {"name": "m"}}}, ["ullage.ullage.model"]),
        ([], ["no object"]),
        ("model.name=m", ["no object"]),
    ],
)
def test_what_is_no_setting_is_named_once_and_nothing_of_its_value(section: object, named: list[str]) -> None:
    _, (complaint,) = read_settings(section, trusted=True)
    assert [words for words in named if words not in complaint] == []
    assert "claude" not in complaint


def test_every_setting_of_the_extension_is_known_here() -> None:
    manifest = json.loads((Path(__file__).parents[3] / "client-extension/package.json").read_text("utf-8"))
    named = {name.removeprefix("ullage.") for group in manifest["contributes"]["configuration"] for name in group["properties"]}
    section: dict[str, dict[str, object]] = {}
    for area, _, key in (name.partition(".") for name in named):
        section.setdefault(area, {})[key] = {}  # of no setting's type
    _, complaints = read_settings(section, trusted=True)
    assert [complaint for complaint in complaints if "no such settings" in complaint] == []


ROOT = Path(__file__).parents[3]
MANIFEST = json.loads((ROOT / "client-extension/package.json").read_text("utf-8"))
DECLARED = {
    name.removeprefix("ullage."): each for group in MANIFEST["contributes"]["configuration"] for name, each in group["properties"].items()
}
DOCUMENTED = re.findall(r"^\| `([\w.]+)` \|[^|]*\| `([^`]*)`", (ROOT / "PROTOCOL.md").read_text("utf-8"), re.MULTILINE)


def test_the_manifest_has_the_defaults_of_the_product() -> None:
    section: dict[str, dict[str, object]] = {}
    for name, setting in DECLARED.items():
        area, _, key = name.partition(".")
        section.setdefault(area, {})[key] = setting["default"]
    settings, complaints = read_settings(section, trusted=True)
    assert complaints == []
    assert settings == Settings(), "client-extension/package.json differs from session/settings.py; `npm run generate` writes the cap there"


def test_the_protocol_names_the_same_defaults() -> None:
    named = {name: json.loads(default) for name, default in DOCUMENTED if name in DECLARED}
    assert len(named) >= 10
    assert named == {name: DECLARED[name]["default"] for name in named}, "PROTOCOL.md and client-extension/package.json differ"


def test_a_policy_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    _, [complaint] = read_settings({"compaction": {"policy": "nobody"}}, trusted=True)
    for name in BUILT_IN:
        assert f'"{name}"' in complaint
    assert "Its default, 'ullage', is used" in complaint


@given(JSON)
def test_nothing_that_an_editor_sends_is_fatal(section: Any) -> None:
    settings, _ = read_settings(section, trusted=False)
    assert not settings.trusted
    read_options(section)


@pytest.mark.parametrize(
    ("value", "options", "complaints"),
    [
        (None, ServerOptions(), 0),
        ({}, ServerOptions(), 0),
        ({"stateFolder": "/home/u/state", "trusted": False}, ServerOptions(Path("/home/u/state"), trusted=False), 0),
        ({"stateFolder": "relative", "trusted": None}, ServerOptions(), 1),
        ({"trusted": "no"}, ServerOptions(trusted=False), 1),
        ({"questions": True}, ServerOptions(questions=True), 0),
        ({"questions": "yes"}, ServerOptions(), 1),
        ([], ServerOptions(), 1),
    ],
)
def test_options_that_cannot_be_used_lift_nothing(value: object, options: ServerOptions, complaints: int) -> None:
    read, said = read_options(value)
    assert (read, len(said)) == (options, complaints)
