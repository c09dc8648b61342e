"""What the estimators of scikit-learn and river share: HALK on standardised numbers."""

from halk._online.components import KERNELS, LABEL_LOSSES, LOSSES, WIDTHS, component
from halk._online.model import Model
from halk._online.settings import Settings

__all__ = [
    "KERNELS",
    "LABEL_LOSSES",
    "LOSSES",
    "WIDTHS",
    "Model",
    "Settings",
    "component",
]
