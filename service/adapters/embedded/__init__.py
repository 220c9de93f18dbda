"""The engine in one process: SQLite keeps, tantivy ranks by BM25, numpy compares vectors exactly.

Takes: a data folder, a prefix, domain values. Returns: domain values; errors of `service.errors`.
Called by: bootstrap, through `open_embedded`.
Never does: network, or an approximation; and no ranking over what the scope may not see.
"""

from __future__ import annotations

from pathlib import Path

from service.domain.ports import Engine


def open_embedded(data_dir: Path, prefix: str) -> Engine:
    """The engine over a folder of its own, `<data_dir>/<prefix>`; nothing is made before the first use.

    Several processes may share the folder: each sees the others' finished writes and switches at once.
    """
    # Imported late: tantivy and numpy are of no use to a process that runs on Elasticsearch.
    from service.adapters.embedded.engine import assemble

    return assemble(data_dir / prefix, prefix)
