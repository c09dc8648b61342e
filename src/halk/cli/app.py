"""The commands and their options."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

# only the command itself imports this module
import cyclopts  # noqa: TID253

from halk._version import __version__
from halk.cli.examples import EXAMPLES
from halk.cli.fit import fit, update
from halk.cli.look import demo, doctor, inspect
from halk.cli.net import agent, certs, simulate, up
from halk.cli.use import fill, forecast, predict

app = cyclopts.App(
    name="halk",
    help="Sensors that learn together without a server.",
    version=__version__,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)

for command in (
    doctor, fit, fill, forecast, predict, update, inspect, demo, agent, up, simulate,
    certs,
):  # fmt: skip
    lines = "\n\n".join(EXAMPLES[command.__name__])
    app.command(command, help_epilogue=f"For example:\n\n{lines}")


def _whole(type_: Any, tokens: Sequence[Any]) -> int:
    """Return a whole number; 4.5 is a mistake, not 4."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"must be a whole number, got {text}") from None


Whole = Annotated[int, cyclopts.Parameter(converter=_whole)]
Name = Literal["random-field", "temperature", "salinity", "fill-in", "theory", "all"]
Scale = Literal["smoke", "full"]


@app.command
def reproduce(
    experiment: Name | None = None,
    *,
    scale: Scale = "full",
    data: Path | None = None,
    season: str | None = None,
    sensors: Whole | None = None,
    radius: float = 1000.0,
    seeds: Whole = 3,
    out: Path = Path("halk-results"),
    again: Annotated[bool, cyclopts.Parameter(negative="")] = False,
    jobs: Whole = 1,
    list_: Annotated[bool, cyclopts.Parameter(name="--list", negative="")] = False,
) -> None:
    """Run the paper's experiments and say, claim by claim, what holds.

    Finished runs are kept: the same command goes on where it was interrupted.

    Parameters
    ----------
    experiment
        Which one, or all.
    scale
        All of it, or a few seconds' worth that shows that it works.
    data
        Readings for the ocean experiments: a CSV or Parquet table, or World Ocean Atlas
        files (CSV, NetCDF, a folder of them). By default
        ../shared/data/gulf_woa18_50nodes.csv if it is there, else the network that
        comes along.
    season
        Of the readings, where the data have several: annual, winter, ...
    sensors
        How many sensors to take.
    radius
        Sensors closer than this talk to each other, in km.
    seeds
        How often everything is repeated with other random numbers.
    out
        The folder for the results.
    again
        Make finished runs anew.
    jobs
        How many processes work at the same time.
    list_
        Say what experiments there are, and stop.
    """
    from halk.cli.reproduce import listed, reproduced

    if list_:
        listed()
        return
    if experiment is None:
        raise SystemExit(_usage("reproduce", "name an experiment, or all; see --list"))
    asked = {
        "scale": scale, "data": data, "season": season, "sensors": sensors,
        "radius": radius, "seeds": seeds,
    }  # fmt: skip
    command = shlex.join(["halk", *sys.argv[1:]])
    reproduced(experiment, asked, out, command, again, jobs)


def _usage(command: str, message: str) -> int:
    sys.stderr.write(f"halk {command}: {message}\n")
    return 2
