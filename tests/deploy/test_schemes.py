"""Networks under schemes: in the simulator, in the field, and in the engine."""

import heapq
from random import Random

import numpy as np
import pytest

from halk.cli import main
from halk.component import subclasses
from halk.deploy import ConfigError, read_config, simulation
from halk.deploy.activation import Activation, Jitter, Poisson
from halk.deploy.conditions import Conditions
from halk.deploy.folder import prepare
from halk.deploy.paced import begins
from halk.deploy.plan import read_plan
from halk.deploy.runner import pulse
from halk.deploy.simulation import _paces, learner_of, simulate_free, stream_of
from halk.net import Hub
from halk.net.faults import Faults
from halk.net.faults.delays import Uniform
from tests.deploy.agents import MADE, Agent, csv_text, written
from tests.deploy.test_plan import NETWORK
from tests.net.nodes import assert_same, stream

SCHEMES = [one for cls in subclasses(Activation) for one in cls.examples()]
N, T = 4, 30


@pytest.fixture(autouse=True)
def _closed():
    yield
    while MADE:
        MADE.pop().die()


def network(folder, edges=True, rate=1.0, more="", readings="", wait=0.05):
    """Return the plan of a ring of four."""
    X, Y = stream(T, N)
    cells = [csv_text(X[:, i], Y[:, i]).splitlines() for i in range(N)]
    rows = [f"{n},{cells[i][t + 1]}" for t in range(T) for i, n in enumerate("abcd")]
    written(folder, "\n".join(["buoy,depth_m,t_C", *rows, ""]), "table.csv")
    written(folder, "from,to\na,b\nb,c\nc,d\nd,a\n", "edges.csv")
    text = NETWORK.split("[[edges]]")[0].replace("lockstep", "free")
    links = 'edges = "edges.csv"' if edges else ""
    text = text.replace("[network]", f"[network]\nwait = {wait}\n{links}")
    if rate is not None:
        readings += f"\nrate = {rate}"
    text = text.replace('value = "t_C"', f'value = "t_C"\n{readings}')
    return read_plan(written(folder, text + more, "network.toml"))


def models(world):
    return [
        (
            node.agent.function.atoms.tobytes(),
            node.agent.function.weights.tobytes(),
            node.agent.multipliers.tobytes(),
        )
        for node in world.living()
    ]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_alone_the_scheme_changes_nothing(tmp_path, scheme):
    plan = network(tmp_path, edges=False)
    before, found = simulate_free(plan, delay=0.0)
    slow = {"delay": "exponential", "lag": "uniform", "work": "exponential"}
    after, again = simulate_free(plan, activation=scheme, seed=1, **slow)
    assert models(before) == models(after)
    assert found == again


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_the_seed_decides(tmp_path, scheme):
    plan = network(tmp_path)
    faults = {"activation": scheme, "delay": "exponential:mean=0.02", "drop": 0.1}
    faults |= {"lag": "exponential", "work": "uniform"}
    one, found = simulate_free(plan, seed=3, **faults)
    other, again = simulate_free(plan, seed=3, **faults)
    assert one.log == other.log
    assert found == again
    assert simulate_free(plan, seed=4, **faults)[0].log != one.log
    assert [o.readings for o in found] == (~np.isnan(stream(T, N)[1])).sum(0).tolist()


def test_bernoulli_with_certainty_is_all_at_once(tmp_path):
    plan = network(tmp_path)
    faults = {"delay": "uniform", "drop": 0.1, "seed": 5}
    one, _ = simulate_free(plan, activation="all_at_once", **faults)
    other, _ = simulate_free(plan, activation="bernoulli:q=1", **faults)
    assert one.log == other.log
    another, _ = simulate_free(plan, activation="bernoulli:q=0.9", **faults)
    assert one.log != another.log


@pytest.fixture
def taken_by(monkeypatch):
    """Return what gives the times of readings of a simulation."""

    def run(plan, **conditions):
        noted = []

        class Noting(simulation.PacedWorld):
            def _take(self, i, node):
                noted.append((self.now, i))
                super()._take(i, node)

        monkeypatch.setattr(simulation, "PacedWorld", Noting)
        simulate_free(plan, **conditions)
        return np.array(noted)

    return run


def test_in_turn_nobody_reads_with_another(tmp_path, taken_by):
    noted = taken_by(network(tmp_path), activation="in_turn", delay="exponential")
    np.testing.assert_array_equal(noted[:, 1], np.arange(N * T) % N)
    np.testing.assert_allclose(np.diff(noted[:, 0]), 1 / N)


def test_all_at_once_all_read_in_the_same_instant(tmp_path, taken_by):
    noted = taken_by(network(tmp_path), activation="all_at_once", delay="exponential")
    instants = noted[:, 0].reshape(T, N)
    assert (instants == instants[:, :1]).all()
    np.testing.assert_allclose(np.diff(instants[:, 0]), 1.0)


def test_one_at_random_reads_alone(tmp_path, taken_by):
    noted = taken_by(network(tmp_path), activation="one_at_random")
    assert (np.diff(noted[:, 0]) > 0.2).all()


def test_who_goes_as_fast_as_it_can_thinks_before_the_next(tmp_path, taken_by):
    noted = taken_by(network(tmp_path, edges=False, rate=None), think=0.7)
    for i in range(N):
        np.testing.assert_allclose(np.diff(noted[noted[:, 1] == i, 0]), 0.7)


def test_messages_take_what_was_drawn():
    faults, rng = Faults(delay=Uniform(0.1, 0.2)), Random(0)
    drawn = [faults.latency(rng) for _ in range(100)]
    assert 0.1 <= min(drawn) < 0.11
    assert 0.19 < max(drawn) <= 0.2


def test_in_turn_without_faults_is_the_engine_one_agent_a_step(tmp_path):
    """As long as a turn is longer than neighbours wait before they learn a pull.

    Then all that one reading sets off is over before the next, and that is a step of
    the engine in which one agent has a reading.
    """
    plan = network(tmp_path)
    world, _ = simulate_free(plan, activation="in_turn", delay=0.0)
    X, Y, _ = stream_of(plan)
    alone = np.full((T, N, N), np.nan)
    for i in range(N):
        alone[:, i, i] = Y[:, i]
    learner = learner_of(plan)
    learner.learn_many(np.repeat(X, N, axis=0), alone.reshape(T * N, N))
    assert_same(world.living(), learner)


def runners(plan, folder, delay, seed):
    """Let runners of the field learn with the clock in hand; return their nodes.

    Messages take a while; turns are when a runner wants them, or a message comes.
    """
    hub, rng, heap, sent = LateHub(), Random(seed), [], 0
    places = prepare(plan, folder, tls=False, fresh=True)
    agents = [Agent(place.config, hub) for place in places]
    began: list[float] = []

    def may_begin():
        peers = [peer for one in agents for peer in one.node.peers.values()]
        if not began and all(peer.is_greeted for peer in peers):
            began.append(begins(now, plan.wait, seed))
        return bool(began) and now >= began[0]

    clocks = _paces(plan, Conditions(seed=seed))[0]
    for agent, clock in zip(agents, clocks, strict=True):
        agent.runner._may_begin, agent.runner._clock = may_begin, clock
    names = [place.name for place in places]
    turns = [rng.random() * pulse(plan.wait) for _ in agents]
    for i, time in enumerate(turns):
        heapq.heappush(heap, (time, sent := sent + 1, i, None))
    while heap and not (heap[0][0] > 5 and all(a.runner.is_finished() for a in agents)):
        now, _, i, packet = heapq.heappop(heap)
        if packet is None and now != turns[i]:
            continue
        if packet is not None:
            hub.deliver(packet[0], names[i], packet[1])
        turns[i] = now + agents[i].runner.turn(now)
        for sender, receiver, data in hub.sent:
            j = names.index(receiver)
            heapq.heappush(heap, (now + delay, sent := sent + 1, j, (sender, data)))
        hub.sent.clear()
        heapq.heappush(heap, (turns[i], sent := sent + 1, i, None))
    for agent in agents:  # pulls after the last reading
        agent.runner.turn(now + plan.wait)
    return [agent.node for agent in agents]


class LateHub(Hub):
    def __init__(self):
        super().__init__()
        self.sent = []

    def carry(self, sender, receiver, data):
        self.sent.append((sender, receiver, data))


@pytest.mark.parametrize("rate", [7.0, None])
@pytest.mark.parametrize("delay", [0.013, 0.03, 0.04])
def test_the_simulator_has_the_rules_of_the_field(tmp_path, rate, delay):
    """Runners and simulator end with the same models, bit for bit."""
    plan = network(tmp_path, rate=rate)
    world, _ = simulate_free(plan, delay=delay, think=0.0, seed=2)
    for real, node in zip(
        runners(plan, tmp_path, delay, 2), world.living(), strict=True
    ):
        assert real.step == node.step
        f, g = real.agent.function, node.agent.function
        np.testing.assert_array_equal(f.atoms, g.atoms)
        np.testing.assert_array_equal(f.weights, g.weights)
        np.testing.assert_array_equal(real.agent.multipliers, node.agent.multipliers)


def answered(plan, **conditions):
    """Return the share of queries that were answered in time."""
    world, _ = simulate_free(plan, activation="in_turn", **conditions)
    asked = sum(node.agent.asked.sum() for node in world.living())
    return asked / (2 * sum(score.n_readings for score in world.scores))


@pytest.mark.parametrize("slow", ["delay", "work"])
def test_an_answer_is_late_whatever_takes_long(tmp_path, slow):
    """Twice each is on the way from a reading to the last answer to it."""
    plan = network(tmp_path, wait=0.1)
    short = {"delay": 0.004, "lag": 0.004, "work": 0.004}
    assert answered(plan, **short | {slow: 0.03}) == 1
    assert answered(plan, **short | {slow: 0.06}) == 0


def test_who_looks_late_finds_the_answers_there(tmp_path):
    """All look as late as each other; a turn first hears, then ends a wait."""
    assert answered(network(tmp_path, wait=0.01), delay=0.004, lag=0.1) == 1


def test_in_batches_nothing_overtakes_what_was_said_with_it(tmp_path, monkeypatch):
    arrivals = {}

    class Noting(simulation.PacedWorld):
        def arrival(self, sender, receiver):
            time = super().arrival(sender, receiver)
            arrivals.setdefault((sender, receiver, self.now), set()).add(time)
            n_said.append(time)
            return time

    monkeypatch.setattr(simulation, "PacedWorld", Noting)
    plan = network(tmp_path, rate=None)
    for batches in (False, True):
        n_said = []
        arrivals.clear()
        simulate_free(plan, delay="uniform", batches=batches, lag=0.01)
        assert len(n_said) > len(arrivals)
        assert all(len(one) == 1 for one in arrivals.values()) == batches


def test_who_waits_looks_after_its_lag(tmp_path, monkeypatch):
    """A message is heard a lag after the first that came since the last turn."""
    first, late = {}, set()

    class Noting(simulation.PacedWorld):
        def on_deliver(self, packet):
            first.setdefault(self.names.index(packet[1]), self.now)
            super().on_deliver(packet)

        def _turn(self, i):
            late.add(round(self.now - first.pop(i, self.now), 9))
            super()._turn(i)

    monkeypatch.setattr(simulation, "PacedWorld", Noting)
    plan = network(tmp_path)
    simulate_free(plan, activation="in_turn", delay=0.0, lag=0.003)
    # a little less for one who was about to look anyway
    assert max(late) == 0.003
    assert len(late) < 20


def test_who_works_hears_nothing_else(tmp_path, monkeypatch):
    """Turns begin when the work of the last is done, with all that came meanwhile."""
    turns, done, heard = [], [-1.0] * N, 0

    class Noting(simulation.PacedWorld):
        def _turn(self, i):
            nonlocal heard
            assert self.now >= done[i]
            n = len(self.hub._boxes[self.names[i]])
            super()._turn(i)
            done[i] = self._done_at[i]
            heard = max(heard, n)
            turns.append(done[i] - self.now - n * 0.004)

    monkeypatch.setattr(simulation, "PacedWorld", Noting)
    plan = network(tmp_path, rate=None)
    _, found = simulate_free(plan, delay="uniform", work=0.004, lag="uniform")
    assert heard > 1
    assert {round(one, 9) for one in turns} == {
        0.0,
        0.004,
    }  # without and with a reading
    assert sum(one > 0.002 for one in turns) == N * T
    assert all(one.readings for one in found)


def test_in_the_field_the_scheme_has_the_same_clock(tmp_path):
    readings = 'activation = { name = "jitter", by = 0.9 }'
    plan = network(tmp_path, rate=2.0, readings=readings)
    assert plan.sources[0].activation == Jitter(0.9)
    place = prepare(plan, tmp_path / "run", tls=False, fresh=False)[0]
    config = read_config(place.config)
    assert config.readings.activation == Jitter(0.9)
    agent = Agent(place.config, Hub())
    now, due, found = 31.0, [], 0  # its patience is over
    while len(due) < T:
        now += agent.runner.turn(now)
        if sum(agent.diary.notes()[k] for k in ("n_readings", "n_gaps")) > found:
            found += 1
            due.append(now)
    clock = Jitter(0.9).clocks([0.5], [Random("a 1")])[0]
    wanted = [clock.start(31.0)]
    while len(wanted) < T:
        wanted.append(clock.next(wanted[-1]))
    np.testing.assert_allclose(due, wanted)


def test_a_common_clock_is_not_for_the_field(tmp_path):
    words = "readings.activation must be one that an agent can run by itself, got 'in_t"
    with pytest.raises(ConfigError, match=words):
        network(tmp_path, readings='activation = "in_turn"')
    words = "readings.activation: Poisson.. must go with a rate of readings, got none"
    with pytest.raises(ConfigError, match=words):
        network(tmp_path, rate=None, readings='activation = "poisson"')


SIMULATION = """
[simulation]
drop = 0.1
delay = { name = "exponential", mean = 0.02 }
activation = "in_turn"
seed = 7
"""


def test_the_file_says_how_to_simulate(tmp_path):
    plain = network(tmp_path)
    given = {"delay": "exponential:mean=0.02", "activation": "in_turn", "seed": 7}
    wanted, _ = simulate_free(plain, drop=0.1, **given)
    plan = network(tmp_path, more=SIMULATION)
    assert simulate_free(plan)[0].log == wanted.log
    assert simulate_free(plan, drop=0.2)[0].log != wanted.log
    other, _ = simulate_free(plain, activation=Poisson(), drop=0.1, delay=0.0, seed=7)
    again, _ = simulate_free(plan, activation=Poisson(), delay=0.0)
    assert again.log == other.log
    prepare(plan, tmp_path / "run", tls=False, fresh=False)
    text = (tmp_path / "run" / "a" / "agent.toml").read_text()
    assert "simulation" not in text
    assert "in_turn" not in text
    for wrong, words in (
        ("drop = 1.5", "simulation.drop must be a share below 1, got 1.5"),
        ('activation = "alone"', "simulation.activation must be one of"),
        ("loss = 0.1", "there is no key 'simulation.loss'"),
    ):
        with pytest.raises(ConfigError, match=words):
            network(tmp_path, more=f"[simulation]\n{wrong}\n")


def test_the_command(tmp_path, capsys):
    network(tmp_path)
    path = str(tmp_path / "network.toml")
    assert main(["simulate", path, "--activation", "poisson", "--json"]) == 0
    one = capsys.readouterr().out
    options = ["--activation", "asleep:share=0.3,period=2", "--delay", "uniform"]
    assert main(["simulate", path, *options, "--json"]) == 0
    assert capsys.readouterr().out != one
    assert main(["simulate", path, "--activation", "poison"]) == 1
    assert "halk: activation must be one of 'own_rate'" in capsys.readouterr().err
    assert main(["simulate", path, "--delay", "exponential:mean=-1"]) == 1
    assert "halk: delay: mean must be at least" in capsys.readouterr().err
    network(tmp_path, rate=None)
    assert main(["simulate", path, "--activation", "in_turn"]) == 1
    said = capsys.readouterr().err
    assert "InTurn() must go with a rate of readings, got none" in said
    assert main(["simulate", path, "--delay", "measured:seconds=[0.001, 0.002]"]) == 0
    assert main(["simulate", path, "--delay", "measured:seconds=0.1"]) == 1
    assert "delay: seconds must be a list of times, got 0.1" in capsys.readouterr().err
