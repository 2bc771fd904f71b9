"""Signed thinking: what the fake hands out is bound to everything before it, and is judged when it comes back (section 2.6).

A signature holds hashes of the model, the system prompt, the tools, all blocks before (thinking aside) and of the thinking block before,
so that removing thinking from the start, from the end or altogether is valid, and dropping or restoring one in the middle is not.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from tests.fake_api.canonical import digest, system_digest, tools_digest
from tests.fake_api.catalogue import ModelFacts
from tests.fake_api.compaction_seals import CompactionSeals
from tests.fake_api.conversation import PlacedBlock, placed_blocks
from tests.fake_api.json_values import JsonObject, blocks_of, is_array, is_object, objects
from tests.fake_api.reading import Reading
from tests.fake_api.refused import invalid
from tests.fake_api.signing import Signer

_FIELDS = ("model", "system", "tools", "before", "previous", "text", "id")


@dataclass(frozen=True, slots=True)
class Seal:
    """What a signature says of its block."""

    model: str
    system: str
    tools: str
    before: str
    """Hash of all blocks before it, thinking aside."""
    previous: str
    """`id` of the thinking block before it; empty where there was none."""
    text: str
    """Hash of the text as it was shown."""
    id: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A request whose thinking was judged."""

    body: JsonObject
    """The request without the blocks that the model does not get to see."""
    transformations: tuple[JsonObject, ...]
    """What was dropped, as `input_transformations` reports it."""
    reading: Reading
    """The state at the end, to which the reply's own thinking is bound."""


class ThinkingSeals:
    """Signs and verifies with a secret of its own, so that no other signature passes."""

    def __init__(self) -> None:
        self._signer = Signer()
        self.compactions = CompactionSeals(self._signer)
        """The blocks that stand for messages before thinking."""

    def sign(self, reading: Reading, shown: str) -> str:
        """The signature for a new thinking block at this point, which counts as the previous one from now on."""
        seal = Seal(
            reading.model,
            reading.system,
            reading.tools,
            reading.before,
            reading.previous,
            digest(shown),
            secrets.token_hex(4),
        )
        reading.previous = seal.id
        return self._signer.sign([getattr(seal, name) for name in _FIELDS])

    def check(self, body: JsonObject, model: ModelFacts) -> Checked:
        """Judges every replayed thinking block. Raises `Refused`, or drops where the request asks for that."""
        reading = Reading(model.id, system_digest(body), tools_digest(objects(body.get("tools"))))
        dropped: dict[tuple[int, int], str] = {}
        last_assistant = _last_assistant(body)
        drops = _drops_mismatches(body)
        failed_run = False
        for placed in placed_blocks(body):
            if not placed.is_thinking:
                failed_run = False
                if placed.block.get("type") == "compaction":
                    self.compactions.enter(placed, body, reading)
                else:
                    reading.take(placed.role, placed.block)
                continue
            seal = self._open(placed, last_assistant)
            if seal.model != model.id:
                # Section 2.6: what another model thought is dropped silently.
                dropped[placed.message, placed.index] = "model_binding_mismatch"
                continue
            change = _change(seal, reading) if model.checks_prefix else None
            if failed_run or change is not None:
                if not drops:
                    raise invalid(_mismatch_text(placed, change or ""))
                # The rest of the turn's consecutive thinking goes with it.
                failed_run = True
                dropped[placed.message, placed.index] = "prefix_binding_mismatch"
                continue
            reading.previous = seal.id
        return Checked(_without(body, dropped), _report(dropped), reading)

    def _open(self, placed: PlacedBlock, last_assistant: int) -> Seal:
        block = placed.block
        token = str(block.get("signature", block.get("data", "")))
        seal = self._decode(token)
        if seal is not None and seal.text == digest(str(block.get("thinking", ""))):
            return seal
        if seal is not None and placed.message == last_assistant:
            raise invalid(
                f"{placed.path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
                " These blocks must remain as they were in the original response."
            )
        kind = block.get("type")
        name = "signature" if kind == "thinking" else "data"
        raise invalid(f"{placed.path}: Invalid `{name}` in `{kind}` block")

    def _decode(self, token: str) -> Seal | None:
        values = self._signer.opened(token)
        return Seal(*values) if is_array(values) and len(values) == len(_FIELDS) else None


def _change(seal: Seal, reading: Reading) -> str | None:
    """What is not as it was when the block was made, as a sentence; None where all is."""
    if seal.system != reading.system:
        return "The system prompt has changed."
    if seal.tools != reading.tools:
        return "The tools have changed."
    if seal.before not in (reading.before, *reading.summarised):
        return "A message before the block has changed."
    if reading.previous not in ("", seal.previous):
        return "A thinking block before it was removed or put back."
    return None


def _mismatch_text(placed: PlacedBlock, change: str) -> str:
    kind = placed.block.get("type")
    name = "signature" if kind == "thinking" else "data"
    return (
        f"{placed.path}: Invalid `{name}` in `{kind}` block. The block is bound to a different conversation."
        ' Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
        f" {change}"
    ).rstrip()


def _drops_mismatches(body: JsonObject) -> bool:
    thinking = body.get("thinking")
    binding = thinking.get("block_binding") if is_object(thinking) else None
    return is_object(binding) and binding.get("prefix_mismatch_behavior") == "drop_block"


def _last_assistant(body: JsonObject) -> int:
    roles = [message.get("role") for message in objects(body.get("messages"))]
    return max((number for number, role in enumerate(roles) if role == "assistant"), default=-1)


def _without(body: JsonObject, dropped: dict[tuple[int, int], str]) -> JsonObject:
    if not dropped:
        return body
    messages = [
        {
            **message,
            "content": [block for index, block in enumerate(blocks_of(message.get("content"))) if (number, index) not in dropped],
        }
        for number, message in enumerate(objects(body["messages"]))
    ]
    return {**body, "messages": messages}


def _report(dropped: dict[tuple[int, int], str]) -> tuple[JsonObject, ...]:
    return tuple(
        {
            "type": "thinking_dropped",
            "path": f"messages.{message}.content.{index}",
            "reason": reason,
        }
        for (message, index), reason in dropped.items()
    )
