"""A made-up country of two states, with names, places on a map and a name that is markup; and its release."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.csv

from dpress.core.basics import rng
from dpress.data.specification.spec import load_spec
from dpress.release.curator.publish import publish

MARKUP = "<b>x"
TREE = pa.table(
    {
        "state": ["A", "A", "A", "B", "B"],
        "county": ["A1", "A1", "A2", "B1", "B1"],
        "town": ["A1x", "A1y", "A2x", "B1x", "B1y"],
        "state_name": ["North", "North", "North", "South", "South"],
        "county_name": [MARKUP, MARKUP, "Hill", "Coast", "Coast"],
        "lon": [1.0, 1.2, 2.0, 1.5, 1.9],
        "lat": [52.0, 52.1, 51.9, 50.0, 50.4],
    }
)
SPEC = """
[[attribute]]
name = "place"
kind = "hierarchy"
column = "town"
levels = ["state", "county", "town"]
file = "tree.csv"

[[attribute]]
name = "sex"
kind = "categorical"
values = ["f", "m"]

[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 3]

[privacy]
rho = 0.5

[release]
kind = "regions"

[release.parameters]
tables = [["age"], ["sex", "age"]]
"""
PEOPLE = pa.table(
    {
        "town": [TREE["town"][row * row % 7 % 5].as_py() for row in range(3000)],
        "sex": ["fm"[row % 3 == 0] for row in range(3000)],
        "age": [row % 10 % 4 for row in range(3000)],
    }
)


def release_in(folder, parameters="", rules=""):
    """Return the release of the country, worded as a private one; its files are in the folder."""
    pyarrow.csv.write_csv(TREE, folder / "tree.csv")
    (folder / "spec.toml").write_text(SPEC.replace("[release]\n", f"[release]\n{rules}") + parameters, encoding="utf-8")
    return replace(publish(load_spec(folder / "spec.toml"), PEOPLE, rng=rng.seeded(2026)), private=True)
