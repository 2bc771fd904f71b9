"""Results of searches that the fake gave out (section 2.8): sealed when they go out, judged when they come back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import cast
from urllib.parse import urlsplit

from tests.fake_api.conversation import placed_blocks
from tests.fake_api.json_values import JsonObject, is_object, objects
from tests.fake_api.refused import invalid
from tests.fake_api.rules.web_search import CALL, RESULT, VERSIONS
from tests.fake_api.script import Cite, Page, Search
from tests.fake_api.signing import Signer


class SearchSeals:
    """Makes the blocks of a search, and knows them again."""

    def __init__(self) -> None:
        self._signer = Signer()

    def blocks(self, search: Search, body: JsonObject, before: int) -> tuple[JsonObject, JsonObject]:
        """The call and its result, in a request whose reply has searched `before` times. A script that searches where no search was
        offered is at fault."""
        tool = _tool(body)
        id = f"srvtoolu_fake{secrets.token_hex(8)}"
        most = tool.get("max_uses")
        error = "max_uses_exceeded" if most is not None and before + _searches_in(body) >= most else search.error
        found: object = {"type": "web_search_tool_result_error", "error_code": error}
        if error is None:
            found = [self._item(page) for page in _within(search.pages, tool)]
        call: JsonObject = {"type": CALL, "id": id, "name": "web_search", "input": {"query": search.query}}
        return call, {"type": RESULT, "tool_use_id": id, "content": found}

    def citation(self, cite: Cite) -> JsonObject:
        """What a text goes by."""
        page = cite.page
        index = self._signer.sign(["index", page.url, cite.quoted])
        location = {"type": "web_search_result_location", "url": page.url, "title": page.title}
        return {**location, "encrypted_index": index, "cited_text": cite.quoted}

    def check(self, body: JsonObject) -> None:
        """Raises `Refused` for a result or a citation that is not as it was given out."""
        for placed in placed_blocks(body):
            for index, item in enumerate(objects(placed.block.get("content")) if placed.block.get("type") == RESULT else []):
                if self._signer.opened(str(item["encrypted_content"])) is None or self._item_of(item) != _plain(item):
                    raise invalid(f"{placed.path}.content.{index}: Invalid `encrypted_content` in `web_search_result` block")
            for index, each in enumerate(objects(placed.block.get("citations"))):
                if self._signer.opened(str(each.get("encrypted_index"))) != ["index", each.get("url"), each.get("cited_text")]:
                    raise invalid(f"{placed.path}.citations.{index}: Invalid `encrypted_index` in `web_search_result_location`")

    def _item(self, page: Page) -> JsonObject:
        sealed = self._signer.sign(["page", page.url, page.title, page.text, page.age])
        return {"type": "web_search_result", "title": page.title, "url": page.url, "encrypted_content": sealed, "page_age": page.age}

    def _item_of(self, item: JsonObject) -> JsonObject | None:
        sealed = self._signer.opened(str(item["encrypted_content"]))
        parts = cast("list[object]", sealed) if isinstance(sealed, list) else []
        if len(parts) != 5 or parts[0] != "page":
            return None
        _, url, title, _, age = parts
        sealed_item = {"type": "web_search_result", "title": title, "url": url, "encrypted_content": item["encrypted_content"]}
        return _plain({**sealed_item, "page_age": age})


def _plain(item: JsonObject) -> JsonObject:
    return {name: value for name, value in item.items() if value is not None}


def _tool(body: JsonObject) -> JsonObject:
    return next(tool for tool in objects(body.get("tools")) if str(tool.get("type")) in VERSIONS)


def _searches_in(body: JsonObject) -> int:
    """Those of the paused reply that the request goes on with."""
    last = objects(body["messages"])[-1]
    done = [block for block in objects(last.get("content")) if last.get("role") == "assistant" and block.get("type") == RESULT]
    return sum(not is_object(block.get("content")) for block in done)


def _within(pages: Sequence[Page], tool: JsonObject) -> list[Page]:
    """Domains cover what is below them."""
    allowed, blocked = (cast("list[str]", tool.get(name) or []) for name in ("allowed_domains", "blocked_domains"))
    return [page for page in pages if (not allowed or _is_of(page, allowed)) and not _is_of(page, blocked)]


def _is_of(page: Page, domains: Sequence[str]) -> bool:
    host = (urlsplit(page.url).hostname or "") if domains else ""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
