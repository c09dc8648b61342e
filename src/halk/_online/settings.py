"""The arguments of an estimator, checked, and the learners they make."""

from dataclasses import dataclass, field
from typing import Any

from halk._online.components import KERNELS, WIDTHS, kernel_for
from halk._validation import Matrix, choice, integer, positive
from halk.kernels import Kernel, as_kernel
from halk.learners import HALK
from halk.losses import Loss
from halk.network import Network


@dataclass(frozen=True)
class Settings:
    """What decides a model, apart from its data.

    Parameters
    ----------
    network : Network
    kernel : Kernel or str
    length_scale : float or str
    loss : Loss
    epsilon, parsimony : float
        The budget; ``parsimony`` goes before ``epsilon`` unless it is None.
    standardizes_inputs, standardizes_target : bool
    warm_up : int
        Readings that scales and length scale are taken from.
    options : dict
        Further arguments of :class:`halk.HALK`.
    """

    network: Network
    kernel: Any
    length_scale: Any
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
            as_kernel(self.kernel)
        if isinstance(self.length_scale, str):
            choice("length_scale", self.length_scale, WIDTHS)
        else:
            positive("length_scale", self.length_scale)

    def kernel_for(self, Z: Matrix) -> Kernel:
        """Return the kernel for standardised inputs like these."""
        return kernel_for(self.kernel, self.length_scale, Z)

    def learner(self, kernel: Kernel) -> HALK:
        """Return a learner that has learned nothing."""
        epsilon = self.epsilon if self.parsimony is None else None
        return HALK(
            self.network, kernel, self.loss, epsilon=epsilon,
            parsimony=self.parsimony, **self.options,
        )  # fmt: skip
