"""Findings on the screen."""

from __future__ import annotations

from typing import Any

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def told(screen: Any, findings: list[Any]) -> None:
    """Print findings, one after the other."""
    for finding in findings:
        screen.print(f"[{_COLOURS[finding.level]}]{finding.level}[/] ", end="")
        screen.print(finding.text, markup=False)
