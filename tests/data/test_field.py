import numpy as np
import pytest

from halk.data import Field
from tests.data.strategies import field_of


def test_a_field_counts_its_readings():
    field = field_of([2, 0, 2, 2], 4)
    assert (field.n_agents, field.n_readings) == (4, 4)
    assert field.counts.tolist() == [1, 0, 3, 0]
    assert repr(field) == "Field(temperature in °C: 4 readings of 4 sensors by depth_m)"
    assert "in" not in repr(field_of([0], 1, unit="")).split(":")[0]


def test_arrays_are_read_only_copies():
    x = np.zeros((1, 1))
    field = field_of([0], 1, x=x)
    x[0] = 5.0
    assert field.x.tolist() == [[0.0]]
    for name in ("agent", "x", "y", "positions"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(field, name)[0] = 1


@pytest.mark.parametrize(
    ("is_geographic", "inputs"),
    [(True, ("depth_m", "lat", "lon")), (False, ("depth_m", "x", "y"))],
)
def test_positions_become_inputs(is_geographic, inputs):
    field = field_of([1, 0], 2, is_geographic=is_geographic).with_positions()
    assert field.inputs == inputs
    assert field.x.tolist() == [[0, 1, 0], [1, 0, 0]]


def test_a_subset_keeps_all_sensors():
    field = field_of([0, 1, 1], 3)
    part = field.subset(field.y > 101)
    assert part.names == field.names
    assert part.counts.tolist() == [0, 1, 0]
    assert part.y.tolist() == [102]


def test_chosen_sensors_come_in_the_order_given():
    field = field_of([0, 1, 2, 0], 3)
    part = field.choose(["s2", 0])
    assert part.names == ("s2", "s0")
    assert part.positions[:, 0].tolist() == [2, 0]
    assert dict(zip(part.y.tolist(), part.agent.tolist(), strict=True)) == {
        100: 1,
        102: 0,
        103: 1,
    }


def test_neighbours_are_within_kilometres_or_within_the_unit_of_the_plane():
    # A degree of latitude is 111.2 km.
    on_earth = field_of([], 4).network(112, tolerance=lambda d: d / 1000)
    assert on_earth.degree.tolist() == [1, 2, 2, 1]
    assert on_earth.names == ("s0", "s1", "s2", "s3")
    assert on_earth.tolerance == pytest.approx(0.1112, abs=1e-4)
    on_paper = field_of([], 4, is_geographic=False).network(2)
    assert on_paper.degree.tolist() == [2, 3, 3, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": [1.0]}, r"y must have shape \(2\), got \(1,\)"),
        ({"y": [1.0, np.nan]}, r"y must be finite, got nan at index \(1,\)"),
        ({"x": [[1.0], [np.inf]]}, r"x must be finite, got inf at index \(1, 0\)"),
        ({"x": np.zeros((2, 2))}, r"x must have shape \(2, 1\)"),
        ({"positions": np.zeros((3, 2))}, r"positions must have shape \(2, 2\)"),
        ({"positions": [(91, 0), (0, 0)]}, r"latitude must be within \[-90, 90\]"),
        ({"names": ("a", "a")}, "names must be unique"),
        ({"names": ()}, "names must not be empty"),
        ({"inputs": ()}, "inputs must not be empty"),
        ({"agent": [0, 2]}, "agent must be from 0 to 1, got 2 at"),
        ({"agent": [0, -1]}, "agent must be from 0 to 1, got -1"),
        ({"agent": [[0], [1]]}, r"agent must have shape"),
    ],
)
def test_broken_fields(changes, message):
    with pytest.raises(ValueError, match=message):
        field_of([0, 1], 2, **changes)


def test_types_of_numbers():
    with pytest.raises(TypeError, match="agent must hold whole numbers"):
        Field("t", "", ("x",), ("a",), [(0, 0)], False, [0.5], [[1]], [1])
    with pytest.raises(TypeError, match="mask must be of booleans"):
        field_of([0], 1).subset([0])
    with pytest.raises(ValueError, match=r"mask must have one entry per reading \(1\)"):
        field_of([0], 1).subset([True, False])
    with pytest.raises(ValueError, match="names must not be empty"):
        field_of([0], 1).choose([])
    with pytest.raises(ValueError, match="agent must be one of 's0'"):
        field_of([0], 1).choose(["s9"])
    with pytest.raises(ValueError, match="names must be unique"):
        field_of([0], 1).choose([0, "s0"])
