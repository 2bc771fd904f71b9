"""The text that a compaction left in the context, as it is asked whether a fact still stands in it."""

from __future__ import annotations

from ullage.replay.fact_patterns import Fact, basenames_in, facts_in


class KeptText:
    """`text` is all that the model still sees of what was before: the summary, what was restored and the messages that stayed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._one_line = " ".join(text.split())
        self._facts = facts_in(text)
        self._basenames = basenames_in(text)

    def holds(self, fact: Fact) -> bool:
        """Whether the fact can be read in the text.

        A path by its last two components or its basename, an identifier as a whole word, a hash also as a part of a longer one (an id
        in part stands where the whole id stands), an error line and a user message by their beginning.
        """
        match fact.kind:
            case "path":
                return fact in self._facts or fact.text.rpartition("/")[2] in self._basenames
            case "identifier":
                return fact in self._facts
            case "hash":
                return fact.text in self._text
            case "error" | "user message":
                return fact.text in self._one_line
