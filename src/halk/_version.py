"""The version, in one place: the packaging reads it from here."""

__version__ = "0.1.0.dev0"
