"""HTTP: routes, tokens, request checks, the public JSON shapes, metrics.

Takes: requests. Returns: responses; every failure in one shape with a stable code.
Called by: `service/app.py`; the command line borrows the presenters and the token maker.
Never does: search, decide rights, or say why something is not found.
"""
