"""Names spelled in words: "tidb mem quota query" and tidb-mem-quota-query for what documents call tidb_mem_quota_query.

Only for looking up. Words that happen to make a name of the index are worth a look; they forbid nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.text.folding import fold_width
from service.text.stopwords import EN_FUNCTION, EN_QUESTION

# Words that could be parts of one name: ASCII, a hyphen or little space between two of them.
_RUN = re.compile(r"[A-Za-z]\w*(?:(?:-| {1,2})\w+)+", re.ASCII)
_PART = re.compile(r"\w+", re.ASCII)
_LONGEST = 8
# Terms to look up for one question; of long English ones the longest names go unlooked for.
_BUDGET = 160
_NEVER_ENDS = EN_FUNCTION | EN_QUESTION


def respelled(text: str) -> Mapping[str, int]:
    """Index terms of names that two to eight neighbouring words may spell, each with how many words make it."""
    runs = [_PART.findall(run) for run in _RUN.findall(fold_width(text).lower())]
    found: dict[str, int] = {}
    for length in range(2, _LONGEST + 1):
        for words in runs:
            for start in range(len(words) - length + 1):
                parts = words[start : start + length]
                if parts[0] not in _NEVER_ENDS and parts[-1] not in _NEVER_ENDS:
                    found["_".join(parts)] = found["".join(parts).replace("_", "")] = length
    return dict(list(found.items())[:_BUDGET])
