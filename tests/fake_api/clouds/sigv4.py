"""Whether a request is signed as AWS wants it (Signature Version 4), worked out anew from what came over the socket.

Source: "Create a signed AWS API request" in the IAM user guide. Nothing of botocore is used, which signs it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from urllib.parse import quote

from tests.fake_api.connection import HttpRequest
from tests.fake_api.refused import Refused

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<date>\d{8})/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request, "
    r"SignedHeaders=(?P<headers>[a-z0-9;-]+), Signature=(?P<signature>[0-9a-f]{64})"
)
_VALID_FOR = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class AwsKey:
    """Credentials that are accepted; `token` is that of a session, which has one."""

    id: str
    secret: str
    token: str | None = None


def check_signature(request: HttpRequest, keys: Mapping[str, AwsKey], region: str, service: str) -> None:
    """Raises `Refused` as the runtime of Bedrock does."""
    found = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
    if found is None:
        raise Refused(403, "MissingAuthenticationTokenException", "Missing Authentication Token")
    key = keys.get(found["key"])
    if key is None:
        raise Refused(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
    if key.token != request.headers.get("x-amz-security-token"):
        raise Refused(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
    if (found["region"], found["service"]) != (region, service):
        raise _mismatch(f"Credential should be scoped to a valid region. The service is {service!r} and the region {region!r}.")
    when = request.headers.get("x-amz-date", "")
    _check_time(when, found["date"])
    signed = found["headers"].split(";")
    must = {"host", "x-amz-date", *(["x-amz-security-token"] if key.token else [])}
    if not must <= set(signed):
        raise _mismatch(f"These headers must be signed: {', '.join(sorted(must - set(signed)))}")
    scope = f"{found['date']}/{region}/{service}/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", when, scope, sha256(_canonical(request, signed).encode()).hexdigest()))
    if not hmac.compare_digest(
        hmac.new(_signing_key(key.secret, found["date"], region, service), text.encode(), sha256).hexdigest(), found["signature"]
    ):
        raise _mismatch("Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")


def _canonical(request: HttpRequest, signed: list[str]) -> str:
    query = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, values in sorted(request.query.items())
        for value in sorted(values)
    )
    headers = "".join(f"{name}:{' '.join(request.headers[name].split())}\n" for name in signed)
    body = sha256(request.body or b"").hexdigest()
    return "\n".join((request.method, quote(request.path, safe="/~-_."), query, headers, ";".join(signed), body))


def _signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), sha256).digest()
    return key


def _check_time(when: str, date: str) -> None:
    try:
        signed = datetime.strptime(when, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise _mismatch("Date must be in ISO-8601 'basic format'.") from None
    now = datetime.now(UTC)
    if not when.startswith(date) or abs(now - signed) > _VALID_FOR:
        raise _mismatch(f"Signature expired: {when} is now earlier than {now - _VALID_FOR:%Y%m%dT%H%M%SZ}")


def _mismatch(why: str) -> Refused:
    return Refused(
        403, "InvalidSignatureException", f"The request signature we calculated does not match the signature you provided. {why}"
    )
