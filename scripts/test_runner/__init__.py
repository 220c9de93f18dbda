"""What scripts/test does: servers up, checks, tests, servers down; standard library only.

Takes: options, pytest's arguments, the environment. Returns: an exit code and a table of what took how long.
Called by: scripts/test, and through it .ci/run.
Never does: anything to servers it has not started.
"""
