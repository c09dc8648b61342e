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

class PythonKernel(Kernel):
    def __init__(
        self,
        n_features: int,
        matrix: Callable[[Floats, Floats, float], Floats],
        length_scale: Sequence[float],
    ) -> None: ...

class LabelledKernel(Kernel):
    def __init__(self, inner: Kernel, between: float) -> None: ...

class PairKernel(Kernel):
    def __init__(self, left: Kernel, right: Kernel, is_sum: bool) -> None: ...

def native_kernel(
    name: str,
    n_features: int,
    length_scale: Sequence[float],
    parameters: Sequence[float],
) -> Kernel: ...

class Loss:
    def __init__(
        self,
        kind: int,
        parameter: float,
        curvature: float,
        slope: Callable[[float, float], float],
    ) -> None: ...
    def slope(self, a: float, y: float) -> float: ...

class Proximity:
    def __init__(
        self,
        kind: int,
        parameter: float,
        curvature: float,
        value_and_slope: Callable[[list[float], list[float]], tuple[Floats, Floats]],
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
        self, start: Integers, agent: Integers, x: Floats, y: Floats, n_threads: int
    ) -> tuple[int, Floats, Floats, Integers, Floats]: ...
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
    def counts(self) -> Floats: ...
    @property
    def steps_made(self) -> int: ...
    @property
    def is_torn(self) -> bool: ...
    def predict_one(self, x: Floats) -> float: ...
    def answer(self, queries: Floats, edge: Edges, multiplier: Floats) -> Floats: ...
    def adopt(self, value: float, std: float) -> None: ...
    def update(
        self,
        x: Floats | None,
        y: float,
        answers: Floats,
        around: float,
        queries: Floats,
        edge: Edges,
        multiplier: Floats,
        carried: Floats,
    ) -> None: ...
    def observe(self, y: float) -> None: ...

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
        self, start: Integers, agent: Integers, x: Floats, y: Floats, n_threads: int
    ) -> tuple[int, Floats, Floats, Integers, Floats]: ...
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
    def counts(self) -> Floats: ...
    @property
    def steps_made(self) -> int: ...
    @property
    def is_torn(self) -> bool: ...
    def variance(self, agents: Integers, X: Floats) -> Floats: ...
    def predict_one(self, x: Floats) -> float: ...
    def answer(self, queries: Floats, edge: Edges, multiplier: Floats) -> Floats: ...
    def adopt(self, value: float, std: float) -> None: ...
    def update(
        self,
        x: Floats | None,
        y: float,
        answers: Floats,
        around: float,
        queries: Floats,
        edge: Edges,
        multiplier: Floats,
        carried: Floats,
    ) -> None: ...
    def adapt(self, x: Floats, y: float) -> float: ...

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
