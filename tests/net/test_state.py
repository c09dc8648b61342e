"""A node that stops goes on as if it had not, under stamps it never used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halk import HALK, CheckpointError, Network, checkpoint, kernels
from halk.net.free import FreeNode
from halk.net.lockstep import LockstepNode
from halk.net.messages import Reason
from halk.net.state import bring_back, dump, load, save
from tests.net.nodes import COUPLINGS, maker, model, pair, settle, stream


def taught(kind=FreeNode, coupling="exact", n_steps=12):
    a, b = pair(kind, model(Network.path(2, 0.01), coupling))
    X, Y = stream(n_steps, 2)
    for t in range(n_steps):
        parcels = []
        for i, node in enumerate((a, b)):
            if not np.isnan(Y[t, i]):
                turn = node.read(X[t, i], Y[t, i], float(t))
            else:
                turn = node.skip(float(t)) if kind is LockstepNode else []
            parcels += [(node.name, p) for p in turn]
        settle(a, b, now=float(t), parcels=parcels)
    return a, b


def everything(node):
    """Return all that a node knows, but who it is now."""
    state = {name: a.tolist() for name, a in node.agent.state_dict().items()}
    notes = node.notes()
    del notes["incarnation"]
    return state, notes


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("kind", [FreeNode, LockstepNode])
@pytest.mark.parametrize("is_waiting", [False, True])
def test_all_comes_back_in_a_new_incarnation(kind, is_waiting, coupling):
    make = maker(model(Network.path(2, 0.01), coupling), kind)
    a, _ = taught(kind, coupling)
    a.refused[Reason.LATE] += 3
    a.complaints[Reason.RATE] += 1
    if is_waiting:
        a.read([0.25], 0.5, 99.0)
    again = bring_back(dump(a), make(0))
    assert everything(again) == everything(a)
    assert again.incarnation == a.incarnation + 1
    assert not any(peer.is_greeted for peer in again.peers.values())


def test_every_start_is_a_new_incarnation_even_without_a_save(tmp_path):
    make = maker(model(Network.path(2, 0.01)), FreeNode)
    path = tmp_path / "node.halk"
    save(taught()[0], path)
    lives = [load(path, make(0)).incarnation for _ in range(5)]
    assert lives == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_a_step_under_way_ends_with_the_answers_it_had(coupling):
    a, _ = taught(coupling=coupling)
    a.read([0.25], 0.5, 99.0)
    make = maker(model(Network.path(2, 0.01), coupling), FreeNode)
    again = bring_back(dump(a), make(0))
    a.wake(1e6), again.wake(0.0)
    assert everything(again)[0] == everything(a)[0]


@settings(max_examples=100)
@given(st.data())
def test_damage_is_refused(data):
    file = bytearray(dump(FILE_OF))
    if data.draw(st.booleans()):
        file[data.draw(st.integers(0, len(file) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        del file[data.draw(st.integers(0, len(file) - 1)) :]
    fresh = maker(model(Network.path(2, 0.01)), FreeNode)(0)
    with pytest.raises(CheckpointError):
        bring_back(bytes(file), fresh)


FILE_OF = None


@pytest.fixture(autouse=True, scope="module")
def _file_of():
    global FILE_OF  # noqa: PLW0603
    FILE_OF = taught()[0]


@pytest.mark.parametrize(
    ("learner", "i", "kind"),
    [
        (model(Network.path(2, 0.01)), 1, FreeNode),
        (model(Network.path(2, 0.01)), 0, LockstepNode),
        (model(Network.path(3, 0.01)), 1, FreeNode),
        (model(Network.path(2, 0.01), kernel=kernels.Gaussian(0.5)), 0, FreeNode),
        (model(Network.path(2, 0.01), "predictions"), 0, FreeNode),
    ],
    ids=[
        "another agent", "another mode", "other neighbours", "another kernel",
        "another order",
    ],
)  # fmt: skip
def test_a_file_of_another_node_is_refused(learner, i, kind):
    with pytest.raises(CheckpointError):
        bring_back(dump(taught()[0]), maker(learner, kind)(i))


def test_a_file_of_second_order_is_of_its_kernel_and_order():
    network = Network.path(2, 0.01)
    file = dump(taught(coupling="predictions")[0])
    for other in (
        model(network, "predictions", length_scale=0.5),
        model(network, "readings"),
        model(network),
    ):
        with pytest.raises(CheckpointError):
            bring_back(file, maker(other, FreeNode)(0))


def test_models_and_nodes_are_not_mixed_up(tmp_path):
    learner = model(Network.path(2, 0.01))
    learner.learn_one([[0.5], [0.5]], [1.0, 2.0])
    learner.save(tmp_path / "model")
    with pytest.raises(CheckpointError, match="not a node"):
        load(tmp_path / "model", maker(learner, FreeNode)(0))
    save(taught()[0], tmp_path / "node")
    with pytest.raises(CheckpointError):
        HALK.load(tmp_path / "node")


@pytest.mark.parametrize(
    ("column", "value", "wrong"),
    [(0, 7, "queries"), (-2, -1.0, "multiplier"), (-1, 0.0, "std")],
)
def test_queries_that_no_neighbour_could_have_sent_are_refused(column, value, wrong):
    a, b = taught()
    parcels = [("n0", p) for p in a.read([0.25], 0.5, 99.0)]
    settle(a, b, now=99.0, parcels=parcels)
    header, arrays = checkpoint.unpack(dump(b))
    queries = arrays["state.queries"].copy()
    queries[:, column] = value
    make = maker(model(Network.path(2, 0.01)), FreeNode)
    data = checkpoint.pack(header, arrays | {"state.queries": queries})
    with pytest.raises(CheckpointError, match=f"not consistent: {wrong} must"):
        bring_back(data, make(1))
