"""Five tasks with a table of people, in dpress; each function is what one types. See `five_tasks.py`."""

# ruff: noqa: ANN001, ANN201, ARG001  # as one types them; the functions are of one form

import dpress

EDUCATION = {
    "name": "education",
    "kind": "ordinal",
    "values": ["Primary", "Secondary", "Vocational", "Bachelor", "Master"],
}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 100]}


def histogram(path, folder):
    return (
        dpress.publish({"attribute": [EDUCATION], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}, path)
        .tables["education"]
        .to_pandas()
    )


def mean(path, folder):
    return dpress.publish(
        {
            "attribute": [AGE],
            "privacy": {"epsilon": 1},
            "release": {"kind": "statistics", "parameters": {"mean": ["age"]}},
        },
        path,
    ).mean("age")


def budget(path, folder):
    ledger = dpress.Ledger.create(folder / "ledger.sqlite", limit=dpress.PureDP(epsilon=1), unit=dpress.ROW)
    ages = {
        "attribute": [AGE],
        "privacy": {"epsilon": 0.5},
        "release": {"kind": "statistics", "parameters": {"mean": ["age"]}},
    }
    dpress.publish(
        {"attribute": [EDUCATION], "privacy": {"epsilon": 0.5}, "release": {"kind": "histogram"}}, path, ledger=ledger
    )
    dpress.publish(ages, path, ledger=ledger)
    dpress.publish(ages, path, ledger=ledger)  # refused


def choose(path, folder):
    return dpress.plan_for_error(
        {"attribute": [EDUCATION], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}, error=10
    ).spec.privacy.epsilon


def explain(path, folder):
    release = dpress.publish(
        {"attribute": [EDUCATION], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}, path
    )
    dpress.report(release, folder / "report.html")
    return release["education = Master"]
