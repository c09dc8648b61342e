"""What is wrong with a user's data."""

from halk.errors import HalkError

__all__ = ["DataError"]


class DataError(HalkError, ValueError):
    """A file of readings cannot be used as it is.

    The message names the file, the line, the sensor and the column, and says what to
    do about it.
    """
