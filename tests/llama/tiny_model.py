"""A model for llama.cpp that takes 300 KB: one layer, random weights, a token for each byte. It says letters that make no sense.

Source of the format: "GGUF" in the documentation of ggml, version 3.
"""

from __future__ import annotations

import random
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path

_WIDTH, _HEADS, _INNER, _ALIGNMENT = 64, 4, 128, 32
_UINT32, _INT32, _FLOAT32, _STRING, _ARRAY = 4, 5, 6, 8, 9
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6
_TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}<assistant>"


def write_tiny_model(path: Path, trained_window: int = 32_768) -> None:
    """Writes it there. `trained_window` is in tokens."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581"]
    """The last stands for a space, which would take the three bytes of that sign otherwise."""
    values: dict[str, bytes] = {
        "general.architecture": _text("llama"),
        "general.name": _text("tiny"),
        "llama.context_length": _whole(trained_window),
        "llama.embedding_length": _whole(_WIDTH),
        "llama.block_count": _whole(1),
        "llama.feed_forward_length": _whole(_INNER),
        "llama.attention.head_count": _whole(_HEADS),
        "llama.attention.head_count_kv": _whole(_HEADS),
        "llama.attention.layer_norm_rms_epsilon": struct.pack("<If", _FLOAT32, 1e-5),
        "llama.rope.dimension_count": _whole(_WIDTH // _HEADS),
        "llama.vocab_size": _whole(len(tokens)),
        "tokenizer.ggml.model": _text("llama"),
        "tokenizer.ggml.tokens": struct.pack("<IIQ", _ARRAY, _STRING, len(tokens)) + b"".join(map(_string, tokens)),
        "tokenizer.ggml.scores": struct.pack(f"<IIQ{len(tokens)}f", _ARRAY, _FLOAT32, len(tokens), *[0.0] * len(tokens)),
        "tokenizer.ggml.token_type": struct.pack(
            f"<IIQ{len(tokens)}i", _ARRAY, _INT32, len(tokens), _UNKNOWN, _CONTROL, _CONTROL, *[_BYTE] * 256, _NORMAL
        ),
        "tokenizer.ggml.bos_token_id": _whole(1),
        "tokenizer.ggml.eos_token_id": _whole(2),
        "tokenizer.ggml.unknown_token_id": _whole(0),
        "tokenizer.chat_template": _text(_TEMPLATE),
    }
    chance = random.Random(7)
    square = (_WIDTH, _WIDTH)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (_WIDTH, len(tokens)),
        "output_norm.weight": (_WIDTH,),
        "output.weight": (_WIDTH, len(tokens)),
        "blk.0.attn_norm.weight": (_WIDTH,),
        "blk.0.ffn_norm.weight": (_WIDTH,),
        **{f"blk.0.attn_{name}.weight": square for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (_WIDTH, _INNER),
        "blk.0.ffn_up.weight": (_WIDTH, _INNER),
        "blk.0.ffn_down.weight": (_INNER, _WIDTH),
    }
    data = bytearray()
    infos: list[bytes] = []
    for name, shape in shapes.items():
        infos.append(_string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data)))
        data += _letters_alone(tokens, chance) if name == "output.weight" else _weights(shape, chance)
        data += bytes(-len(data) % _ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(values))
    head += b"".join(_string(name) + value for name, value in values.items()) + b"".join(infos)
    path.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + data)


def _weights(shape: Sequence[int], chance: random.Random) -> bytes:
    """Of a norm all are one."""
    if len(shape) == 1:
        return array("f", [1.0] * shape[0]).tobytes()
    return array("f", (chance.gauss(0, 0.05) for _ in range(shape[0] * shape[1]))).tobytes()


def _letters_alone(tokens: Sequence[str], chance: random.Random) -> bytes:
    """Of the output: some letter is likelier than all else, so that it says text. Half a character makes llama.cpp leave out a count."""
    letters = {f"<0x{byte:02X}>" for byte in b"abcdefghijklmnopqrstuvwxyz"}
    return array("f", (chance.gauss(0, 1) if token in letters else 0.0 for token in tokens for _ in range(_WIDTH))).tobytes()


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _text(text: str) -> bytes:
    return struct.pack("<I", _STRING) + _string(text)


def _whole(number: int) -> bytes:
    return struct.pack("<II", _UINT32, number)
