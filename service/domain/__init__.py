"""The vocabulary: frozen values and the ports that adapters implement.

Takes: nothing. Returns: types that every room shares.
Called by: every room.
Never does: IO, third-party imports beyond numpy's array type, or decisions.
"""
