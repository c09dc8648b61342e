r"""The whole HALK algorithm, plain and dense: what explains it, and the oracle.

Everything fast in this package is compared with this module step by step, so it
shares no code with the rest, and obvious beats fast throughout. Equations are
numbered as in docs/notation.md. A network of V agents solves

.. math:: \min_f \sum_i E[\ell(f_i(x_i), y_i)] + \tfrac\lambda2 \|f_i\|^2
          \quad\text{s.t.}\quad E[h(f_i(x_i), f_j(x_i))] \le \gamma_{ij}    \quad (S1)

by stochastic descent on the functions and ascent on the multipliers ``mu`` of its
Lagrangian (S2). Each ``f_i = sum_k w_k k(d_k, .)`` is a list of atoms ``d_k`` and
weights ``w_k``; destructive KOMP keeps that list short. Read from the top: kernels,
losses and proximities in `formulas`; KOMP, then `HALK.step`, which is S3 to S9, in
`network`; length scales that adapt; the baselines with fixed features; and the second
order, N0 to N6, in `newton`.
"""

from halk.reference.adaptive import AdaptiveHALK, Guards, leave_one_out_length_scale
from halk.reference.baselines import ADMM, Diffusion, PrimalDual
from halk.reference.formulas import (
    LOSSES,
    PROXIMITIES,
    Array,
    Kernel,
    Loss,
    gaussian,
    laplacian,
    linear,
    matern32,
    matern52,
    periodic,
    polynomial,
    rational_quadratic,
)
from halk.reference.network import HALK, Info, Messages, komp
from halk.reference.newton import BOUNDS, NewtonAgent, NewtonHALK, NewtonInfo

__all__ = [
    "ADMM", "BOUNDS", "HALK", "LOSSES", "PROXIMITIES", "AdaptiveHALK", "Array",
    "Diffusion", "Guards", "Info", "Kernel", "Loss", "Messages", "NewtonAgent",
    "NewtonHALK", "NewtonInfo", "PrimalDual", "gaussian", "komp", "laplacian",
    "leave_one_out_length_scale", "linear", "matern32", "matern52", "periodic",
    "polynomial", "rational_quadratic",
]  # fmt: skip
