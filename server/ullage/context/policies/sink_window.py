"""`sink-window`: the idea of StreamingLLM carried from tokens to messages. The first few and a rolling window stay; no model is asked.

StreamingLLM keeps the first 4 tokens, on which attention rests, and the newest. For messages nobody published numbers: the first 4 stay,
and the newest within half of the threshold, so that the window rolls on in few large steps.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import WindowOptions
from ullage.context.moves.cuts import Tail
from ullage.context.policy import ClipOptions, Policy

SINK_WINDOW = Policy(
    name="sink-window",
    title="The first 4 messages and a rolling window over the newest stay; nothing is summarised",
    sources=("Efficient Streaming Language Models with Attention Sinks: https://arxiv.org/abs/2309.17453",),
    engine=Staged(arrival=ClipOptions(), at_threshold=(WindowOptions(keep_first=4, tail=Tail(share_of_threshold=0.5)),)),
)
