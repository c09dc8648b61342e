"""Types of the native core; ``core/bindings.cpp`` is the source."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Edges: TypeAlias = NDArray[np.int32]
Integers: TypeAlias = NDArray[np.int64]
Small: TypeAlias = NDArray[np.int8]
State: TypeAlias = dict[str, NDArray[Any]]

class Kernel:
    def matrix(self, X: Floats, Y: Floats, scale: float = 1.0) -> Floats: ...

def native_kernel(
    name: str,
    n_features: int,
    length_scale: Sequence[float],
    parameters: Sequence[float],
) -> Kernel: ...
def python_kernel(
    n_features: int,
    matrix: Callable[[Floats, Floats, float], Floats],
    length_scale: Sequence[float],
) -> Kernel: ...
def labelled_kernel(inner: Kernel, between: float) -> Kernel: ...
def pair_kernel(left: Kernel, right: Kernel, is_sum: bool) -> Kernel: ...

class Loss:
    def __init__(
        self,
        name: str,
        parameter: float,
        curvature: float,
        slope: Callable[[float, float], float] | None,
    ) -> None: ...
    def slope(self, a: Floats, y: Floats) -> Floats: ...

class Proximity:
    def __init__(
        self,
        name: str,
        parameter: float,
        curvature: float,
        value_and_slope: Callable[[Floats, Floats], tuple[Floats, Floats]] | None,
    ) -> None: ...
    def compare(self, a: Floats, b: Floats) -> tuple[Floats, Floats]: ...

class Adaptation:
    def __init__(
        self,
        kind: int,
        rate: float,
        warm_up: float,
        narrowest: float,
        widest: float,
        threshold: float,
        smoothing: float,
        sharing: float,
    ) -> None: ...

class Settings:
    def __init__(
        self,
        kernel: Kernel,
        loss: Loss,
        proximity: Proximity,
        adaptation: Adaptation,
        regularization: float,
        dual_regularization: float,
        tightening: float,
        norm_bound: float,
        is_exact: bool,
        is_normalized: bool,
        removes_offset: bool,
        removes_std: bool,
    ) -> None: ...
    @property
    def is_python(self) -> bool: ...

class NewtonSettings:
    def __init__(
        self,
        kernel: Kernel,
        loss: Loss,
        forgetting: float,
        regularization: float,
        robust: float,
        novelty: float,
        max_atoms: int,
        budget: float,
        dual_gain: float,
        warm_up: float,
        largest_multiplier: float,
        tightening: float,
        exchanges_readings: bool,
        removes_offset: bool,
        removes_std: bool,
    ) -> None: ...

class Network:
    def __init__(
        self,
        settings: Settings,
        start: Integers,
        neighbour: Integers,
        reverse: Integers,
        edges: Floats,
        paces: Floats,
    ) -> None: ...
    def run(
        self,
        start: Integers,
        agent: Integers,
        x: Floats,
        y: Floats,
        prediction: Floats,
        disagreement: Floats,
        asked: Integers,
        variance: Floats,
        n_threads: int,
    ) -> int: ...
    def learn_one(self, x: object, y: object, takes_labels: bool) -> bool: ...
    def predict(self, agents: Integers, X: Floats) -> Floats: ...
    def function(self, agent: int) -> tuple[Floats, Floats]: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
    def set_paces(self, paces: Floats) -> None: ...
    @property
    def order(self) -> Integers: ...
    @property
    def agents(self) -> Floats: ...
    @agents.setter
    def agents(self, arg: Floats, /) -> None: ...
    @property
    def edges(self) -> Floats: ...
    @edges.setter
    def edges(self, arg: Floats, /) -> None: ...
    @property
    def steps_made(self) -> int: ...
    @property
    def is_torn(self) -> bool: ...
    @property
    def counts(self) -> dict[str, int]: ...

class Peer:
    def __init__(self, settings: Settings, edges: Floats, pace: Floats) -> None: ...
    def predict(self, x: Floats) -> float: ...
    def observe(self, y: float) -> None: ...
    def adopt(self, value: float, std: float) -> None: ...
    def update(
        self,
        x: Floats | None,
        y: float,
        answers: Floats,
        around: float,
        queries: Floats,
        edge: Edges,
        carried: Floats,
    ) -> None: ...
    def answer(self, queries: Floats, edge: Edges, carried: Floats) -> Floats: ...
    def function(self) -> tuple[Floats, Floats]: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
    @property
    def order(self) -> Integers: ...
    @property
    def agents(self) -> Floats: ...
    @agents.setter
    def agents(self, arg: Floats, /) -> None: ...
    @property
    def edges(self) -> Floats: ...
    @edges.setter
    def edges(self, arg: Floats, /) -> None: ...

class NewtonNetwork:
    def __init__(
        self,
        settings: NewtonSettings,
        start: Integers,
        neighbour: Integers,
        reverse: Integers,
        edges: Floats,
        paces: Floats,
    ) -> None: ...
    def run(
        self,
        start: Integers,
        agent: Integers,
        x: Floats,
        y: Floats,
        prediction: Floats,
        disagreement: Floats,
        asked: Integers,
        variance: Floats,
        n_threads: int,
    ) -> int: ...
    def learn_one(self, x: object, y: object, takes_labels: bool) -> bool: ...
    def predict(self, agents: Integers, X: Floats) -> Floats: ...
    def variance(self, agents: Integers, X: Floats) -> Floats: ...
    def function(self, agent: int) -> tuple[Floats, Floats]: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
    def set_paces(self, paces: Floats) -> None: ...
    @property
    def order(self) -> Integers: ...
    @property
    def agents(self) -> Floats: ...
    @agents.setter
    def agents(self, arg: Floats, /) -> None: ...
    @property
    def edges(self) -> Floats: ...
    @edges.setter
    def edges(self, arg: Floats, /) -> None: ...
    @property
    def steps_made(self) -> int: ...
    @property
    def is_torn(self) -> bool: ...
    @property
    def counts(self) -> dict[str, int]: ...

class NewtonPeer:
    def __init__(
        self, settings: NewtonSettings, edges: Floats, pace: Floats
    ) -> None: ...
    def predict(self, x: Floats) -> float: ...
    def adapt(self, x: Floats, y: float) -> float: ...
    def adopt(self, value: float, std: float) -> None: ...
    def update(
        self,
        x: Floats | None,
        y: float,
        answers: Floats,
        around: float,
        queries: Floats,
        edge: Edges,
        carried: Floats,
    ) -> None: ...
    def answer(self, queries: Floats, edge: Edges, carried: Floats) -> Floats: ...
    def function(self) -> tuple[Floats, Floats]: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
    @property
    def order(self) -> Integers: ...
    @property
    def agents(self) -> Floats: ...
    @agents.setter
    def agents(self, arg: Floats, /) -> None: ...
    @property
    def edges(self) -> Floats: ...
    @edges.setter
    def edges(self, arg: Floats, /) -> None: ...

class NeighbourNetwork:
    def __init__(
        self,
        window: int,
        stale: int,
        period: int,
        memory: float,
        coverage: float,
        is_robust: bool,
    ) -> None: ...
    def add(
        self, near: Integers, is_blind: Small, distances: Floats, key: int
    ) -> None: ...
    def hear(
        self,
        values: Floats,
        now: Floats | None,
        now_bin: Small | None,
        fill: Floats | None,
        fill_bin: Small | None,
        flag: Small | None,
        predicted: Floats | None,
        z: Floats | None,
        n_threads: int,
    ) -> Floats: ...
    def flush(self, fill: Floats, fill_bin: Small) -> None: ...
    def forecast(self, agents: Integers, ahead: Integers) -> tuple[Floats, Small]: ...
    def rewind(self, shifts: Floats) -> None: ...
    def state(self) -> State: ...
    def load(self, state: State) -> None: ...
    def prior(self) -> State: ...
    @property
    def steps(self) -> int: ...

def compress(
    kernel: Kernel, atoms: Floats, weights: Floats, budget: float
) -> tuple[Integers, Floats]: ...
def dots(A: Floats, i: Integers, B: Floats, j: Integers) -> Floats: ...
def add_rows(out: Floats, i: Integers, c: Floats, B: Floats, j: Integers) -> None: ...
def build_info() -> dict[str, str]: ...
