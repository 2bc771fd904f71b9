"""Which hosts are one, which connections an allowed one covers, and at which addresses a name may be reached."""

from __future__ import annotations

import pytest

from ullage.tools.sandbox.network.hosts import BadHost, is_allowed, may_connect, parse_host


@pytest.mark.parametrize(
    ("allowed", "name", "port", "covered"),
    [
        ("example.org", "example.org", 443, True),
        ("example.org", "example.org", 80, True),
        ("Example.ORG.", "example.org", 443, True),
        ("example.org", "example.org", 22, False),
        ("example.org:22", "example.org", 22, True),
        ("example.org:22", "example.org", 443, False),
        ("example.org", "evil.example.org", 443, False),
        ("example.org", "example.org.evil.net", 443, False),
        ("example.org", "notexample.org", 443, False),
        ("127.0.0.1:5432", "127.0.0.1", 5432, True),
        ("[::1]:80", "::1", 80, True),
    ],
)
def test_what_is_covered(allowed: str, name: str, port: int, covered: bool) -> None:
    assert is_allowed([parse_host(allowed)], name, port) is covered


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.example.org",
        "https://example.org",
        "example.org/path",
        "a b",
        "a@b",
        "example.org:0",
        "example.org:99999",
        "exämple.org",
        "-a.org",
        "0x7f.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "a..b",
        "example.org:443:443",
        "[example.org]",
    ],
)
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(BadHost):
        parse_host(text)


@pytest.mark.parametrize(
    ("name", "address", "may"),
    [
        ("example.org", "93.184.215.14", True),
        ("example.org", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("example.org", "127.0.0.1", False),
        ("example.org", "10.0.0.1", False),
        ("example.org", "192.168.1.1", False),
        ("example.org", "172.16.0.1", False),
        ("example.org", "169.254.169.254", False),
        ("example.org", "100.64.0.1", False),
        ("example.org", "0.0.0.0", False),
        ("example.org", "224.0.0.1", False),
        ("example.org", "255.255.255.255", False),
        ("example.org", "::1", False),
        ("example.org", "::", False),
        ("example.org", "fe80::1%eth0", False),
        ("example.org", "fd00::1", False),
        ("example.org", "::ffff:127.0.0.1", False),
        ("example.org", "::ffff:93.184.215.14", True),
        ("example.org", "64:ff9b::7f00:1", False),
        ("example.org", "2002:7f00:1::", False),
        ("localhost", "127.0.0.1", True),
        ("localhost", "10.0.0.1", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_addresses(name: str, address: str, may: bool) -> None:
    assert may_connect(name, address) is may
