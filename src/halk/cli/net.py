"""``halk agent``, ``halk up``, ``halk simulate``, ``halk certs``: agents for real."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk.cli.options import Flag, Names
from halk.cli.talk import console, put_json, say
from halk.errors import HalkError


def agent(
    *,
    config: Annotated[Path, cyclopts.Parameter(alias="-c")],
    until_end: Annotated[bool, Flag] = False,
    check: Annotated[bool, Flag] = False,
    lifeline: Annotated[int | None, cyclopts.Parameter(show=False)] = None,
) -> None:
    """Run one agent: learn from its readings, and talk to its neighbours.

    It stops cleanly at SIGTERM and Ctrl-C, and goes on from its checkpoint when it is
    started again. Its log goes to standard error.

    Parameters
    ----------
    config
        The TOML file of the agent.
    until_end
        Stop when all readings are learned and no neighbour asks any more.
    check
        Only say whether the configuration can be used.
    lifeline
        A pipe whose end is the agent's.
    """
    from halk.deploy.process import Stop

    stop = Stop()
    stop.on_signals()  # before what takes long: a signal must not be lost
    if lifeline is not None:
        stop.on_end_of(lifeline)
    from halk.deploy import read_config, run_agent
    from halk.deploy.link import check_link

    found = read_config(config)
    if check:
        check_link(found)
        say(f"{config} is fine: {found.name}, {len(found.neighbours)} neighbours")
        return
    code = run_agent(found, until_end, stop, owns_process=True)
    if code:
        raise SystemExit(code)


def up(
    network: Path,
    *,
    folder: Annotated[Path | None, cyclopts.Parameter(alias="-o")] = None,
    tls: Annotated[bool, Flag] = False,
    fresh: Annotated[bool, Flag] = False,
    for_: Annotated[float | None, cyclopts.Parameter(name="--for")] = None,
    until_end: Annotated[bool, Flag] = False,
    json: Annotated[bool, Flag] = False,
) -> None:
    """Run a whole network on this machine, each agent a process; Ctrl-C stops it.

    Parameters
    ----------
    network
        The TOML file of the network.
    folder
        For configurations, logs and checkpoints of the agents; by default beside the
        file, with a name that ends in -run. Agents go on from what is there.
    tls
        Make certificates, and let agents talk in mutual TLS.
    fresh
        Forget earlier checkpoints: all begin untaught.
    for_
        Stop after so many seconds.
    until_end
        Stop when all readings are learned.
    json
        Print the summary for machines, and nothing before.
    """
    from halk.cli.up import run_up

    run_up(network, folder, tls, fresh, for_, until_end, json)


def simulate(
    network: Path,
    *,
    drop: float | None = None,
    delay: str | None = None,
    batches: Annotated[bool | None, Flag] = None,
    rate_spread: float | None = None,
    activation: str | None = None,
    think: str | None = None,
    lag: str | None = None,
    work: str | None = None,
    seed: int | None = None,
    json: Annotated[bool, Flag] = False,
) -> None:
    """Run the network of a file in one process: in lockstep, or free with faults.

    What is not given is as the table [simulation] of the file has it.

    Parameters
    ----------
    network
        The TOML file of the network.
    drop
        Share of messages that are lost, in a free-running network; by default none.
    delay
        Seconds that a message takes, by default 0.005; or a distribution of them:
        uniform:low=0,high=0.01 or exponential:mean=0.005,least=0.001.
    batches
        What is said to a neighbour in one turn arrives together.
    rate_spread
        How different the rates of agents are: with s, up to 1 + s times faster or
        slower, at random.
    activation
        When agents take readings: own_rate, as_fast, poisson, jitter:by=0.5,
        asleep:share=0.5,period=10, all_at_once, in_turn, one_at_random or
        bernoulli:q=0.5; by default as [readings] says.
    think
        Seconds from the end of a step to the next reading of an agent without a rate,
        by default 0.001; or a distribution, as for delay.
    lag
        Seconds until an agent that waits hears what comes, with all that came
        meanwhile, by default 0; or a distribution.
    work
        Seconds of work for a message that is heard or a reading that is taken, in
        which nothing else is heard, by default 0; or a distribution.
    seed
        Decides what is random; by default 0.
    json
        Print the summary for machines.
    """
    from halk.cli.live import summary_of, summary_table
    from halk.deploy.conditions import Conditions
    from halk.deploy.plan import read_plan
    from halk.deploy.simulation import simulate_free, simulate_lockstep

    plan = read_plan(network)
    if not json:
        for remark in plan.remarks():
            say(f"{network}: {remark}")
    given = {
        "drop": drop, "delay": delay, "batches": batches, "rate_spread": rate_spread,
        "activation": activation, "think": think, "lag": lag, "work": work,
        "seed": seed,
    }  # fmt: skip
    if plan.mode == "lockstep":
        has_any = any(value is not None for value in given.values())
        if has_any or plan.simulation != Conditions():
            raise HalkError(
                f"{network}: --drop, --delay and the like, and [simulation], must go "
                "with mode = 'free': in lockstep they change nothing but the time it "
                "takes"
            )
        _, found = simulate_lockstep(plan)
    else:
        try:
            _, found = simulate_free(plan, **given)
        except (TypeError, ValueError) as error:
            raise HalkError(str(error)) from None
    if json:
        put_json(summary_of(found))
    else:
        console().print(summary_table(found, f"{network.name}, {plan.mode}, simulated"))


def certs(
    folder: Path,
    names: Annotated[list[str], cyclopts.Parameter(negative="")],
    /,
    *,
    hosts: Names = ("localhost", "127.0.0.1"),
    days: int = 825,
    force: Annotated[bool, Flag] = False,
) -> None:
    """Make certificates of agents, and the authority that vouches for them.

    Every agent needs its own certificate and key and the authority's certificate. The
    authority's key stays here: who has it can be anybody.

    Parameters
    ----------
    folder
        Where they go. An authority that is there is used.
    names
        Of the agents.
    hosts
        Addresses and names of the machines that the agents listen on, separated by
        commas.
    days
        How long the certificates are valid.
    force
        Replace certificates that are there, but never the authority.
    """
    from halk.net.certs import make_authority, make_certificate
    from halk.net.identity import checked_name

    authority = folder / "authority.pem"
    try:
        for name in names:  # before anything is made
            checked_name("name", name)
        if not authority.exists():
            say(f"made {make_authority(folder)}")
        for name in names:
            made = make_certificate(folder, name, hosts, days, force)
            say(f"made {made.certificate} and {made.key}")
    except FileExistsError as error:
        raise HalkError(f"{error}; --force makes it anew") from None
    except (TypeError, ValueError) as error:
        raise HalkError(str(error)) from None
