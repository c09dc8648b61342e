"""Networks of agents as processes on this machine: rates, bytes, memory, shares.

``python -m benchmarks.processes`` lets 2, 8 and 50 agents learn in lockstep over Zenoh,
each a process, and measures between two moments in the middle of the run. The same
nodes with the in-memory transport in one process are what learning costs, messages
made and read included; files are the checkpoint that lockstep needs after every step;
transport is the rest of the processor time: Zenoh, system, waiting and waking.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workloads import regular
from halk import Network
from halk.deploy.folder import prepare
from halk.deploy.plan import Plan, read_plan
from halk.deploy.supervisor import Supervisor
from halk.net import Hub, LockstepNode, post, save, serve

_MODEL = """
mode = "lockstep"

[model]
inputs = ["x"]
kernel = { name = "gaussian", length_scale = 0.1 }
step_size = 0.3
epsilon = 0.02

[readings]
path = "readings.csv"
sensor = "agent"
value = "y"
"""
_TICK = os.sysconf("SC_CLK_TCK")
_PATIENCE = 600.0
_N_FILES = 100
_HEAD = "agents  steps/s  ms/step  CPU us  learning  files  transport  bytes   MB"


class Moment(NamedTuple):
    """The state of a network of processes at one time."""

    time: float
    step: float
    cpu: float
    bytes_sent: float
    memory: float


def network(n_agents: int) -> Network:
    """Return two agents, or more with four neighbours each."""
    return Network.path(2, 0.02) if n_agents == 2 else regular(n_agents, 4)


def written(folder: Path, n_agents: int, n_steps: int) -> Path:
    """Write a network and its readings; return the file of the network."""
    rng, rows = np.random.default_rng(0), ["agent,x,y"]
    for _ in range(n_steps):
        for i, x in enumerate(rng.uniform(size=n_agents).tolist()):
            y = np.sin(6 * x) + 0.1 * np.sin(i) + 0.1 * rng.normal()
            rows.append(f"a{i:02},{x!r},{float(y)!r}")
    (folder / "readings.csv").write_text("\n".join([*rows, ""]))
    text = _MODEL
    for i, j in network(n_agents).edges.tolist():
        if i < j:
            text += f'[[edges]]\nbetween = ["a{i:02}", "a{j:02}"]\ntolerance = 0.02\n'
    (folder / "network.toml").write_text(text)
    return folder / "network.toml"


def moment(supervisor: Supervisor) -> Moment:
    """Look at all agents."""
    supervisor.check()
    facts = [child.facts for child in supervisor.children]
    cpu = sum(_cpu(child.process.pid) for child in supervisor.children if child.process)
    return Moment(
        time.perf_counter(),
        float(np.mean([f.get("step", 0) for f in facts])),
        cpu,
        float(np.mean([f.get("bytes_sent", 0) for f in facts])),
        float(np.mean([f.get("memory_bytes", 0) for f in facts])),
    )


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def as_processes(plan: Plan, folder: Path, n_steps: int, tls: bool) -> dict[str, float]:
    """Return rates of a network in the middle of its run."""
    supervisor = Supervisor(prepare(plan, folder, tls, True), until_end=False)
    try:
        supervisor.start()
        first = _reached(supervisor, 0.1 * n_steps)
        last = _reached(supervisor, 0.9 * n_steps)
    finally:
        supervisor.close()
    steps = last.step - first.step
    seconds = last.time - first.time
    each = steps * len(plan.names)
    return {
        "steps_a_second": steps / seconds,
        "ms_a_step": 1e3 * seconds / steps,
        "cpu_us_an_agent_step": 1e6 * (last.cpu - first.cpu) / each,
        "bytes_an_agent_step": (last.bytes_sent - first.bytes_sent) / steps,
        "megabytes": last.memory / 1e6,
    }


def _reached(supervisor: Supervisor, step: float) -> Moment:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        now = moment(supervisor)
        if supervisor.failed:
            raise SystemExit(supervisor.failed[0].complaint())
        if now.step >= step:
            return now
        time.sleep(0.2)
    raise SystemExit(f"step {step:g} was not reached in {_PATIENCE:g} s")


def in_one_process(plan: Plan, n_steps: int, folder: Path) -> tuple[float, float]:
    """Return what nodes cost without processes, and their files, us an agent-step."""
    learner, p = plan.model.learner(plan.network), len(plan.model.inputs)
    rows = [plan.rows(i) for i in range(len(plan.names))]
    nodes = []
    for i, name in enumerate(plan.names):
        agent = learner.agent(i, p)
        others = [plan.names[j] for j in agent.neighbours]
        nodes.append(LockstepNode(agent, name, others, limits=plan.limits))
    hub = Hub()
    ends = [hub.join(node.name) for node in nodes]
    n_warm = n_steps // 5
    for t in range(n_steps):
        if t == n_warm:
            began = time.process_time()
        for node, end, own in zip(nodes, ends, rows, strict=True):
            while not node.is_idle:  # the hellos of the first step
                _round(nodes, ends)
            post(end, node.read(own[t].x, float(own[t].y or 0.0), 0.0))
        while not all(node.is_idle for node in nodes):
            _round(nodes, ends)
    learned = 1e6 * (time.process_time() - began) / (n_steps - n_warm) / len(nodes)
    began = time.process_time()
    for _ in range(_N_FILES):
        save(nodes[0], folder / "file.halk")
    return learned, 1e6 * (time.process_time() - began) / _N_FILES


def _round(nodes: list[Any], ends: list[Any]) -> None:
    for node, end in zip(nodes, ends, strict=True):
        serve(node, end, 0.0)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, nargs="+", default=[2, 8, 50])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = {}
    print(_HEAD)
    for n_agents in arguments.agents:
        with TemporaryDirectory() as folder:
            path = written(Path(folder), n_agents, arguments.steps)
            plan = read_plan(path)
            rates = as_processes(
                plan, Path(folder) / "run", arguments.steps, arguments.tls
            )
            parts = in_one_process(plan, min(arguments.steps, 100), Path(folder))
        whole = rates["cpu_us_an_agent_step"]
        rates["learning"], rates["files"] = (part / whole for part in parts)
        rates["transport"] = 1 - rates["learning"] - rates["files"]
        found[n_agents] = rates
        print(
            f"{n_agents:6}  {rates['steps_a_second']:7.1f}  {rates['ms_a_step']:7.1f}  "
            f"{whole:6.0f}  {rates['learning']:8.0%}  {rates['files']:5.0%}  "
            f"{rates['transport']:9.0%}  {rates['bytes_an_agent_step']:5.0f}  "
            f"{rates['megabytes']:3.0f}",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
