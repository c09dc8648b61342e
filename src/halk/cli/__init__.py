"""The command ``halk``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from halk.errors import HalkError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; a user's mistake gets one clear line, never a traceback."""
    try:
        from halk.cli.app import app
    except ImportError as error:
        return _failed(
            f"the command halk needs {error.name}: pip install 'halk[tables]'"
        )
    try:
        app(arguments if arguments is None else list(arguments))
    except KeyboardInterrupt:
        return _failed("interrupted; give the same command again", 130)
    except ModuleNotFoundError as error:
        extra = "pip install 'halk[experiments]'"
        return _failed(f"this command needs {error.name}, which is missing: {extra}")
    except (HalkError, ImportError) as error:
        return _failed(str(error))
    except BrokenPipeError:  # who reads has seen enough, as in: halk fill ... | head
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  nothing is flushed to it
        return 0
    except OSError as error:
        notes = " ".join(getattr(error, "__notes__", []))
        where = f"{error.filename}: " if error.filename else ""
        return _failed(f"{where}{error.strerror or error}. {notes}".strip())
    except SystemExit as exit_:  # from the parser of the command line
        return int(exit_.code or 0)
    return 0


def _failed(message: str, code: int = 1) -> int:
    sys.stderr.write(f"halk: {message}\n")
    return code
