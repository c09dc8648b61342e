"""Feature maps: a fixed number of functions of the input, for linear models on them.

To add one: a class with ``size`` and ``_values``, and its name here.
"""

from halk.features.base import FeatureMap
from halk.features.fourier import RandomFourier
from halk.features.plain import Identity, Monomials, Sine
from halk.features.radial import RadialBasis

__all__ = [
    "FeatureMap",
    "Identity",
    "Monomials",
    "RadialBasis",
    "RandomFourier",
    "Sine",
]
