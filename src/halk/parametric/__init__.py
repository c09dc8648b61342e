"""Agents with fixed features: weights instead of dictionaries, in plain NumPy."""

from halk.parametric.admm import ADMM
from halk.parametric.base import Independent, Relative, Setup
from halk.parametric.diffusion import Diffusion
from halk.parametric.primal_dual import PrimalDual

__all__ = ["ADMM", "Diffusion", "Independent", "PrimalDual", "Relative", "Setup"]
