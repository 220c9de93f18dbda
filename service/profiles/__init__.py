"""Named, versioned settings as data: ranking profiles, corpus profiles, question rules.

Takes: a name or a mapping. Returns: validated, frozen profiles.
Called by: bootstrap, both stories, the evaluation.
Never does: read the environment, or hold a weight in code.
"""
