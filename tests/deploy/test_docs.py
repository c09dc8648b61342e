"""The page about deployment shows what works, and the help does too."""

import re
import shlex
from pathlib import Path

import pytest

from halk.cli import main
from halk.cli.examples import EXAMPLES
from halk.component import subclasses
from halk.deploy import metrics, read_config
from halk.deploy.activation import Activation, Bernoulli
from halk.deploy.named import named, plain
from halk.deploy.plan import read_plan
from halk.net.faults.delays import Exponential
from tests.deploy.agents import written

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text("utf-8")
AGENT, NETWORK, SIMULATION = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_configuration_of_the_page_is_one(tmp_path):
    for name in ("north.pem", "north.key", "authority.pem"):
        (tmp_path / name).touch()
    config = read_config(written(tmp_path, AGENT))
    assert [one.name for one in config.neighbours] == ["mid", "east"]
    assert config.listen == ("tls/0.0.0.0:7447",)


def test_the_network_of_the_page_is_one(tmp_path):
    written(tmp_path, "buoy,depth_m,t_C\na,1,2\nb,1,3\n", "readings.csv")
    written(tmp_path, "buoy,lat,lon\na,1,2\nb,1,3\n", "sensors.csv")
    plan = read_plan(written(tmp_path, NETWORK, "network.toml"))
    assert plan.network.n_edges == 2
    more = read_plan(written(tmp_path, NETWORK + SIMULATION, "network.toml"))
    assert more.simulation.activation == Bernoulli(0.3)
    assert more.simulation.delay == Exponential(0.02, 0.001)


def test_every_scheme_of_the_page_is_there():
    table = PAGE.split("### When agents take readings")[1].split("The last four")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    names = [line.split("`")[1] for line in lines]
    assert names == [plain(cls) for cls in subclasses(Activation)]
    for name, line in zip(names, lines, strict=True):
        is_own = named("activation", name, Activation).is_own
        assert line.endswith("| simulator |") != is_own


def test_every_metric_of_the_page_is_there():
    source = Path(metrics.__file__).read_text("utf-8")
    named = set(re.findall(r"halk_[a-z_]+", PAGE))
    assert named
    for name in named:
        assert f'"{name}"' in source


@pytest.mark.parametrize("command", ["agent", "up", "simulate", "certs"])
def test_help_has_examples(command, capsys):
    pytest.importorskip("cyclopts")
    assert main([command, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for example in EXAMPLES[command]:
        last = shlex.split(example)[-1]
        assert last in shown
    assert "lifeline" not in shown
