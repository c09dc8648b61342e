"""Learners: what an agent holds and how neighbours bind, put together."""

from halk.learners.halk import HALK

__all__ = ["HALK"]
