"""Names of agents as a transport needs them, and the files that vouch for them."""

from dataclasses import dataclass
from pathlib import Path

from halk._validation import require
from halk.net.bodies import MAX_NAME

_MARKS = "-_."


@dataclass(frozen=True)
class Identity:
    """The files by which an agent shows who it is, all in PEM.

    Parameters
    ----------
    certificate : Path
        Its common name is the agent's name.
    key : Path
        Of the certificate, to be readable by the agent alone.
    authority : Path
        Certificate of who vouches for this agent and for all its neighbours.
    """

    certificate: Path
    key: Path
    authority: Path


def checked_name(what: str, name: str) -> str:
    """Return a name that may stand in keys, certificates and names of files."""
    is_plain = all(c.isalnum() or c in _MARKS for c in name)
    rule = f"be letters, digits and {_MARKS!r}, and begin with one of the former"
    require(is_plain and name[:1].isalnum(), what, rule, name)
    require(len(name.encode()) <= MAX_NAME, what, f"have {MAX_NAME} bytes", name)
    return name
