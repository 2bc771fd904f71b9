"""Two policies for Ullage: one with other options than its own, one with an engine of its own."""

from __future__ import annotations

from dataclasses import dataclass

from ullage.context.engines.engine import Covered, Occasion, SummaryText, Unchanging
from ullage.context.entries import UserPrompt
from ullage.context.moves.cuts import legal_cuts
from ullage.context.moves.plan import Asked, Plan
from ullage.context.policies.ullage import UllageEngine
from ullage.context.policy import ClearOptions, Policy, RestoreOptions, ShareOfWindow, ThresholdOptions, UllageOptions

EARLY = Policy(
    name="example-early",
    title="Ullage's own moves, from half of the window on, with fewer results kept",
    sources=("An example",),
    engine=UllageEngine(UllageOptions(clear=ClearOptions(keep_results=2))),
    threshold=ThresholdOptions(ShareOfWindow(0.5)),
    restore=RestoreOptions(files=2),
)

PROMPT = "In at most ten sentences: what does the user want, what has been done, what is left? Favour this: {focus}."


@dataclass(frozen=True, slots=True)
class TenSentences(Unchanging):
    """The newest messages stay; a model tells the rest in ten sentences."""

    keep_messages: int = 6
    summary_tokens: int = 1_000
    prompt: str = PROMPT

    def plan(self, at: Occasion) -> Plan | None:
        """A summary up to the last place where the conversation may be cut and enough stays."""
        messages = at.projection.messages
        cuts = legal_cuts(messages)
        usual = [cut for cut in cuts if cut <= len(messages) - self.keep_messages]
        cut = usual[-1] if usual and usual[-1] else cuts[-1]
        if not cut:
            return None
        return Plan(
            through=at.projection.entries[-1].seq,
            cleared=(),
            snipped=None,
            summarise_to=at.projection.last_seq_before(cut),
            covers=cut,
            estimated_after=at.count(messages[cut:]) + self.summary_tokens,
            asked=Asked(self.prompt, self.summary_tokens),
        )

    def summarise(self, covered: Covered) -> SummaryText:
        """What the model wrote; where there is none, the prompts of the user."""
        prompts = [logged.entry.text for logged in covered.entries if isinstance(logged.entry, UserPrompt)]
        told = covered.model_text or "\n".join(f"The user said: {prompt[:200]}" for prompt in prompts)
        return SummaryText(f"So far, in short:\n\n{told}")


TEN_SENTENCES = Policy(
    name="example-ten-sentences",
    title="The newest six messages stay, and ten sentences for the rest",
    sources=("An example",),
    engine=TenSentences(),
    threshold=ThresholdOptions(ShareOfWindow(0.7, at_most=100_000)),
)

POLICIES = (EARLY, TEN_SENTENCES)
