"""``python -m halk``: the same as the command ``halk``."""

from halk.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
