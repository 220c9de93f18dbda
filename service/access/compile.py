"""The visibility rule as an Elasticsearch filter and as SQL over the embedded engine's access classes.

Pure: the same scope always gives the same clause, with its lists sorted. An empty scope gives match-none.
"""

from __future__ import annotations

import json
from typing import Any

from service.domain.rights import Scope


def elastic_filter(scope: Scope) -> dict[str, Any]:
    """One query clause to be put as a `filter` on every leg.

    `terms_set` counts how many of the principal's labels the document carries and asks for all of the
    document's own (`labelCount`): that is labels ⊆ principal.labels without a script.
    """
    if scope.empty or not scope.labels:
        return {"match_none": {}}
    labels, subjects = sorted(scope.labels), sorted(scope.subjects)
    return {
        "bool": {
            "filter": [
                {"term": {"access.tenant": scope.tenant}},
                {
                    "terms_set": {
                        "access.labels": {
                            "terms": labels,
                            "minimum_should_match_field": "access.labelCount",
                        }
                    }
                },
                # A document that lost its labels has labelCount 0 and would match anybody: it must not.
                {"range": {"access.labelCount": {"gte": 1}}},
                {"terms": {"access.allow": subjects}},
            ],
            "must_not": [{"terms": {"access.deny": subjects}}],
        }
    }


def sql_condition(scope: Scope, table: str) -> tuple[str, tuple[str, ...]]:
    """A WHERE condition with its parameters, over columns `tenant` and JSON lists `labels`, `allow`, `deny`."""
    if scope.empty or not scope.labels:
        return "0", ()
    labels = json.dumps(sorted(scope.labels), ensure_ascii=False)
    subjects = json.dumps(sorted(scope.subjects), ensure_ascii=False)
    condition = (
        f"{table}.tenant = ?"
        f" AND json_array_length({table}.labels) > 0"
        f" AND NOT EXISTS (SELECT 1 FROM json_each({table}.labels) own"
        " WHERE own.value NOT IN (SELECT value FROM json_each(?)))"
        f" AND EXISTS (SELECT 1 FROM json_each({table}.allow) own"
        " WHERE own.value IN (SELECT value FROM json_each(?)))"
        f" AND NOT EXISTS (SELECT 1 FROM json_each({table}.deny) own"
        " WHERE own.value IN (SELECT value FROM json_each(?)))"
    )
    return condition, (scope.tenant, labels, subjects, subjects)
