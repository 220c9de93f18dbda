"""A real Elasticsearch (one node or three) and Redis on this machine, without Docker, standard library only.

Takes: a home folder, ports, a node count. Returns: StackInfo with URLs, processes and logs (`lifecycle.up`).
Called by: scripts/stack, the test runner, the demo.
Never does: end a process it did not record, touch data on `down`, or start a server whose URL is already set.
"""
