"""The one error that the commands print without a traceback."""


class StackError(Exception):
    """Something the reader can act on: the message says what failed and what to do about it."""
