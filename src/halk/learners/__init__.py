"""Learners: what an agent holds and how neighbours bind, put together.

| | multipliers | fixed multiplier | mixing | consensus ADMM | nothing |
|---|---|---|---|---|---|
| dictionary | HALK, NewtonHALK, Consensus | Penalty | | | Alone, POLK (pooled) |
| fixed features | Linear, RBFNetwork | | RFFDiffusion | RFFADMM | NLMS |
"""

from halk.learners.alone import Alone
from halk.learners.base import Learner
from halk.learners.consensus import Consensus
from halk.learners.dictionary import DictionaryLearner, KernelLearner
from halk.learners.fixed_features import FeatureLearner
from halk.learners.halk import HALK
from halk.learners.linear import Linear
from halk.learners.newton import NewtonHALK
from halk.learners.nlms import NLMS
from halk.learners.penalty import Penalty
from halk.learners.polk import POLK
from halk.learners.rbf import RBFNetwork
from halk.learners.rff_admm import RFFADMM
from halk.learners.rff_diffusion import RFFDiffusion

__all__ = [
    "HALK",
    "NLMS",
    "POLK",
    "RFFADMM",
    "Alone",
    "Consensus",
    "DictionaryLearner",
    "FeatureLearner",
    "KernelLearner",
    "Learner",
    "Linear",
    "NewtonHALK",
    "Penalty",
    "RBFNetwork",
    "RFFDiffusion",
]
