"""The demo: sensors of the Gulf of Mexico fill in what they did not measure."""

from halk.demo.show import main

__all__ = ["main"]
