"""Whether a filter of jq does no more than take its input apart: no `import`, `env`, `input_filename`, variables or definitions."""

from __future__ import annotations

import re

_FUNCTIONS = (
    "add all and any arrays ascii_downcase ascii_upcase booleans capture ceil contains del else elif empty end endswith explode first "
    "flatten floor from_entries fromjson group_by gsub has if implode in index inside isempty join keys keys_unsorted last leaf_paths "
    "length limit ltrimstr map map_values match max max_by min min_by not null nulls numbers objects or path paths reverse "
    "round rtrimstr scalars scan select sort sort_by split splits startswith strings sub test then to_entries tojson tonumber tostring "
    "transpose true false type unique unique_by values with_entries"
)
_NAMES = "|".join(sorted(_FUNCTIONS.split(), key=len, reverse=True))

_FILTER = re.compile(
    rf"""(?x) (?:
        [ \t\n]+
      | \.[A-Za-z_][A-Za-z0-9_]*
      | "[^"\\]*"
      | [0-9]+(?:\.[0-9]+)?(?![A-Za-z_])
      | @(?:csv|tsv|json|text|base64)(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_:])(?:{_NAMES})(?![A-Za-z0-9_:])
      | [.|,;:?+\-*/%<>=!()\[\]{{}}]
    )*+"""
)
"""Names with `::` in them belong to modules."""


def is_plain_filter(text: str) -> bool:
    """Whether every piece of the filter is on the list."""
    return bool(_FILTER.fullmatch(text))
