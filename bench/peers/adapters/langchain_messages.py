# pyright: basic, reportMissingImports=false
"""Messages as LangChain's own types."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from bench.peers.measuring import Message


def messages_of(messages: Sequence[Message]) -> list[AnyMessage]:
    """A result is a message of its own here."""
    made: list[AnyMessage] = []
    for message in messages:
        if message["role"] == "assistant":
            made.append(_reply(message))
            continue
        for block in message["content"]:
            if block["type"] == "text":
                made.append(HumanMessage(block["text"]))
            else:
                made.append(ToolMessage(block["content"], tool_call_id=block["tool_use_id"]))
    return made


def _reply(message: Message) -> AIMessage:
    text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
    calls = [
        {"name": block["name"], "args": block["input"], "id": block["id"]} for block in message["content"] if block["type"] == "tool_use"
    ]
    usage = message["usage"]
    sent = usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
    output = usage["output_tokens"]
    reported = {"input_tokens": sent, "output_tokens": output, "total_tokens": sent + output}
    return AIMessage(text, tool_calls=calls, usage_metadata=reported)
