"""What a request of this wire must be. Wording by OpenAI's API reference and by error reports in public issue trackers (November 2026)."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Mapping

from tests.fake_api.chat.chunks import details_of
from tests.fake_api.chat.manners import Manners
from tests.fake_api.json_values import JsonObject, is_array, is_integer, is_object, objects
from tests.fake_api.refused import Refused

_PARAMETERS = frozenset(
    {
        *("model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "tools", "tool_choice"),
        *("parallel_tool_calls", "reasoning_effort", "temperature", "top_p", "stop", "seed", "user", "n", "response_format"),
    }
)
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DATA_URL = re.compile(r"data:image/(png|jpeg|gif|webp);base64,(.+)", re.DOTALL)
_HEADS = {"png": b"\x89PNG", "jpeg": b"\xff\xd8", "gif": b"GIF8", "webp": b"RIFF"}


def bad(message: str, code: str | None = None) -> Refused:
    """A 400."""
    return Refused(400, "invalid_request_error", message, code)


def check_request(body: JsonObject, models: Collection[str], manners: Manners) -> None:
    """Raises `Refused` for the first rule that the request breaks."""
    for name in body:
        if name not in _PARAMETERS:
            raise bad(f"Unknown parameter: '{name}'.", "unknown_parameter")
        if name in manners.refuses:
            raise _unsupported(name)
    if body.get("model") not in models:
        raise Refused(404, "invalid_request_error", f"The model `{body.get('model')}` does not exist.", "model_not_found")
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise bad("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", "invalid_parameter_combination")
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if limit is not None and not (is_integer(limit) and limit >= 1):
        raise bad("Invalid 'max_tokens': integer below minimum value. Expected a value >= 1.", "integer_below_min_value")
    if "stream_options" in body and not body.get("stream"):
        raise bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    if body.get("reasoning_effort", "low") not in _EFFORTS:
        raise bad(f"Invalid value: '{body['reasoning_effort']}'. Supported values are: {', '.join(_EFFORTS)}.", "invalid_value")
    _check_tools(body, manners)
    if not objects(body.get("messages")) or len(objects(body["messages"])) != len(body["messages"]):
        raise bad("Invalid 'messages': empty array. Expected an array with minimum length 1.", "empty_array")
    _check_messages(objects(body["messages"]), manners)


def _unsupported(name: str) -> Refused:
    if name == "max_tokens":
        told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        return bad(told, "unsupported_parameter")
    return bad(f"Unrecognized request argument supplied: {name}", "unsupported_parameter")


def _check_tools(body: JsonObject, manners: Manners) -> None:
    if "tools" not in body:
        return
    tools = objects(body["tools"])
    if not tools:
        raise bad("Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.", "empty_array")
    if not manners.takes_tools:
        raise bad(f"registry.ollama.ai/library/{body['model']} does not support tools")
    names: set[str] = set()
    for index, tool in enumerate(tools):
        _only(tool, {"type", "function"}, f"tools[{index}]")
        function = tool.get("function")
        if tool.get("type") != "function" or not is_object(function):
            raise bad(f"Missing required parameter: 'tools[{index}].function'.", "missing_required_parameter")
        _only(function, {"name", "description", "parameters", "strict"}, f"tools[{index}].function")
        name = function.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in names:
            raise bad(f"Invalid 'tools[{index}].function.name': string does not match pattern.", "invalid_value")
        names.add(name)
        schema = function.get("parameters")
        if not is_object(schema) or schema.get("type") != "object":
            raise bad(f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"'.")


def _check_messages(messages: list[JsonObject], manners: Manners) -> None:
    waiting: list[str] = []
    """The calls that have no result yet."""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        role = message.get("role")
        for name in message:
            if name in manners.refuses:
                raise bad(f"Additional properties are not allowed ('{name}' was unexpected) - '{place}'")
        if waiting and role != "tool":
            raise bad(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following"
                f" tool_call_ids did not have response messages: {', '.join(waiting)}"
            )
        match role:
            case "system" if index == 0:
                _only(message, {"role", "content"}, place)
                _check_text(message.get("content"), place)
            case "user":
                _only(message, {"role", "content"}, place)
                _check_shown(message.get("content"), place, manners)
            case "assistant":
                waiting = _check_assistant(message, place, manners, seen)
            case "tool":
                _only(message, {"role", "content", "tool_call_id"}, place)
                if message.get("tool_call_id") not in waiting:
                    raise bad("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
                if not isinstance(message.get("content"), str):
                    raise bad(f"Invalid type for '{place}.content': expected a string.")
                waiting.remove(message["tool_call_id"])
            case _:
                raise bad(f"Invalid value: '{role}' for '{place}.role'.", "invalid_value")
    if waiting:
        raise bad(f"The following tool_call_ids did not have response messages: {', '.join(waiting)}")
    if messages[-1].get("role") not in ("user", "tool"):
        raise bad("Cannot continue from an assistant message: the last message must be of the user or a tool.")


def _check_assistant(message: JsonObject, place: str, manners: Manners, seen: set[str]) -> list[str]:
    """The ids that wait for results now."""
    _only(message, {"role", "content", "tool_calls", manners.reasoning, *(["reasoning_details"] if manners.seals else [])}, place)
    if "reasoning_details" in message:
        details = objects(message["reasoning_details"])
        if details != list(details_of(str(details[0].get("text")) if details else "")):
            raise bad(f"Invalid `signature` in `thinking` block ({place}.reasoning_details)")
    content = message.get("content")
    if content is not None:
        _check_text(content, place)
    thought = message.get(manners.reasoning)
    if thought is not None and not (isinstance(thought, str) and thought):
        raise bad(f"Invalid type for '{place}.{manners.reasoning}'.")
    if "tool_calls" not in message:
        if content is None:
            raise bad(f"Invalid value for 'content': expected a string, got null. ({place})")
        return []
    calls = objects(message["tool_calls"])
    if not calls:
        raise bad(f"Invalid '{place}.tool_calls': empty array.", "empty_array")
    ids: list[str] = []
    for call in calls:
        _only(call, {"id", "type", "function"}, f"{place}.tool_calls")
        id, function = call.get("id"), call.get("function")
        if call.get("type") != "function" or not is_object(function) or not isinstance(id, str) or not id:
            raise bad(f"Missing required parameter: '{place}.tool_calls.function'.", "missing_required_parameter")
        if id in ids:
            raise bad(f"Duplicate value for 'tool_call_id' of '{id}' in {place}.")
        _only(function, {"name", "arguments"}, f"{place}.tool_calls.function")
        if not _NAME.fullmatch(str(function.get("name"))):
            raise bad(f"Invalid '{place}.tool_calls.function.name': string does not match pattern.", "invalid_value")
        _check_arguments(function.get("arguments"), place)
        ids.append(id)
    seen.update(ids)
    return ids


def _check_arguments(arguments: object, place: str) -> None:
    # vLLM and llama.cpp parse what goes back, for the chat template.
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else None
    except ValueError:
        value = None
    if not is_object(value):
        raise bad(f"'{place}.tool_calls.function.arguments' is no JSON object in a string.")


def _check_text(content: object, place: str) -> None:
    if not isinstance(content, str) or not content:
        raise bad(f"Invalid '{place}.content': expected a text that is not empty.")


def _check_shown(content: object, place: str, manners: Manners) -> None:
    if not is_array(content):
        _check_text(content, place)
        return
    parts = objects(content)
    if not parts or len(parts) != len(content):
        raise bad(f"Invalid '{place}.content': empty array.", "empty_array")
    for part in parts:
        match part.get("type"):
            case "text":
                _only(part, {"type", "text"}, place)
                _check_text(part.get("text"), place)
            case "image_url":
                _only(part, {"type", "image_url"}, place)
                _check_image(part.get("image_url"), place, manners)
            case other:
                raise bad(f"Invalid value: '{other}'. Supported values are: 'text', 'image_url'. ({place})", "invalid_value")


def _check_image(image: object, place: str, manners: Manners) -> None:
    if not manners.takes_images:
        raise bad("This model does not support image input.")
    found = _DATA_URL.fullmatch(str(image.get("url"))) if is_object(image) else None
    try:
        data = b"" if found is None else base64.b64decode(found[2], validate=True)
    except binascii.Error:
        data = b""
    if found is None or not data.startswith(_HEADS[found[1]]):
        raise bad(f"You uploaded an unsupported image. ({place})", "invalid_image_format")


def _only(value: Mapping[str, object], known: Collection[str], place: str) -> None:
    unknown = [name for name in value if name not in known]
    if unknown:
        raise bad(f"Unknown parameter: '{place}.{unknown[0]}'.", "unknown_parameter")
