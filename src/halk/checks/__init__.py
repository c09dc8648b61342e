"""The laws as functions: run a kernel, loss, learner, ... of your own through them.

Each check returns None, or raises :class:`halk.errors.LawError` with the law that was
broken, by whom, and a counterexample. What halk ships passes all of them.

Examples
--------
>>> import numpy as np
>>> def seasonal(X, Y):
...     return 1.0 + np.cos(X[:, :1] - Y[:, 0])
>>> check_kernel(seasonal)
"""

from halk.checks.formulas import check_loss, check_proximity
from halk.checks.kernels import check_compressor, check_features, check_kernel
from halk.checks.learners import LEARNER_LAWS, check_learner
from halk.checks.runs import check_adaptation, check_executor, run_agents

__all__ = [
    "LEARNER_LAWS", "check_adaptation", "check_compressor", "check_executor",
    "check_features", "check_kernel", "check_learner", "check_loss", "check_proximity",
    "run_agents",
]  # fmt: skip
