"""Everything at smoke scale, once for all tests."""

import os
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from halk.experiments import EXPERIMENTS
from halk.experiments.folder import write_all
from halk.experiments.reproduce import reproduce
from halk.experiments.runs import Options
from tests.experiments.toys import Watcher

GULF = Path(__file__).parents[2] / "src/halk/data/bundle/gulf_levitus_50nodes.csv"


class Everything:
    """What a command left behind."""

    def __init__(self, folder):
        self.folder = folder
        # few sensors and one thread: small problems are quicker so
        self.options = Options(scale="smoke", seeds=2, data=GULF, sensors=3)
        self.command = "halk reproduce all --scale smoke"
        self.watch = Watcher()
        with threadpool_limits(1), pytest.MonkeyPatch.context() as patch:
            patch.setattr("halk.experiments.reproduce.write_all", self._write_once)
            self.finished = reproduce(
                list(EXPERIMENTS), self.options, folder, self.watch, self.command
            )
        self.by_name = {one.experiment.name: one for one in self.finished}

    def _write_once(self, store, finished, entries):
        """Save time: figures are drawn when everything is there, not before too."""
        if len(finished) == len(EXPERIMENTS):
            write_all(store, finished, entries)


@pytest.fixture(scope="session")
def everything(tmp_path_factory):
    """All experiments; nobody may write into the folder."""
    folder = tmp_path_factory.mktemp("everything")
    made = Everything(folder)
    times = {path: os.stat(path).st_mtime_ns for path in folder.rglob("*")}
    yield made
    assert times == {path: os.stat(path).st_mtime_ns for path in folder.rglob("*")}
