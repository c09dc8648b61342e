"""The arguments of an estimator, checked, and the learners they make."""

from dataclasses import dataclass, field
from typing import Any

from halk._online.components import KERNELS, WIDTHS, kernel_for
from halk._validation import Matrix, choice, integer, positive
from halk.kernels import Kernel
from halk.learners import HALK
from halk.learners.settings import require_component
from halk.losses import Loss
from halk.network import Network


@dataclass(frozen=True)
class Settings:
    """What decides a model, apart from its data.

    Parameters
    ----------
    network : Network
    kernel : Kernel or str
    bandwidth : float or str
    loss : Loss
    epsilon, parsimony : float
        The budget; ``parsimony`` goes before ``epsilon`` unless it is None.
    standardizes_inputs, standardizes_target : bool
    warm_up : int
        Readings that scales and bandwidth are taken from.
    options : dict
        Further arguments of :class:`halk.HALK`.
    """

    network: Network
    kernel: Any
    bandwidth: Any
    loss: Loss
    epsilon: Any
    parsimony: Any
    standardizes_inputs: bool
    standardizes_target: bool
    warm_up: int
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        integer("warm_up", self.warm_up, minimum=1)
        choice("standardize_inputs", self.standardizes_inputs, (False, True))
        choice("standardize_target", self.standardizes_target, (False, True))
        if isinstance(self.kernel, str):
            choice("kernel", self.kernel, KERNELS)
        else:
            require_component("kernel", self.kernel, Kernel, "'gaussian'")
        if isinstance(self.bandwidth, str):
            choice("bandwidth", self.bandwidth, WIDTHS)
        else:
            positive("bandwidth", self.bandwidth)

    def kernel_for(self, Z: Matrix) -> Kernel:
        """Return the kernel for standardised inputs like these."""
        kernel: Kernel = kernel_for(self.kernel, self.bandwidth, Z)
        return kernel

    def learner(self, kernel: Kernel) -> HALK:
        """Return a learner that has learned nothing."""
        epsilon = self.epsilon if self.parsimony is None else None
        return HALK(
            self.network, kernel, self.loss, epsilon=epsilon,
            parsimony=self.parsimony, **self.options,
        )  # fmt: skip
