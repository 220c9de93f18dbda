"""Rights: the one visibility rule, its compilers, and how rules are read at ingest.

Takes: token claims, access rules, principals. Returns: Access and Scope values, engine filters, hashes.
Called by: both paths, the adapters (compile), web (claims).
Never does: IO, or any decision that a compiler of the same rule would make otherwise.
"""
