"""Kernels: the similarity of two points, which decides what functions can be learned.

Combine them with ``+`` and ``*``; write your own with :class:`Custom`.
"""

from halk.kernels import composite, custom, dot_product, stationary
from halk.kernels.base import (
    Kernel,
    kernel_at_itself,
    kernel_lanes,
    kernel_value,
    rescaled,
)
from halk.kernels.composite import *  # noqa: F403
from halk.kernels.custom import *  # noqa: F403
from halk.kernels.dot_product import *  # noqa: F403
from halk.kernels.stationary import *  # noqa: F403

__all__ = ["Kernel", "kernel_at_itself", "kernel_lanes", "kernel_value", "rescaled"]
for _module in (stationary, dot_product, composite, custom):
    __all__ += _module.__all__
