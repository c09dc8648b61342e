"""The rules of nodes: who is heard, when, how often, and how much it can pull."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halk import Network, bandwidth, losses
from halk import agent as agents
from halk.net.free import FreeNode
from halk.net.limits import Bucket, Limits
from halk.net.lockstep import LockstepNode
from halk.net.messages import (
    Answer,
    Error,
    Hello,
    Message,
    Pass,
    ProtocolError,
    Query,
    Reason,
    Stamp,
)
from halk.net.node import Update
from halk.net.protocol import decode, encode
from halk.net.state import bring_back, dump
from tests.net.nodes import maker, model, pair, settle

QUERY = Query(0, (0.5,), 1.0, 2.0, 1.0)


def words(body, sequence=1000, incarnation=1, sender="n1", to="n0"):
    return encode(Message(sender, Stamp(incarnation, sequence), body), to)


def said(parcels, to="n1"):
    return [decode(p.data, to).body for p in parcels if p.receiver == to]


def same_function(a, b):
    f, g = a.agent.function, b.agent.function
    return np.array_equal(f.atoms, g.atoms) and np.array_equal(f.weights, g.weights)


def test_two_that_fit_greet_each_other_and_learn_together():
    a, b = pair()
    assert a.peers["n1"].is_greeted
    assert b.peers["n0"].is_greeted
    seen: list[Update] = []
    a.observe = seen.append
    parcels = a.read([0.5], 1.0, 0.0)
    assert [type(body) for body in said(parcels)] == [Query]
    settle(a, b, parcels=[("n0", p) for p in parcels])
    assert a.step == 1
    assert seen == [Update(0, True, {}, {"n1": Stamp(1, a.sequence)})]
    assert not a.refused
    assert not b.refused


def test_strangers_and_impostors_are_not_heard():
    a, _ = pair()
    assert a.receive("n7", words(QUERY, sender="n7"), 0.0) == []
    assert a.receive("n1", words(QUERY, sender="n7"), 0.0) == []
    assert a.refused == {Reason.STRANGER: 1, Reason.IMPOSTOR: 1}


@pytest.mark.parametrize(
    ("kind", "changes", "options"),
    [
        (FreeNode, {}, {"unit": "K"}),
        (FreeNode, {"coupling": "paper"}, {}),
        (FreeNode, {"coupling": "predictions"}, {}),
        (FreeNode, {"coupling": "readings"}, {}),
        (FreeNode, {}, {"n_features": 2}),
        (LockstepNode, {}, {}),
    ],
)
def test_who_does_not_fit_is_told_and_not_asked(kind, changes, options):
    network = Network.path(2, 0.01)
    a = maker(model(network), FreeNode)(0)
    b = maker(model(network, **changes), kind, **options)(1)
    settle(a, b)
    assert a.refused[Reason.MISFIT] > 0
    assert a.complaints[Reason.MISFIT] > 0
    assert not a.peers["n1"].is_greeted
    assert a.read([0.5], 1.0, 0.0) == []
    assert a.step == 1  # alone, and at once


def test_nothing_is_heard_before_a_hello():
    a = maker(model(Network.path(2, 0.01)), FreeNode)(0)
    (error,) = said(a.receive("n1", words(QUERY), 0.0))
    assert error == Error(Reason.UNGREETED, 1, 1000)
    (hello,) = said(a.receive("n1", words(Error(Reason.UNGREETED, 1, 1)), 0.0))
    assert isinstance(hello, Hello)
    assert hello.wants_reply


def test_a_doubled_query_is_counted_and_pulls_once():
    (a, _), (other, _) = pair(), pair()
    data = words(QUERY)
    assert len(a.receive("n1", data, 0.0)) == 1
    assert a.receive("n1", data, 0.0) == []
    assert a.receive("n1", words(QUERY, sequence=999), 0.0) == []
    assert a.refused == {Reason.REPEATED: 2}
    other.receive("n1", data, 0.0)
    a.wake(9.0), other.wake(9.0)
    assert a.agent.order == 1
    assert same_function(a, other)
    a.receive("n1", data, 10.0)
    a.wake(20.0)
    assert same_function(a, other)


def test_of_one_neighbour_the_newest_query_pulls():
    (a, _), (other, _) = pair(), pair()
    a.receive("n1", words(QUERY._replace(x=(0.1,))), 0.0)
    for node in (a, other):
        node.receive("n1", words(QUERY, sequence=1001), 0.0)
        node.wake(9.0)
    assert a.agent.order == 1
    assert same_function(a, other)


def test_an_agent_that_waits_answers_at_once_and_is_pulled_in_the_same_update():
    a, _ = pair()
    a.read([0.2], 1.0, 0.0)
    (answer,) = said(a.receive("n1", words(QUERY), 0.1))
    assert answer == Answer(1, 1000, 0.0, 0.0)
    assert a.step == 0
    a.wake(9.0)
    assert a.step == 1
    assert a.agent.order == 2


def test_without_a_reading_pulls_alone_move_an_agent_when_their_time_has_come():
    a, _ = pair(wait=0.5)
    a.receive("n1", words(QUERY), 1.0)
    a.wake(1.4)
    assert (a.step, a.agent.order) == (0, 0)
    a.wake(1.5)
    assert (a.step, a.agent.order) == (1, 1)
    a.receive("n1", words(QUERY._replace(multiplier=0.0), 1001), 2.0)
    a.wake(9.0)
    assert a.step == 1  # no pull, no update


def test_the_deadline_ends_a_step_and_late_answers_are_dropped():
    (a, b), (other, _) = pair(wait=0.5), pair(wait=0.5)
    parcels = a.read([0.5], 1.0, 0.0)
    other.read([0.5], 1.0, 0.0)
    (reply,) = b.receive("n0", parcels[0].data, 0.0)
    assert a.wake(0.4) == []
    assert a.step == 0
    a.wake(0.5), other.wake(0.5)
    assert a.step == 1
    a.receive("n1", reply.data, 0.6)
    assert a.refused == {Reason.LATE: 1}
    assert same_function(a, other)
    assert a.agent.asked.tolist() == [0]


def test_the_next_reading_ends_a_step():
    a, _ = pair()
    a.read([0.5], 1.0, 0.0)
    a.read([0.6], 1.0, 0.0)
    assert a.step == 1


def test_answers_count_once_and_only_for_what_was_asked():
    a, _ = pair()
    a.read([0.5], 1.0, 0.0)
    asked = a.sequence
    a.receive("n1", words(Answer(1, asked + 1, 0.0, 0.0), 1001), 0.0)
    a.receive("n1", words(Answer(2, asked, 0.0, 0.0), 1002), 0.0)
    assert a.refused == {Reason.UNASKED: 2}
    a.receive("n1", words(Answer(1, asked, 0.0, 0.0), 1003), 0.0)
    assert a.step == 1
    a.receive("n1", words(Answer(1, asked, 0.0, 0.0), 1004), 0.0)
    assert a.refused[Reason.LATE] == 1


def test_answers_to_an_earlier_life_are_not_used():
    a, _ = pair()
    file = dump(a)
    a.read([0.5], 1.0, 0.0)
    asked = a.sequence
    make = maker(model(Network.path(2, 0.01)), FreeNode)
    again = bring_back(file, make(0))
    again.peers["n1"].is_greeted = True
    again.sequence = asked - 1
    again.read([0.7], 1.0, 0.0)
    assert again.sequence == asked  # the same number, in another incarnation
    again.receive("n1", words(Answer(1, asked, 5.0, 0.0)), 0.0)
    assert again.step == 0
    assert again.refused == {Reason.LATE: 1}


def test_what_a_restarted_neighbour_said_before_is_refused():
    a, _ = pair()
    hello = Hello(1, "exact", False, "", False)
    a.receive("n1", words(hello, 5, incarnation=3), 0.0)
    a.receive("n1", words(QUERY, 2000, incarnation=1), 0.0)
    assert a.refused == {Reason.OLD_INCARNATION: 1}
    assert len(said(a.receive("n1", words(QUERY, 6, incarnation=3), 0.0))) == 1


def test_a_refused_query_is_not_waited_for():
    a, _ = pair()
    a.read([0.5], 1.0, 0.0)
    a.receive("n1", words(Error(Reason.VALUE, 1, a.sequence)), 0.0)
    assert a.step == 1
    assert a.complaints == {Reason.VALUE: 1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"value": 101.0}, Reason.VALUE),
        ({"value": -101.0}, Reason.VALUE),
        ({"x": (11.0,)}, Reason.INPUT),
        ({"x": (0.5, 0.5)}, Reason.DIMENSION),
        ({"std": 1e-13}, Reason.STD),
        ({"std": 1e13}, Reason.STD),
    ],
)
def test_queries_out_of_bounds_are_refused_and_change_nothing(change, reason):
    a, _ = pair(limits=Limits(value=100.0, point=10.0))
    (error,) = said(a.receive("n1", words(QUERY._replace(**change)), 0.0))
    assert error == Error(reason, 1, 1000)
    assert a.refused == {reason: 1}
    a.wake(9.0)
    assert a.step == a.agent.order == 0


@pytest.mark.parametrize(
    ("answer", "reason"), [((101.0, 0.0), Reason.VALUE), ((1.0, 11.0), Reason.SCALE)]
)
def test_answers_out_of_bounds_are_as_if_none_came(answer, reason):
    learner = model(Network.path(2, 0.01), adaptation=bandwidth.LossFollowing())
    (a, _), (other, _) = (pair(learner=learner, limits=Limits(value=100)) for _ in "ab")
    for node in (a, other):
        node.read([0.5], 1.0, 0.0)
    a.receive("n1", words(Answer(1, a.sequence, *answer)), 0.0)
    other.wake(9.0)
    assert a.refused == {reason: 1}
    assert a.step == other.step == 1
    assert same_function(a, other)


def test_values_far_from_the_own_targets_are_refused_once_those_are_known():
    a, _ = pair(limits=Limits(stds=5.0))
    far = QUERY._replace(value=30.0)
    assert not isinstance(said(a.receive("n1", words(far), 0.0))[0], Error)
    for y in np.linspace(9.0, 11.0, 12):
        a.read([0.5], float(y), 0.0)
    (error,) = said(a.receive("n1", words(far, 1001), 0.0))
    assert error.reason is Reason.VALUE
    near = QUERY._replace(value=12.0)
    assert not isinstance(said(a.receive("n1", words(near, 1002), 0.0))[0], Error)


@given(
    value=st.floats(-100, 100),
    multiplier=st.floats(-9, 300).map(lambda power: 10**power),
    std=st.floats(-11, 11).map(lambda power: 10**power),
    most=st.floats(-3, 3).map(lambda power: 10**power),
)
def test_a_liar_pulls_no_further_than_the_limits_say(value, multiplier, std, most):
    a, _ = pair(limits=Limits(value=100.0, multiplier=most))
    a.receive("n1", words(QUERY._replace(
        value=value, multiplier=multiplier, std=std)), 0.0)  # fmt: skip
    a.wake(9.0)
    r = a.agent.pace.step_size * most
    furthest = r / (1 + 2 * r) * abs(value)
    assert abs(a.agent.predict([0.5])) <= furthest * (1 + 1e-9) + a.agent.pace.budget
    assert furthest <= abs(value) / 2


def test_the_limit_of_a_multiplier_is_reached_and_counted():
    (a, _), (b, _) = pair(limits=Limits(multiplier=3.0)), pair()
    a.receive("n1", words(QUERY._replace(multiplier=50.0)), 0.0)
    b.receive("n1", words(QUERY._replace(multiplier=3.0)), 0.0)
    a.wake(9.0), b.wake(9.0)
    assert a.refused == {Reason.MULTIPLIER: 1}
    assert same_function(a, b)


def test_a_full_agent_answers_but_is_taught_by_its_readings_only():
    a, _ = pair(limits=Limits(atoms=3, rate=np.inf, burst=np.inf))
    for k in range(50):
        query = QUERY._replace(x=(10.0 * k,))
        assert isinstance(said(a.receive("n1", words(query, 1000 + k), k))[0], Answer)
        a.wake(k + 0.9)
    assert a.agent.order == 3
    assert a.refused == {Reason.FULL: 47}
    a.read([-10.0], 1.0, 99.0)
    a.wake(199.0)
    assert a.agent.order == 4


def test_who_speaks_too_often_is_not_heard():
    a, _ = pair(limits=Limits(rate=2.0, burst=5.0))
    heard = [
        bool(a.receive("n1", words(QUERY, 1000 + k), 10.0 + k / 100))
        for k in range(100)
    ]
    assert sum(heard) == 6  # five at once, and one in the second after
    assert a.refused == {Reason.RATE: 94}


@given(st.lists(st.floats(0, 1), max_size=60), st.floats(0.1, 9), st.floats(1, 9))
def test_a_bucket_lets_no_more_through_than_it_says(pauses, rate, burst):
    bucket = Bucket(Limits(rate=rate, burst=burst))
    times = np.cumsum([0.0, *pauses])
    passed = [t for t in times if bucket.takes(t)]
    assert not passed or passed[0] == times[0]
    for k, t in enumerate(passed):
        assert k + 1 <= burst + rate * (t - passed[0]) + 1e-9


@given(st.binary(max_size=200), st.integers(0, 9))
@pytest.mark.parametrize("kind", [FreeNode, LockstepNode])
def test_any_bytes_are_survived(kind, data, now):
    a, _ = pair(kind)
    assert a.receive("n1", data, now) == []
    assert sum(a.refused.values()) == 1


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
BODIES = st.one_of(
    st.builds(
        Query, st.integers(0, 3), st.tuples(NUMBERS), NUMBERS, NUMBERS.map(abs),
        NUMBERS.map(abs).filter(bool),
    ),
    st.builds(Pass, st.integers(0, 3)),
    st.builds(
        Answer, st.just(1), st.integers(0, 9), NUMBERS, NUMBERS, NUMBERS.map(abs)
    ),
    st.builds(Error, st.sampled_from(Reason), st.just(1), st.integers(0, 9)),
)  # fmt: skip


@given(st.lists(BODIES, max_size=9), st.booleans())
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("coupling", ["exact", "predictions", "readings"])
@pytest.mark.parametrize("kind", [FreeNode, LockstepNode])
def test_whatever_a_neighbour_says_an_agent_stays_finite(
    kind, coupling, standardize, bodies, reads
):
    learner = model(Network.path(2, 0.01), coupling, standardize=standardize)
    a, _ = pair(kind, learner)
    if reads:
        a.read([0.5], 1.0, 0.0)
    for k, body in enumerate(bodies):
        a.receive("n1", words(body, 1000 + k), float(k))
        a.wake(float(k))
    for name, value in a.agent.state_dict().items():
        assert np.isfinite(value).all(), name
    assert np.isfinite(a.agent.predict([0.3]))


def test_names_must_be_distinct_and_sendable():
    agent: agents.Agent = model(Network.path(3, 0.01)).agent(1, 1)
    for names in (["a"], ["a", "a"], ["a", "me"]):
        with pytest.raises(ValueError, match="distinct names"):
            FreeNode(agent, "me", names)
    for name in ("", "\ud800", "n" * 65):
        with pytest.raises(ProtocolError):
            FreeNode(agent, name, ["a", "b"])


def test_two_orders_refuse_each_other_and_say_why():
    a, b = (
        maker(model(Network.path(2, 0.01), coupling), FreeNode)(i)
        for i, coupling in enumerate(("exact", "predictions"))
    )
    settle(a, b)
    assert a.peers["n1"].misfit == "coupling 'predictions', not 'exact'"
    assert b.peers["n0"].misfit == "coupling 'exact', not 'predictions'"
    for node in (a, b):
        assert node.refused[Reason.MISFIT] > 0
        assert node.complaints[Reason.MISFIT] > 0
    b.receive("n0", words(QUERY, sender="n0", to="n1"), 0.0)
    b.wake(99.0)
    assert b.agent.order == 0


def test_where_readings_are_exchanged_nobody_answers_or_waits():
    learner = model(Network.path(2, 0.01), "readings")
    a, b = pair(learner=learner)
    (parcel,) = a.read([0.5], 7.0, 0.0)
    assert a.step == 1
    assert b.receive("n0", parcel.data, 0.0) == []
    assert (b.step, b.agent.order) == (1, 1)
    learner.learn_one([[0.5], [0.0]], [7.0, np.nan])
    assert b.agent.predict([0.5]) == learner.predict(1, [[0.5]])


def test_of_who_has_no_scale_yet_nobody_waits_for_an_answer():
    learner = model(Network.path(2, 0.01), "predictions", standardize=True)
    a, b = pair(learner=learner)
    (parcel,) = a.read([0.5], 7.0, 0.0)
    (error,) = said(b.receive("n0", parcel.data, 0.0), to="n0")
    assert error.reason is Reason.UNTAUGHT
    settle(a, b, parcels=[("n0", parcel)])
    b.wake(9.0)
    (parcel,) = a.read([0.5], 8.0, 10.0)
    (answer,) = said(b.receive("n0", parcel.data, 10.0), to="n0")
    assert answer.value == pytest.approx(7.0)
    assert answer.variance > 0


def test_a_variance_out_of_bounds_is_as_if_no_answer_came():
    learner = model(Network.path(2, 0.01), "predictions")
    (a, _), (other, _) = (pair(learner=learner, limits=Limits(value=100)) for _ in "ab")
    for node in (a, other):
        node.read([0.5], 1.0, 0.0)
    a.receive("n1", words(Answer(1, a.sequence, 0.9, 0.0, 10001.0)), 0.0)
    other.wake(9.0)
    assert a.refused == {Reason.VARIANCE: 1}
    assert same_function(a, other)
    assert a.agent.multipliers == other.agent.multipliers


def test_a_reading_that_is_no_label_is_refused():
    network = Network.path(2, 0.01)
    a, _ = pair(learner=model(network, "readings", loss=losses.Logistic()))
    a.receive("n1", words(QUERY._replace(value=50.0)), 0.0)
    a.receive("n1", words(QUERY._replace(value=-1.0), 1001), 0.0)
    assert a.refused == {Reason.VALUE: 1}
    assert (a.step, a.agent.order) == (1, 1)


@pytest.mark.parametrize("coupling", ["predictions", "readings"])
def test_a_full_agent_of_second_order_is_taught_by_its_readings_only(coupling):
    learner = model(Network.path(2, 0.01), coupling)
    a, _ = pair(learner=learner, limits=Limits(atoms=3, rate=np.inf, burst=np.inf))
    for k in range(50):
        a.receive("n1", words(QUERY._replace(x=(10.0 * k,)), 1000 + k), k)
        a.wake(k + 0.9)
    assert a.agent.order == 3
    assert a.refused == {Reason.FULL: 47}
    a.read([-10.0], 1.0, 99.0)
    a.wake(199.0)
    assert a.agent.order == 4


def learned_freely(coupling, is_together):
    """Return the error of one who reads below 0.5 only; its neighbour reads all."""
    learner = model(Network.path(2, 0.001), coupling)
    a, b = pair(learner=learner)
    for t, x in enumerate(np.random.default_rng(0).uniform(size=80)):
        turns = []
        for node, point in ((a, x), (b, x / 2)):
            queries = node.read([point], float(np.sin(6 * point)), float(t))
            turns += [(node.name, parcel) for parcel in queries]
        settle(a, b, now=float(t), parcels=turns if is_together else [])
    x = np.linspace(0, 1, 21)
    wrong = [b.agent.predict([point]) - np.sin(6 * point) for point in x]
    return float(np.sqrt(np.mean(np.square(wrong))))


@pytest.mark.parametrize("coupling", ["predictions", "readings"])
def test_free_nodes_of_second_order_learn_from_each_other(coupling):
    together = learned_freely(coupling, is_together=True)
    assert together < 0.1
    assert together < 0.25 * learned_freely(coupling, is_together=False)


@pytest.mark.parametrize("most", [1e6, 0.3])
def test_limits_weaken_a_query_of_second_order_below_its_own_bound_only(most):
    learner = model(Network.path(2, 0.01), "predictions", standardize=True)
    (a, _), (free, _) = (
        pair(learner=learner, limits=Limits(multiplier=most)),
        pair(learner=learner),
    )
    for node in (a, free):
        for y in (0.0, 1.0, 2.0):
            node.read([0.2], y, 0.0)
            node.wake(1.0)
        node.receive("n1", words(QUERY._replace(std=1e-6)), 2.0)
        node.wake(9.0)
    assert same_function(a, free) == (most > 10)
    assert a.refused == ({} if most > 10 else {Reason.MULTIPLIER: 1})
