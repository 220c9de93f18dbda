"""Evaluation: cases, measures and runs that drive the online path, and the fault-injection experiments.

Takes: case files and a built corpus. Returns: figures per bucket, and experiments' expectations with what was seen.
Called by: cli.
Never does: retrieve or answer by itself; what it measures is what a caller would get.
"""
