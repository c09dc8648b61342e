"""Kernels and losses by name, and length scales that the data decide."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from halk import kernels, losses
from halk._validation import Matrix, choice, positive

KERNELS: dict[str, Callable[[float], kernels.Kernel]] = {
    "gaussian": kernels.Gaussian,
    "laplacian": kernels.Laplacian,
    "matern32": kernels.Matern32,
    "matern52": kernels.Matern52,
}

LOSSES: dict[str, losses.Loss] = {
    "squared": losses.Squared(),
    "huber": losses.Huber(),
    "absolute": losses.Absolute(),
    "epsilon_insensitive": losses.EpsilonInsensitive(),
}

LABEL_LOSSES: dict[str, losses.Loss] = {
    "logistic": losses.Logistic(),
    "hinge": losses.Hinge(),
}

_ROWS_COMPARED = 512
"""Rows whose distances are looked at: their number goes into the cost squared."""


def component(name: str, value: Any, known: Mapping[str, Any]) -> Any:
    """Return the component of a name; what is not a name is left to its family."""
    return known[choice(name, value, known)] if isinstance(value, str) else value


def kernel_for(kernel: Any, length_scale: Any, Z: Matrix) -> kernels.Kernel:
    """Return the kernel for inputs like ``Z`` (n, p), already standardised.

    A kernel that is one keeps its own length scale.
    """
    if not isinstance(kernel, str):
        return kernels.as_kernel(kernel)
    family = KERNELS[choice("kernel", kernel, KERNELS)]
    if isinstance(length_scale, str):
        return family(WIDTHS[choice("length_scale", length_scale, WIDTHS)](Z))
    return family(positive("length_scale", length_scale))


def median_width(Z: Matrix) -> float:
    """Return ``sqrt(m / 2)``, ``m`` the median squared distance of different rows.

    1 where all rows are the same.
    """
    Z = Z[:_ROWS_COMPARED]
    lengths = (Z**2).sum(axis=1)
    squares = lengths[:, None] + lengths - 2 * Z @ Z.T
    # Of equal rows rounding leaves something above zero.
    different = squares[squares > 1e-9 * (1 + lengths.max(initial=0.0))]
    return float(np.sqrt(np.median(different) / 2)) if len(different) else 1.0


def scale_width(Z: Matrix) -> float:
    """Return ``sqrt(p v / 2)``, ``v`` the variance of all entries; 1 where it is 0.

    The Gaussian is then that of scikit-learn's ``gamma="scale"``.
    """
    width = float(np.sqrt(Z.shape[1] * Z.var() / 2)) if Z.size else 0.0
    return width if width > 0 else 1.0


WIDTHS = {"median": median_width, "scale": scale_width}
