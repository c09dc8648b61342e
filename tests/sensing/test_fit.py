"""``halk.fit``: good models without parameters, and the laws they keep."""

import numpy as np
import pytest

import halk
from halk.sensing import Options
from tests.sensing.network import made, some


@pytest.fixture(scope="module")
def searched():
    """Return a model that was searched for, and its network."""
    network = made()
    return halk.fit(network[0], network[1]), network


def error(model, network, n=200, seed=5):
    """Return the error of a model at points of all sensors, against the truth."""
    rng = np.random.default_rng(seed)
    names = rng.choice(network[1]["sensor"], n)
    x = rng.uniform(0, 2, n)
    gaps = {"sensor": list(names), "depth_m": x}
    found = np.array(model.fill(gaps)["t_C_predicted"])
    return float(np.sqrt(np.mean((found - network[2](names, x)) ** 2)))


def test_no_parameters_are_needed(searched):
    model, network = searched
    assert error(model, network) < 0.35  # noise is 0.3, the spread 3
    assert model.learned.explained > 0.95


def test_every_choice_is_explained(searched):
    model, _ = searched
    names = [reason.name for reason in model.reasons]
    for name in ("inputs", "kernel", "scaling", "neighbours", "tolerance", "step size",
                 "budget"):  # fmt: skip
        assert name in names
    assert all(reason.value and reason.because for reason in model.reasons)
    assert any("°C" in reason.because for reason in model.reasons)


def test_attributes_join_where_they_tell():
    network = made(n_sensors=30, n_each=8, noise=0.05)
    model = halk.fit(network[0], network[1])
    used = [part.name for part in model.choices.parts]
    assert "elevation_m" in used or "place" in used
    without = halk.fit(network[0], network[1], options={"use": ["depth_m"]})
    assert error(model, network) < error(without, network)


def test_neighbours_teach_what_a_sensor_never_saw():
    rng = np.random.default_rng(0)
    agent = np.repeat(np.arange(10), 40)
    reach = np.where(agent % 2 == 0, 2.0, 0.7)
    depth = rng.uniform(0, reach)
    readings = {"sensor": agent, "depth_m": depth, "t_C": np.sin(3 * depth)}
    sensors = {"sensor": np.arange(10), "x": np.arange(10), "y": np.zeros(10)}
    deep = {"depth_m": np.linspace(1, 2, 20)}
    errors = {}
    for tolerance in (None, "apart"):
        options = {} if tolerance is None else {"tolerance": tolerance}
        model = halk.fit(readings, sensors, options=options)
        found = model.predict("3", deep).value
        errors[tolerance] = np.sqrt(np.mean((found - np.sin(3 * deep["depth_m"])) ** 2))
    assert errors[None] < 0.3 * errors["apart"]


@pytest.mark.parametrize("noise", ["normal", "heavy", "skewed"])
def test_intervals_cover_what_they_say_of_unseen_readings(noise):
    shares = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        readings, sensors, true = made(n_sensors=8, n_each=400, seed=seed)
        clean = true(readings["sensor"], np.array(readings["depth_m"]))
        n = len(clean)
        wiggle = {
            "normal": rng.normal(0, 0.5, n), "heavy": rng.standard_t(3, n) / 2,
            "skewed": rng.exponential(0.5, n),
        }[noise]  # fmt: skip
        readings["t_C"] = clean + wiggle
        is_new = rng.random(n) < 0.3
        model = halk.fit(some(readings, ~is_new), sensors, quick=True)
        seen = some(readings, is_new)
        found = model.fill({name: seen[name] for name in ("sensor", "depth_m")})
        y = np.array(seen["t_C"])
        inside = (y >= found["t_C_low"]) & (y <= found["t_C_high"])
        shares.append(inside.mean())
    assert 0.88 <= np.mean(shares) <= 0.925


def same(one, two):
    """Assert that two models are the same, bit for bit."""
    assert one.choices == two.choices
    expected = two.learner.state_dict()
    for name, value in one.learner.state_dict().items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    np.testing.assert_array_equal(
        one.intervals.half_widths(), two.intervals.half_widths()
    )


def test_the_order_of_rows_makes_no_difference():
    readings, sensors, _ = made(n_sensors=5, n_each=20)
    order = np.random.default_rng(1).permutation(len(readings["t_C"]))
    shuffled = {name: [cells[k] for k in order] for name, cells in readings.items()}
    same(
        halk.fit(readings, sensors, quick=True), halk.fit(shuffled, sensors, quick=True)
    )


def test_copies_of_readings_make_no_difference():
    readings, sensors, _ = made(n_sensors=5, n_each=20)
    twice = {name: list(cells) * 2 for name, cells in readings.items()}
    one, two = (halk.fit(table, sensors, quick=True) for table in (readings, twice))
    same(one, two)
    assert "repeated" in [finding.code for finding in two.findings.found]


def test_units_of_inputs_and_values_make_no_difference():
    readings, sensors, _ = made(n_sensors=5, n_each=30)
    other = dict(readings, depth_m=np.array(readings["depth_m"]) * 1000)
    other["t_C"] = np.array(readings["t_C"]) * 1.8 + 32
    one, two = (halk.fit(table, sensors, quick=True) for table in (readings, other))
    a = one.predict("s1", {"depth_m": [0.5, 1.0]}).value
    b = two.predict("s1", {"depth_m": [500.0, 1000.0]}).value
    np.testing.assert_allclose(a * 1.8 + 32, b, rtol=1e-6)


def test_without_places_sensors_learn_apart_and_it_is_said():
    readings, _, _ = made(n_sensors=4, n_each=30)
    model = halk.fit(readings, quick=True)
    assert model.learner.network.n_edges == 0
    assert "apart" in [finding.code for finding in model.findings.found]


def test_a_graph_says_who_talks_to_whom():
    readings, sensors, _ = made(n_sensors=4, n_each=30)
    model = halk.fit(readings, sensors, [("s0", "s1"), ("s1", "s3")], quick=True)
    assert model.learner.network.edges.tolist() == [[0, 1], [1, 0], [1, 3], [3, 1]]


def test_tolerances_of_a_graph_are_in_the_unit_of_the_values(tmp_path):
    readings, sensors, _ = made(n_sensors=3, n_each=30)
    path = tmp_path / "edges.csv"
    path.write_text("from,to,tolerance\ns0,s1,0.5\ns1,s2,\n")
    model = halk.fit(readings, sensors, path, quick=True, options={"tolerance": 2.0})
    spread = float(np.std(readings["t_C"]))
    tolerance = np.sqrt(2 * model.learner.network.tolerance) * spread
    np.testing.assert_allclose(tolerance, [0.5, 0.5, 2.0, 2.0])


def test_one_sensor_is_a_network():
    readings, _, _ = made(n_sensors=1, n_each=50)
    model = halk.fit(readings, quick=True)
    assert model.learned.n_readings == 50


def test_times_become_what_is_asked():
    times = np.datetime64("2024-01-01T00") + np.arange(300) * np.timedelta64(1, "h")
    hour = np.arange(300) % 24
    table = {"sensor": ["a", "b"] * 150, "time": times, "value": np.cos(hour / 3.82)}
    model = halk.fit(table, time="hour", quick=True, options={"use": ["time: hour"]})
    assert [part.kind for part in model.choices.parts] == ["hour"]
    # a day that was never seen is like the others
    later = model.predict("a", {"time": ["2025-06-01T00:00", "2025-06-01T12:00"]})
    np.testing.assert_allclose(later.value, [1.0, -1.0], atol=0.2)


def test_options_are_taken_as_given(tmp_path):
    readings, sensors, _ = made(n_sensors=8, n_each=20)
    path = tmp_path / "options.toml"
    path.write_text(
        'kernel = "laplacian"\nneighbours = 2\nbudget = 0.05\nstep_size = 0.5\n'
        'scaling = "own"\ntolerance = 0.2\nuse = ["depth_m"]\n[widths]\ndepth_m = 0.7\n'
    )
    model = halk.fit(readings, sensors, options=Options.from_toml(path))
    chosen = model.choices
    assert (chosen.kernel, chosen.neighbours, chosen.budget) == ("laplacian", 2, 0.05)
    assert (chosen.step_size, chosen.scaling, chosen.tolerance) == (0.5, "own", 0.2)
    (part,) = chosen.parts
    assert part.length == pytest.approx(0.7)
    given = [reason.name for reason in model.reasons if "given" in reason.because]
    assert {"kernel", "scaling", "tolerance", "step size", "budget"} <= set(given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernle": "gaussian"}, "there is no option 'kernle', did you mean 'kernel'"),
        ({"kernel": "round"}, "kernel must be"),
        ({"tolerance": -1.0}, "tolerance must be positive"),
        ({"neighbours": 3, "radius": 2.0}, "exclude each other"),
        ({"use": ["dept_m"]}, "there is no input 'dept_m', did you mean 'depth_m'"),
        ({"widths": {"depth_m": "long"}}, "must be a positive number"),
        ({"widths": {"depth_m": "5 h"}}, "must have a unit of none"),
        ({"step_size": 0.0}, "step_size must be positive"),
        ({"step_size": 1e7}, "step_size"),
        ({"use": 3}, "use must be a list of names"),
        ({"widths": 3}, "widths must be a table"),
    ],
)
def test_bad_options_are_refused(options, words):
    readings, sensors, _ = made(n_sensors=3, n_each=5)
    with pytest.raises(halk.sensing.OptionError, match=words):
        halk.fit(readings, sensors, options=options, quick=True)


def test_bad_toml_is_refused(tmp_path):
    path = tmp_path / "options.toml"
    path.write_text("kernel = ")
    with pytest.raises(halk.sensing.OptionError, match="must be a TOML file"):
        Options.from_toml(path)
    with pytest.raises(halk.sensing.OptionError, match="must be readable"):
        Options.from_toml(tmp_path / "none.toml")


def test_progress_is_told():
    readings, sensors, _ = made(n_sensors=4, n_each=20)
    seen = []
    halk.fit(readings, sensors, progress=lambda what, share: seen.append((what, share)))
    assert {what for what, _ in seen} >= {"choosing", "learning"}
    assert all(0 <= share <= 1 for _, share in seen)
    assert seen[-1][1] == 1.0


def test_a_tolerance_is_how_far_predictions_differ():
    rng = np.random.default_rng(0)
    agent = np.repeat([0, 1], 400)
    depth = rng.uniform(0, 1, 800)
    table = {"sensor": agent, "depth_m": depth, "t_C": 10.0 * agent}
    places = {"sensor": [0, 1], "x": [0, 1], "y": [0, 0]}
    options = {"tolerance": 4.0, "use": ["depth_m"], "scaling": "common"}
    model = halk.fit(table, places, options=options, quick=True)
    points = {"depth_m": np.linspace(0.1, 0.9, 20)}
    apart = model.predict("1", points).value - model.predict("0", points).value
    assert np.sqrt(np.mean(apart**2)) == pytest.approx(4.0, rel=0.1)
    (pair,) = halk.sensing.summary.disagreements(model)
    assert pair.tolerance == pytest.approx(4.0)
    assert pair.difference == pytest.approx(4.0, rel=0.3)


def test_a_given_tolerance_keeps_its_unit():
    readings, sensors, _ = made(n_sensors=6, n_each=30)
    model = halk.fit(readings, sensors, options={"tolerance": 2.0})
    (told,) = [one for one in model.reasons if one.name == "tolerance"]
    assert told.value == "2 °C"


def test_a_given_width_is_kept_through_the_search():
    readings, sensors, _ = made(n_sensors=6, n_each=30)
    model = halk.fit(readings, sensors, options={"widths": {"depth_m": 0.31}})
    (part,) = [one for one in model.choices.parts if one.source == "depth_m"]
    assert part.length == pytest.approx(0.31)


def test_a_few_rows_make_a_model_that_can_learn():
    readings, sensors, true = made(n_sensors=4, n_each=50, noise=0.05)
    few = {name: list(cells[::20]) for name, cells in readings.items()}
    model = halk.fit(few, sensors)
    assert model.choices.budget < 0.1
    model.update(readings)
    assert model.learned.n_readings == 200
    found = model.predict("s2", {"depth_m": 1.0}).value[0]
    assert abs(found - true(["s2"], np.array([1.0]))[0]) < 1.0


def test_sensors_that_places_in_the_readings_name_are_in_one_order():
    rng = np.random.default_rng(0)
    agent = rng.integers(0, 5, 200)
    table = {
        "sensor": [f"s{i}" for i in agent], "lat": agent * 1.0, "lon": agent * 2.0,
        "depth_m": rng.uniform(0, 1, 200), "t_C": rng.normal(size=200),
    }  # fmt: skip
    order = rng.permutation(200)
    other = {name: [cells[k] for k in order] for name, cells in table.items()}
    same(halk.fit(table, quick=True), halk.fit(other, quick=True))
