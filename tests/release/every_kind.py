"""Small specifications of every kind and every family of methods, and rows for them."""

from typing import Any

import pyarrow as pa

from dpress.data.spec import Spec, from_dict

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {
    "name": "sex",
    "kind": "categorical",
    "values": ["F", "M"],
    "other": "else",
    "hierarchy": [["F", "x"], ["M", "y"]],
}
SIZE = {"name": "size", "kind": "numeric", "bounds": [0.0, 8.0], "bins": 4}
PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0, 8], [0, 4]]}
USERS = 500
ROWS = pa.table(
    {
        "age": [k * k % 10 for k in range(USERS)],
        "sex": ["FM"[k % 3 == 0] for k in range(USERS)],
        "size": [k % 80 / 10 for k in range(USERS)],
        "lon": [k % 80 / 10 for k in range(USERS)],
        "lat": [k % 39 / 10 for k in range(USERS)],
    }
)
COLUMNS = {"place": PLACE, "age": AGE, "sex": SEX, "size": SIZE}
LONG = {"epsilon": 6.0}  # enough for a lifetime of reports, and for filters

Case = tuple[str, str, dict[str, Any], dict[str, Any]]


def central(attributes: str, kind: str, method: str, privacy: dict[str, Any] | None = None, **parameters: Any) -> Case:
    return attributes, kind, {"model": "central", **(privacy or {"epsilon": 1.0})}, {"method": method, **parameters}


def local(attributes: str, kind: str, method: str, **parameters: Any) -> Case:
    return attributes, kind, {"model": "local", **LONG}, {"method": method, **parameters}


STRATEGIES = ("identity", "binary_tree", "boost", "privelet", "prefix", "hierarchy")
ORACLES = ("krr", "oue", "sue", "olh", "hadamard", "subset_selection", "pcep", "rappor", "rr_ldp")
MAPS = ("gtr", "n_gtr", "gtr_top_down", "qt_krr", "qt_rappor", "psda", "n_psda", "dam")
CENTRAL: dict[str, Case] = {
    **{f"ranges {name}": central("age", "ranges", name) for name in STRATEGIES},
    **{f"boxes {name}": central("age size", "ranges", name) for name in STRATEGIES},
    "ranges dst": central("age", "ranges", "dst", {"rho": 0.5}),
    "ranges p_identity": central("age", "ranges", "p_identity", seconds=0.05),
    "ranges listed": central("age size", "ranges", "auto", queries=["age < 3", "size < 4 and age in 2..7"]),
    "ranges persons": central("age", "ranges", "privelet", {"epsilon": 1.0, "relation": "replace-one"}),
    "histogram": central("age sex", "histogram", "auto"),
    "histogram adjusted": central("age sex", "histogram", "auto", postprocess=["nonnegative", "integer"]),
    "marginals": central("age sex size", "marginals", "marginals", {"epsilon": 1.0, "delta": 1e-6}),
    "marginals identity": central("age sex size", "marginals", "identity", ways=1),
    "map quadtree": central("place", "spatial", "quadtree", height=3),
    "map adaptive_grid": central("place", "spatial", "adaptive_grid"),
    "map uniform_grid": central("place", "spatial", "uniform_grid", side=7),
    "records dp_prototypes": central("age sex size", "microdata", "dp_prototypes", clusters=3),
    "records graphical": central("age sex size", "microdata", "graphical"),
    "records per_record": central("age sex size", "microdata", "per_record", users=USERS),
    "records insensitive": central("age sex size", "microdata", "insensitive_microaggregation", users=USERS, group=100),
    "records dp_k_prototypes": central("age sex size", "microdata", "dp_k_prototypes", clusters=3),
    "records mdav": central("age sex size", "microdata", "mdav", group=5),
}
LOCAL: dict[str, Case] = {
    **{f"tables {name}": local("age sex", "marginals", name) for name in ORACLES},
    **{f"tables {name} budget": local("age sex", "marginals", name, split="budget") for name in ORACLES},
    "tables adjusted": local("age", "histogram", "krr", postprocess=["norm_sub"]),
    "joint pairs": local("sex size age", "joint", "pairs", ways=2),
    "joint triples": local("sex size age", "joint", "pairs", ways=3),
    "joint rr_ldp": local("sex size age", "joint", "rr_ldp"),
    "joint whole": local("sex size", "joint", "subset_selection"),
    "joint independent": local("sex size", "joint", "independent"),
    **{f"joint {name}": local("sex size", "joint", name) for name in ("em", "lasso", "lremh")},
    "joint filters": local("sex size", "joint", "em", reports="rappor", bits=24),
    **{f"map {name}": local("place", "spatial", name, height=3) for name in MAPS},
    **{f"map flat {name}": local("place", "spatial", name, height=2) for name in ("krr", "oue", "rappor")},
    "map ahead": local("place", "spatial", "ahead", height=3, rounds=2),
}
CASES = {**CENTRAL, **LOCAL}


def spec_of(name: str) -> Spec:
    """Return the specification of one of `CASES`."""
    attributes, kind, privacy, options = CASES[name]
    own = dict(options)
    release = {"kind": kind, "method": own.pop("method"), "postprocess": own.pop("postprocess", []), "parameters": own}
    columns = [COLUMNS[one] for one in attributes.split()]
    return from_dict({"attribute": columns, "privacy": privacy, "release": release})
