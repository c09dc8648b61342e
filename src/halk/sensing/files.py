"""Models in files: the learner's checkpoint, and what makes tables of it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halk._atomic import replacing
from halk.checkpoint import (
    WRONG,
    Arrays,
    RefusedError,
    contents,
    pack,
    rebuild,
    refuse,
    unpack,
)
from halk.data.schema import Schema
from halk.data.sensors import Sensors
from halk.errors import CheckpointError
from halk.intervals import Intervals
from halk.learners import HALK
from halk.sensing.choices import Choices, Graph
from halk.sensing.encoding import Part
from halk.sensing.learned import Learned
from halk.sensing.memory import Memory
from halk.sensing.reasons import Reason
from halk.sensing.scales import Moments

if TYPE_CHECKING:
    from halk.sensing.model import SensorModel

_OURS = "sensing."


def save(model: SensorModel, path: str | PathLike[str]) -> None:
    """Save a model whole, or not at all."""
    try:
        header, arrays = contents(model.learner)
    except RefusedError as refusal:
        raise CheckpointError(f"{path} was not saved: the model {refusal}") from None
    arrays |= {f"{_OURS}{name}": value for name, value in _arrays(model).items()}
    with replacing(path) as file:
        file.write(pack({"sensing": _described(model), "learner": header}, arrays))


def _described(model: SensorModel) -> dict[str, Any]:
    choices = dict(vars(model.choices))
    choices["parts"] = model.choices.encoder.as_list()
    return {
        "schema": model.schema.as_dict(),
        "sensors": model.sensors.as_dict(),
        "choices": choices,
        "spread": model.spread,
        "moments": list(model.moments),
        "coverage": model.intervals.coverage,
        "reasons": [list(reason) for reason in model.reasons],
        "n_covered": model.learned.n_covered,
        "has_places": model.sensors.positions is not None,
        "has_graph": model.graph is not None,
    }


def _arrays(model: SensorModel) -> dict[str, NDArray[Any]]:
    sensors, graph, memory = model.sensors, model.graph, model.memory
    found: dict[str, NDArray[Any]] = {
        "memory_agent": memory.agent, "memory_x": memory.x, "memory_y": memory.y,
        "marks": memory.marks,
    }  # fmt: skip
    found |= {name: np.asarray(v) for name, v in model.learned._asdict().items()}
    del found["n_covered"]
    found |= model.intervals.state()
    if sensors.positions is not None:
        found["positions"] = sensors.positions
    if sensors.attributes:
        found["attributes"] = np.column_stack(list(sensors.attributes.values()))
    if graph is not None:
        found |= {"pairs": graph.pairs, "pair_tolerance": graph.tolerance}
    return found


def load(path: str | PathLike[str], cls: type[SensorModel]) -> SensorModel:
    """Return the model of a file, or say why it is none."""
    try:
        return _loaded(*unpack(Path(path).read_bytes()), cls)
    except FileNotFoundError:
        raise CheckpointError(
            f"{path} does not exist; check the name, or make it with `halk fit`"
        ) from None
    except IsADirectoryError:
        raise CheckpointError(f"{path} is a folder; give a file in it") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    except RefusedError as refusal:
        raise CheckpointError(f"{path} {refusal}") from None


def _loaded(
    header: dict[str, Any], arrays: Arrays, cls: type[SensorModel]
) -> SensorModel:
    if "sensing" not in header:
        kind = header.get("learner", "another")
        refuse(f"holds a {kind} learner without tables", f"load it with {kind}.load")
    own = {
        name.removeprefix(_OURS): arrays.pop(name).copy()
        for name in list(arrays)
        if name.startswith(_OURS)
    }
    learner = rebuild(header["learner"], arrays, HALK)
    try:
        return _rebuilt(header["sensing"], own, learner, cls)
    except WRONG as error:
        refuse(f"is not consistent: {type(error).__name__}: {error}")


def _rebuilt(
    found: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    learner: HALK,
    cls: type[SensorModel],
) -> SensorModel:
    if "moments" not in found:
        refuse("was made by an earlier version", "make it again with `halk fit`")
    known = found["sensors"]
    columns = known["attributes"]
    attributes = {
        str(name): np.ascontiguousarray(arrays["attributes"][:, k])
        for k, name in enumerate(columns)
    }
    positions = arrays["positions"] if found["has_places"] else None
    sensors = Sensors(
        tuple(known["names"]), positions, bool(known["is_geographic"]), attributes,
        tuple(known["columns"]),
    )  # fmt: skip
    graph = None
    if found["has_graph"]:
        graph = Graph(arrays["pairs"], arrays["pair_tolerance"])
    parts = tuple(Part(**part) for part in found["choices"].pop("parts"))
    choices = Choices(parts, **found["choices"])
    model = cls(
        Schema.from_dict(found["schema"]), sensors, graph, choices,
        float(found["coverage"]), learner, float(found["spread"]),
    )  # fmt: skip
    n, mean, squares = found["moments"]
    model.moments = Moments(int(n), float(mean), float(squares))
    model.intervals = Intervals.from_state(float(found["coverage"]), arrays)
    model.memory = Memory(
        arrays["memory_agent"], arrays["memory_x"], arrays["memory_y"], arrays["marks"]
    )
    model.learned = Learned(
        arrays["readings"], arrays["judged"], arrays["squares"], arrays["deviations"],
        int(found["n_covered"]),
    )  # fmt: skip
    model.reasons = tuple(Reason(*reason) for reason in found["reasons"])
    if not len(sensors.names) == learner.network.n_agents == model.intervals.n_agents:
        raise ValueError("numbers of sensors differ")
    return model
