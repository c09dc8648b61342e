"""Store the results of all cases anew: ``python -m tests.golden.make``.

Only where results are meant to change; look at what ``test_golden.py`` says first.
"""

from pathlib import Path

import numpy as np

from tests.golden.cases import CASES, flat

PATH = Path(__file__).with_name("golden.npz")

if __name__ == "__main__":
    np.savez(PATH, **{name: flat(run()) for name, run in CASES.items()})
    print(f"{len(CASES)} cases in {PATH}")
