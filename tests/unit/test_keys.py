"""Which key goes where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ullage.starting import Keys

ALL = Keys("own", "sk-ant", "sk-openai", "ABSK-bedrock")
PROXY, ANTHROPIC = "http://127.0.0.1:8080", "https://api.anthropic.com"


def given_for(address: str) -> Keys:
    return replace(ALL, own_address=address)


@pytest.mark.parametrize(
    ("keys", "provider", "base_url", "expected"),
    [
        (ALL, "auto", "", "own"),
        (ALL, "anthropic", "http://127.0.0.1:8080", "own"),
        (ALL, "openai", "https://openrouter.ai/api/v1", "own"),
        (ALL, "openai", "", "sk-openai"),  # the stored key is for the address that is set, and none is
        (Keys(anthropic=" sk-ant\n"), "auto", "", "sk-ant"),
        (Keys(anthropic="sk-ant"), "openai", "", None),
        (Keys(anthropic="sk-ant"), "openai", "https://openrouter.ai/api/v1", None),
        (Keys(openai="sk-openai"), "openai", "https://api.openai.com/v1", "sk-openai"),
        (Keys(openai="sk-openai"), "openai", "https://openrouter.ai/api/v1", None),
        (Keys(openai="sk-openai"), "openai", "http://api.openai.com/v1", None),
        (Keys(openai="sk-openai"), "openai", "https://api.openai.com@evil.example/v1", None),
        (Keys(openai="sk-openai"), "openai", "https://api.openai.com.evil.example/v1", None),
        (Keys(openai="sk-openai"), "openai", "http://[", None),
        (Keys(openai="sk-openai"), "anthropic", "", None),
        (Keys(own="own"), "openai", "", None),
        (ALL, "bedrock", "", "ABSK-bedrock"),
        (ALL, "bedrock", "http://127.0.0.1:8080", "ABSK-bedrock"),  # that address is not where a cloud is asked
        (Keys(own="own", anthropic="sk-ant"), "bedrock", "", None),
        (ALL, "vertex", "", None),
        (given_for(PROXY), "auto", PROXY, "own"),
        (given_for(PROXY), "auto", f" {PROXY}/ ", "own"),
        (given_for(PROXY), "openai", PROXY, "own"),
        (given_for(ANTHROPIC), "auto", "", "own"),
        (given_for(""), "anthropic", "", "own"),
        (given_for(""), "anthropic", f"{ANTHROPIC}/", "own"),
        (given_for(ANTHROPIC), "auto", PROXY, None),
        (given_for(PROXY), "auto", "http://127.0.0.1:8081", None),
        (given_for(PROXY), "auto", "http://127.0.0.1:8080.evil.example", None),
        (given_for(PROXY), "auto", "http://127.0.0.1:8080@evil.example", None),
        (given_for(PROXY), "auto", "", None),
        (given_for(PROXY), "openai", "https://openrouter.ai/api/v1", None),
        (given_for(PROXY), "openai", "", "sk-openai"),
        (given_for(PROXY), "bedrock", "", "ABSK-bedrock"),
        (Keys(anthropic="sk-ant", own_address=PROXY), "auto", "http://127.0.0.1:8081", "sk-ant"),
    ],
)
def test_a_key_goes_to_its_own_vendor_alone(keys: Keys, provider: str, base_url: str, expected: str | None) -> None:
    assert keys.of(provider, base_url) == expected


def test_no_key_is_shown() -> None:
    assert "own" not in repr(ALL)
    assert "sk-" not in repr(ALL)
    assert "ABSK" not in repr(ALL)
