"""How much to measure, and who is told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Plan"]

T = TypeVar("T")


def _unheard(what: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Plan:
    """Quick or full, and a function that is told what is being measured."""

    is_quick: bool = False
    tell: Callable[[str], None] = _unheard

    def pick(self, quick: T, full: T) -> T:
        """Return the size that fits.

        Examples
        --------
        >>> Plan(is_quick=True).pick(10, 1000)
        10
        """
        return quick if self.is_quick else full
