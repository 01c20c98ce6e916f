"""The peer of `microdata_speed.py`: the `kmodes` package. Runs in an environment of its own, without dpress.

python -m venv peer && peer/bin/pip install kmodes
python bench/microdata_speed.py --peers peer/bin/python

Reads one JSON line from standard input: the file of a table (numbers on the scale of their bounds, categories as
codes), which of its columns are categories, the number of clusters, how to start. Answers with seconds and cost.
"""

import importlib.metadata
import json
import sys
import time

import numpy as np
from kmodes.kprototypes import KPrototypes


def main() -> None:
    """Fit once and print JSON."""
    asked = json.loads(sys.stdin.readline())
    table = np.load(asked["file"])
    model = KPrototypes(asked["clusters"], init=asked["init"], n_init=1, gamma=1.0, random_state=1)
    start = time.perf_counter()
    model.fit(table, categorical=asked["categorical"])
    seconds = time.perf_counter() - start
    version = importlib.metadata.version("kmodes")
    print(json.dumps({"seconds": seconds, "cost": float(model.cost_), "rounds": model.n_iter_, "kmodes": version}))


if __name__ == "__main__":
    main()
