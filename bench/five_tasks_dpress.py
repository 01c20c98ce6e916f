"""Five tasks with a table of people, in dpress; each function is what one types. See `five_tasks.py`."""

# ruff: noqa: ANN001, ANN201, ARG001  # as one types them; the functions are of one form

import math

import dpress

EDUCATION = {
    "name": "education",
    "kind": "ordinal",
    "values": ["Primary", "Secondary", "Vocational", "Bachelor", "Master"],
}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 100]}


def histogram(path, folder):
    release = {"kind": "histogram", "attributes": ["education"]}
    return dpress.publish(described(path, release, 1)).tables["education"].to_pandas()


def mean(path, folder):
    release = {"kind": "statistics", "attributes": ["age"], "parameters": {"mean": ["age"]}}
    return dpress.publish(described(path, release, 1)).mean("age")


def budget(path, folder):
    ledger = dpress.Ledger.create(folder / "ledger.sqlite", limit=dpress.PureDP(epsilon=1), unit=dpress.ROW)
    counts = described(path, {"kind": "histogram", "attributes": ["education"]}, 0.5)
    ages = described(path, {"kind": "statistics", "attributes": ["age"], "parameters": {"mean": ["age"]}}, 0.5)
    dpress.publish(counts, ledger=ledger)
    dpress.publish(ages, ledger=ledger)
    dpress.publish(ages, ledger=ledger)  # refused


def choose(path, folder):
    low, high = 0.001, 10.0
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        planned = dpress.plan(described(path, {"kind": "histogram", "attributes": ["education"]}, middle))
        if planned.chosen.predicted_error > 10**2:
            low = middle
        else:
            high = middle
    return high


def explain(path, folder):
    release = dpress.publish(described(path, {"kind": "histogram", "attributes": ["education"]}, 1))
    dpress.report(release, folder / "report.html")
    return release["education = Master"]


def described(path, release, epsilon):
    return dpress.load_spec(
        {
            "data": {"source": str(path)},
            "attribute": [EDUCATION, AGE],
            "privacy": {"epsilon": epsilon},
            "release": release,
        }
    )
