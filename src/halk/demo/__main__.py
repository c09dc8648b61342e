"""``python -m halk.demo``: the same as ``halk demo``."""

from halk.demo import main

if __name__ == "__main__":
    raise SystemExit(main())
