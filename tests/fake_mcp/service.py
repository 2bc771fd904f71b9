"""A service over streamable HTTP on this machine that wants users to sign in, and the authorisation server that it names.

It checks what a real one checks: the challenge of the code (PKCE), the address that the browser goes back to, the state, that a code is
used once, that a token is one it gave and is not over.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit


class Service:
    """What it knows, and what it was asked."""

    def __init__(self, *, open_to_all: bool = False) -> None:
        self.open_to_all = open_to_all
        self.url = ""
        self.clients: dict[str, list[str]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: set[str] = set()
        self.refreshes: set[str] = set()
        self.denies = False
        self.asked: list[str] = []
        self.expires_in = 3_600
        self.megabytes = 0
        self.packed = False
        self.bad_grant: dict[str, Any] = {}
        """What it answers in place of a token."""

    def grant(self) -> dict[str, Any]:
        """A new token, and one to renew it with."""
        token, refresh = secrets.token_hex(8), secrets.token_hex(8)
        self.tokens.add(token)
        self.refreshes.add(refresh)
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.expires_in, "refresh_token": refresh}


def answer(service: Service, message: dict[str, Any]) -> dict[str, Any] | None:
    """What the server says to a message; None where it is a notification."""
    match message["method"]:
        case "initialize":
            info = {"name": "service", "version": "1"}
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}, "prompts": {}},
                "serverInfo": info,
            }
        case "tools/list":
            return {"tools": [{"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}]}
        case "prompts/list":
            return {"prompts": [{"name": "plain"}]}
        case "tools/call":
            text = "x" * service.megabytes * 1_000_000 or "found"
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return None


class _Handler(BaseHTTPRequestHandler):
    service: Service

    def log_message(self, format: str, *args: object) -> None:
        return

    def reply(self, status: int, value: object = None, **headers: str) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        if self.service.packed:
            body, headers = gzip.compress(body, 1), {**headers, "Content-Encoding": "gzip"}
        self.send_response(status)
        for name, each in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), each)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        service, parts = self.service, urlsplit(self.path)
        service.asked.append(f"GET {parts.path}")
        base = service.url.removesuffix("/mcp")
        if parts.path == "/.well-known/oauth-protected-resource/mcp":
            self.reply(200, {"resource": service.url, "authorization_servers": [base]})
        elif parts.path == "/.well-known/oauth-authorization-server":
            ends = {name: f"{base}/{name}" for name in ("authorize", "token", "register")}
            found = {
                "issuer": base,
                "authorization_endpoint": ends["authorize"],
                "token_endpoint": ends["token"],
                "registration_endpoint": ends["register"],
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }
            self.reply(200, found)
        elif parts.path == "/authorize":
            self.authorize({name: values[0] for name, values in parse_qs(parts.query).items()})
        else:
            self.reply(405 if parts.path == "/mcp" else 404)

    def authorize(self, asked: dict[str, str]) -> None:
        service = self.service
        if asked["redirect_uri"] not in service.clients.get(asked["client_id"], []) or asked["code_challenge_method"] != "S256":
            self.reply(400, {"error": "invalid_request"})
            return
        code = secrets.token_hex(8)
        service.codes[code] = asked
        said = {"error": "access_denied"} if service.denies else {"code": code}
        self.reply(302, Location=f"{asked['redirect_uri']}?{urlencode({**said, 'state': asked['state']})}")

    def do_POST(self) -> None:
        service = self.service
        service.asked.append(f"POST {self.path}")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            asked = json.loads(body)
            client = secrets.token_hex(8)
            service.clients[client] = asked["redirect_uris"]
            self.reply(201, {**asked, "client_id": client})
        elif self.path == "/token":
            self.token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        elif self.path == "/mcp":
            self.message(json.loads(body))
        else:
            self.reply(404)

    def token(self, asked: dict[str, str]) -> None:
        service = self.service
        if asked["grant_type"] == "refresh_token" and asked["refresh_token"] in service.refreshes:
            service.refreshes.discard(asked["refresh_token"])
            self.reply(200, service.grant())
            return
        given = service.codes.pop(asked.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(asked.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
        if given is None or given["code_challenge"] != challenge or given["redirect_uri"] != asked["redirect_uri"]:
            self.reply(400, {"error": "invalid_grant"})
        else:
            self.reply(200, service.bad_grant or service.grant())

    def message(self, message: dict[str, Any]) -> None:
        service = self.service
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not service.open_to_all and token not in service.tokens:
            where = f"{service.url.removesuffix('/mcp')}/.well-known/oauth-protected-resource/mcp"
            self.reply(401, {"error": "sign in"}, WWW_Authenticate=f'Bearer resource_metadata="{where}"')
            return
        result = answer(service, message)
        if "id" not in message:
            self.reply(202)
        elif result is None:
            self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}})
        else:
            self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


@contextmanager
def running(service: Service) -> Generator[Service]:
    """The service, at an address of its own."""
    handler = type("Handler", (_Handler,), {"service": service})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}/mcp"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
