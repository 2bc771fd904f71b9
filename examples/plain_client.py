"""A whole client of `ullage serve`, from PROTOCOL.md alone, with nothing but Python's standard library.

    python examples/plain_client.py FOLDER ['{"model": {"provider": "practice"}}']

Each line that you type is a prompt; `:compact`, `:undo` and `:quit` are the client's own. A question is answered by the number of an
option. The second argument has settings. The server is the command `ullage`, and gets the API key in ANTHROPIC_API_KEY. What stands in
quotation marks in the comments is a heading of that page.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

METHOD_NOT_FOUND = {"code": -32601, "message": "This client does not do that"}


class Client:
    """One server, and one session of it."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.server = subprocess.Popen(["ullage", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # "Connecting"
        self.sent = 0
        self.answers: dict[int, dict[str, Any]] = {}
        self.items: dict[str, dict[str, Any]] = {}
        self.session, self.seq, self.state = "", 0, "idle"
        self.asked, self.ended = set[str](), set[str]()
        root = {"uri": folder.resolve().as_uri(), "name": folder.name}
        able = {"workspace": {"configuration": True}}  # nothing else: this client shows no documents
        self.request("initialize", processId=None, rootUri=root["uri"], workspaceFolders=[root], capabilities=able)
        self.send(method="initialized", params={})
        self.take_snapshot(self.request("ullage/session/open"))

    # Messages

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def request(self, method: str, **params: Any) -> Any:
        """The result; whatever comes before it is dealt with. A refusal ends in `RuntimeError` with words for the user ("Errors")."""
        self.sent += 1
        number = self.sent
        self.send(id=number, method=method, params=params)
        while number not in self.answers:
            self.take()
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def ours(self, method: str, **params: Any) -> Any:
        """A request about the session."""
        return self.request(f"ullage/{method}", sessionId=self.session, **params)

    def take(self) -> None:
        """Reads one message, and does what it is about."""
        assert self.server.stdout is not None
        length = 0
        while (line := self.server.stdout.readline().strip()) != b"":  # headers, until an empty line
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if length == 0:
            raise EOFError("the server has ended")
        message: dict[str, Any] = json.loads(self.server.stdout.read(length))
        if "method" not in message:
            self.answers[message["id"]] = message
        elif message["method"] == "ullage/session/update":
            self.update(**message["params"])
        elif message["method"] == "workspace/configuration":  # "Settings"
            self.send(id=message["id"], result=[self.settings for _ in message["params"]["items"]])
        elif "id" in message:
            self.send(id=message["id"], error=METHOD_NOT_FOUND)
        elif message["method"] == "window/showMessage":
            print(message["params"]["message"], flush=True)

    # The session

    def take_snapshot(self, snapshot: dict[str, Any]) -> None:
        self.session, self.seq, self.state = snapshot["sessionId"], snapshot["seq"], snapshot["state"]
        self.items = {item["id"]: item for item in snapshot["items"]}

    def update(self, sessionId: str, seq: int, update: dict[str, Any]) -> None:  # noqa: N803 # as the wire has it
        if sessionId != self.session or seq <= self.seq:
            return
        if seq > self.seq + 1:  # a gap
            self.take_snapshot(self.ours("session/snapshot"))
            return
        self.seq = seq
        match update["kind"]:
            case "item":
                self.items[update["item"]["id"]] = update["item"]
                self.show(update["item"])
            case "append":
                item = self.items[update["itemId"]]
                item[update["field"]] = (item.get(update["field"]) or "") + update["text"]
            case "remove":
                self.items.pop(update["itemId"], None)
            case "state":
                self.state = update["state"]
                if update.get("ended"):
                    self.ended.add(update["ended"]["promptId"])
                    print(f"[{update['ended']['stopReason']}]", flush=True)
            case _:
                pass  # the gauge, the plan, the title: this client does not show them

    def show(self, item: dict[str, Any]) -> None:
        """What the model says is shown at the end of its turn, all else as it comes."""
        if item["kind"] == "toolCall" and item["status"] == "awaiting_permission" and item["permissionId"] not in self.asked:
            self.asked.add(item["permissionId"])
            self.decide(item)
        elif item["kind"] == "toolCall" and item["status"] in ("completed", "failed", "cancelled"):
            print(f"- {item['title']}: {item['status']}", flush=True)
        elif item["kind"] == "compaction":
            after = item.get("tokensAfter")
            print(f"- compaction {item['status']}: {item['tokensBefore']} tokens" + (f" -> {after}" if after else ""), flush=True)
        elif item["kind"] == "notice":
            print(f"! {item['text']}", flush=True)

    def decide(self, call: dict[str, Any]) -> None:
        """ "Permissions": the answer names the question as it was shown."""
        options = call["permission"]
        print(f"? {call['permissionReason']}: " + ", ".join(f"{at} {each['name']}" for at, each in enumerate(options, 1)), flush=True)
        typed = sys.stdin.readline().strip()
        chosen = options[int(typed) - 1] if typed.isdecimal() and 0 < int(typed) <= len(options) else options[-1]
        ids = {"toolCallId": call["id"], "permissionId": call["permissionId"], "optionId": chosen["optionId"]}
        self.ours("permission/respond", **ids)

    def prompt(self, text: str) -> None:
        """Until its turn has ended; then prints what the model said in it."""
        known = set(self.items)
        prompt = self.ours("session/prompt", text=text)["promptId"]
        while prompt not in self.ended:
            self.take()
        print("".join(f"{item['text']}\n" for key, item in self.items.items() if key not in known and item["kind"] == "assistant"), end="")

    def compact(self) -> None:
        made = self.ours("session/compact")["compactionId"]
        while made not in self.items or self.items[made]["status"] == "in_progress" or self.state != "idle":
            self.take()

    def close(self) -> None:
        self.request("shutdown")
        self.send(method="exit")
        self.server.wait()


def main() -> None:
    client = Client(Path(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
    while (line := sys.stdin.readline()) and line.strip() != ":quit":
        try:
            match line.strip():
                case ":compact":
                    client.compact()
                case ":undo":
                    print(f"undone: {client.ours('session/undoCompaction')['compactionId']}", flush=True)
                case text:
                    client.prompt(text)
        except RuntimeError as refusal:
            print(f"! {refusal}", flush=True)
    client.close()


if __name__ == "__main__":
    main()
