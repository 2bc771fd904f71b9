"""`claude-code`: a summary in nine sections at window − 20,000 − 13,000 tokens, written on the warm prefix; then files are read again.

Claude Code is closed: the numbers are those that its documentation and several independent reconstructions agree on. Its clearing of old
results has two paths. The one that edits the prompt cache on the server leaves no trace in what is sent, so it has no counterpart here. The
other clears when the cache has gone cold anyway, after 60 minutes, and keeps the newest 5; that is done here where the log says when things
happened. Nothing but the summary and the files stays; versions differ in whether a tail does. The files are those edited last. It stops
after three failures in a row, as Ullage does with any policy.
"""

from __future__ import annotations

from ullage.context.engines.staged import Staged
from ullage.context.engines.staged_options import SummaryShape, SummaryTokens, Upkeep
from ullage.context.moves.cuts import Tail
from ullage.context.policy import BelowWindow, ClearOptions, ClipOptions, Policy, RestoreOptions, ThresholdOptions

PROMPT = """\
Do not call any tool now. Write a summary of this conversation, from which a model that sees nothing else of it will continue the work. \
Begin with the line "Summary of the conversation so far", then write nine sections under these headings:

1. What the user wants: every request and its intent
2. Technologies and concepts that matter
3. Files and code: which were read, changed or created, why, with the passages that are needed
4. Errors, how each was fixed, and what the user said about it
5. Problems solved, and those still being looked into
6. All messages of the user that are not tool results
7. Tasks that are open
8. What was being worked on at the very end, with files and code
9. The next step, only where it follows from what the user asked last; quote the words it follows from

Quote decisive phrases literally where a paraphrase could drift. Give paths, names, commands and error messages exactly."""

CLAUDE_CODE = Policy(
    name="claude-code",
    title="At window − 20,000 − 13,000 tokens a summary in nine sections on the warm prefix, then up to 5 files are read again",
    sources=(
        "Claude Code documentation, context window: https://code.claude.com/docs/en/context-window",
        "A reconstruction of its compaction: https://barazany.dev/blog/claude-codes-compaction-engine",
        "Another: https://kenhuangus.substack.com/p/chapter-6-context-management-at-scale",
    ),
    engine=Staged(
        arrival=ClipOptions(result_characters=50_000, message_characters=200_000, preview_characters=2_000, tail_share=0.0),
        every_call=Upkeep(
            (
                ClearOptions(
                    keep_results=5,
                    minimum_characters=0,
                    answered_only=False,
                    spares_newest_reads=False,
                    placeholder="[The content of an old result was cleared]",
                ),
            ),
            after_seconds=3_600.0,
        ),
        summary=SummaryShape(prompt=PROMPT, sections=9, tokens=SummaryTokens(20_000), tail=Tail(unanswered=False)),
    ),
    threshold=ThresholdOptions(BelowWindow(reserve=20_000, margin=13_000, cap=None)),
    restore=RestoreOptions(files=5, file_tokens=5_000, total_tokens=50_000, by="last edited"),
)
