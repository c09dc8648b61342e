"""The Gulf of Mexico as fifty processes: in lockstep, and free under loss.

``python -m benchmarks.ocean_processes lockstep`` compares the final models with the
simulator's, bit for bit; ``... free`` puts every agent on a host of its own behind a
switch that loses packets, lets them read at random rates, and compares the fill-in
error with that of lockstep. The second needs root.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.switch import Switch
from halk.data import Field, draw_steps, gulf, withhold
from halk.deploy.config import read_config
from halk.deploy.feeds import feed_of
from halk.deploy.folder import Place, prepare
from halk.deploy.plan import Plan, read_plan
from halk.deploy.process import node_of
from halk.deploy.simulation import simulate_lockstep
from halk.deploy.supervisor import Supervisor
from halk.net import bring_back

METRES = 100.0
TOLERANCE = 2.0
_NETWORK = """
mode = "{mode}"
unit = "degC"

[model]
inputs = ["depth"]
kernel = {{ name = "gaussian", length_scale = 1.0 }}
step_size = 0.5
epsilon = 0.05
standardize = "offset"

[readings]
path = "readings.csv"
sensor = "sensor"
value = "t_C"

[network]
wait = 2.0
retry = 5.0

[checkpoint]
every = 5.0
"""


def scaled(depth: Any) -> Any:
    """Return depths on a scale that is fine near the surface."""
    return np.log1p(depth / METRES)


def fields() -> tuple[Field, Field]:
    """Return the readings to learn, and those withheld."""
    field = gulf("temperature")
    mask = withhold(field, 0.2, seed=0)
    return field.subset(~mask), field.subset(mask)


def rates_of(n_agents: int, rate: float) -> Any:
    """Return readings a second, of the slowest a quarter of the fastest's; or ones."""
    if not rate:
        return np.ones(n_agents)
    return rate * np.exp(np.random.default_rng(0).uniform(-0.7, 0.7, n_agents))


def written(
    folder: Path, mode: str, n_steps: int, radius: float, rate: float = 1.0
) -> Plan:
    """Write the network and its readings; return the plan.

    Free-running agents read for about as long, so the faster have more to read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    training, _ = fields()
    names = [f"s{i:02}" for i in range(training.n_agents)]
    rates = rates_of(training.n_agents, rate if mode == "free" else 0.0)
    counts = np.round(n_steps * rates / rates.mean()).astype(int)
    X, Y = draw_steps(training, int(counts.max()), seed=0)
    rows = ["sensor,depth,t_C"]
    for i, name in enumerate(names):
        pairs = zip(scaled(X[:, i, 0]).tolist(), Y[:, i].tolist(), strict=True)
        rows += [f"{name},{x!r},{y!r}" for x, y in list(pairs)[: counts[i]]]
    (folder / "readings.csv").write_text("\n".join([*rows, ""]))
    text = _NETWORK.format(mode=mode)
    if mode == "free":
        for name, own in zip(names, rates, strict=True):
            text += f'[[agents]]\nname = "{name}"\nrate = {own:.3f}\n'
    for i, j in training.network(radius, TOLERANCE).edges.tolist():
        if i < j:
            pair = f'["{names[i]}", "{names[j]}"]'
            text += f"[[edges]]\nbetween = {pair}\ntolerance = {TOLERANCE}\n"
    (folder / "network.toml").write_text(text)
    return read_plan(folder / "network.toml")


def nodes_of(places: list[Place]) -> list[Any]:
    """Return the agents as their files have them."""
    nodes = []
    for place in places:
        config = read_config(place.config)
        feed = feed_of(config.readings, None)
        nodes.append(
            bring_back(place.checkpoint.read_bytes(), node_of(config, feed, 1))
        )
        feed.close()
    return nodes


def error_of(predict: Any) -> float:
    """Return the error at the withheld readings."""
    _, test = fields()
    triples = zip(test.agent.tolist(), scaled(test.x[:, 0]), test.y, strict=True)
    return float(np.sqrt(np.mean([(predict(i, x) - y) ** 2 for i, x, y in triples])))


def lockstep(folder: Path, n_steps: int, radius: float) -> None:
    """Run in lockstep, as processes and in the simulator, and compare."""
    plan = written(folder, "lockstep", n_steps, radius)
    learner, _ = simulate_lockstep(plan)
    in_simulator = error_of(lambda i, x: float(learner.predict(i, [[x]])[0]))
    print(f"simulator: fill-in error {in_simulator:.4f} degC", flush=True)
    places = prepare(plan, folder / "run", False, True)
    supervisor, began = Supervisor(places, until_end=True), time.perf_counter()
    try:
        supervisor.start()
        told = began
        while not supervisor.is_over:
            supervisor.check()
            time.sleep(2.0)
            if time.perf_counter() - told > 30:
                told = time.perf_counter()
                steps = [child.facts.get("step", 0) for child in supervisor.children]
                print(f"{told - began:.0f} s: step {min(steps)}", flush=True)
    finally:
        supervisor.close()
    seconds, same = time.perf_counter() - began, 0
    nodes = nodes_of(places)
    for i, node in enumerate(nodes):
        f, g = learner.function(i), node.agent.function
        edges = slice(learner.network.indptr[i], learner.network.indptr[i + 1])
        same += (
            np.array_equal(f.atoms, g.atoms)
            and np.array_equal(f.weights, g.weights)
            and np.array_equal(node.agent.multipliers, learner.multipliers[edges])
        )
    print(f"{len(nodes)} processes, {n_steps} steps in {seconds:.0f} s with the start")
    print(f"{same} of {len(nodes)} models are the simulator's, bit for bit")


def free(folder: Path, n_steps: int, radius: float, rate: float, loss: float) -> None:
    """Run free on hosts that lose packets, and compare with lockstep."""
    plan = written(folder, "lockstep", n_steps, radius)
    learner, _ = simulate_lockstep(plan)
    in_step = error_of(lambda i, x: float(learner.predict(i, [[x]])[0]))
    plan = written(folder, "free", n_steps, radius, rate)
    places = prepare(plan, folder / "run", False, True)
    with Switch(len(places)) as switch:
        _move_to_hosts(places, switch)
        processes = []
        try:
            for i, place in enumerate(places):
                command = [sys.executable, "-m", "halk", "agent", "--config"]
                with place.log.open("ab") as log:
                    inside = switch.inside(i, [*command, str(place.config)])
                    processes.append(
                        subprocess.Popen(inside, stderr=log, env=os.environ)
                    )
            _wait(places, [1] * len(places), processes)
            switch.loss = loss
            began = time.perf_counter()
            _wait(places, [len(plan.rows(i)) for i in range(len(places))], processes)
            seconds = time.perf_counter() - began
            for process in processes:
                process.send_signal(signal.SIGTERM)
            for process in processes:
                process.wait(120)
        finally:
            for process in processes:
                process.kill()
        print(f"{seconds:.0f} s, {switch.n_carried} packets, {switch.n_lost} lost")
    nodes = nodes_of(places)
    refused = sum((node.refused for node in nodes), start=nodes[0].refused.__class__())
    error = error_of(lambda i, x: nodes[i].agent.predict([x]))
    print(f"refused: { {reason.name: n for reason, n in refused.items()} }")
    print(f"fill-in error, free with {loss:.0%} loss: {error:.4f} degC")
    print(f"fill-in error, lockstep: {in_step:.4f} degC; ratio {error / in_step:.3f}")


def _move_to_hosts(places: list[Place], switch: Switch) -> None:
    """Let every agent listen on a host of its own."""
    texts = [place.config.read_text() for place in places]
    where = {}
    for i, text in enumerate(texts):
        port = text.split("listen = [", 1)[1].split('"', 2)[1]
        where[port] = f"{switch.address(i)}:7447"
    for place, text in zip(places, texts, strict=True):
        moved = text
        for old, new in where.items():
            moved = moved.replace(f'"{old}"', f'"{new}"')
        place.config.write_text(moved + "\n[security]\nplain = true\n")


def _wait(places: list[Place], wanted: list[int], processes: list[Any]) -> None:
    told = time.monotonic()
    while True:
        time.sleep(5.0)
        there = [place for place in places if place.checkpoint.exists()]
        counts = [node.diary.n_readings for node in nodes_of(there)]
        if any(process.poll() is not None for process in processes):
            raise SystemExit("an agent has ended; see its log")
        if len(there) == len(places) and all(np.array(counts) >= wanted):
            return
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(f"readings: {min(counts, default=0)} at least", flush=True)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["lockstep", "free"])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--radius", type=float, default=1000.0, help="of links, km")
    parser.add_argument("--rate", type=float, default=1.0, help="readings a second")
    parser.add_argument("--loss", type=float, default=0.05)
    parser.add_argument("--folder", type=Path, default=Path("halk-bench/ocean"))
    arguments = parser.parse_args()
    if arguments.what == "lockstep":
        lockstep(arguments.folder, arguments.steps, arguments.radius)
    else:
        free(
            arguments.folder, arguments.steps, arguments.radius, arguments.rate,
            arguments.loss,
        )  # fmt: skip


if __name__ == "__main__":
    main()
