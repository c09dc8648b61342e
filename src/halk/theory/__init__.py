"""What the theorems guarantee, in numbers.

They speak of ``coupling="exact"`` with plain steps ``eta = T^(-1/2)`` for functions and
multipliers alike, a reading for every agent at every step, the norm ball (S8) on, and
averages over the T steps of a run. All constants are worst cases: real runs need far
fewer steps. Where a proof of the paper slips, the constant here is the larger one that
holds, and its description says so.
"""

from halk.theory.bounds import (
    dual_regularization_range,
    gap_bound,
    is_dual_regularization_admissible,
    model_order_bound,
    practical_tightening,
    tightening,
    unmet_conditions,
)
from halk.theory.conversions import Compression, compression
from halk.theory.lemmas import (
    Constants,
    constants,
    gradient_bound,
    multiplier_bound,
    violation_per_root,
)
from halk.theory.planning import Plan, plan
from halk.theory.problem import (
    Problem,
    proximity_constants,
    regression_problem,
    squared_loss_lipschitz,
)

__all__ = [
    "Compression",
    "Constants",
    "Plan",
    "Problem",
    "compression",
    "constants",
    "dual_regularization_range",
    "gap_bound",
    "gradient_bound",
    "is_dual_regularization_admissible",
    "model_order_bound",
    "multiplier_bound",
    "plan",
    "practical_tightening",
    "proximity_constants",
    "regression_problem",
    "squared_loss_lipschitz",
    "tightening",
    "unmet_conditions",
    "violation_per_root",
]
