"""Releases of every kind of a curator that can be made of any size: specifications, and tables of random rows."""

import pyarrow as pa

from dpress.core.basics import rng

ROWS = 50_000
PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0.0, 1.0], [0.0, 1.0]]}


def integer(name, size):
    return {"name": name, "kind": "integer", "bounds": [0, size - 1]}


def asked(attributes, kind, parameters=None, **privacy):
    release = {"kind": kind, "parameters": parameters or {}}
    return {"attribute": attributes, "privacy": {"epsilon": 1.0} | privacy, "release": release}


def tables(size, _folder):
    return asked([integer("a", 10), integer("b", size // 10)], "histogram")


def ranges(size, _folder):
    return asked([integer("a", size)], "ranges")


def queries(size, _folder):
    return asked([integer("a", 1000)], "queries", {"queries": [f"a in {end}..{end + 99}" for end in range(size)]})


def statistics(size, _folder):
    cost = {"name": "b", "kind": "numeric", "bounds": [0.0, 100.0], "bins": 10}
    return asked([integer("a", size), cost], "statistics", {"by": ["a"], "mean": ["b"]})


def joint(size, _folder):
    return asked([integer(name, size) for name in "ab"], "joint")


def microdata(size, _folder):
    return asked([integer(name, 5) for name in "abcdef"], "microdata", {"users": size})


def spatial(size, _folder):
    return asked([PLACE], "spatial", {"users": size})


def names(_size, _folder):
    return asked([{"name": "n", "kind": "categorical", "values": "discover"}], "names", delta=1e-6)


def regions(size, folder):
    towns = [f"t{number}" for number in range(size)]
    tree = pa.table({"state": [f"s{number % 50}" for number in range(size)], "town": towns})
    pa.csv.write_csv(tree, folder / "tree.csv")
    place = {"name": "place", "kind": "hierarchy", "column": "t", "levels": ["state", "town"]}
    place["file"] = str(folder / "tree.csv")
    return asked([place, integer("a", 10)], "regions", {"tables": [["a"]], "records": True})


KINDS = {
    "tables": (tables, 1_000_000),
    "ranges": (ranges, 300_000),
    "queries": (queries, 60),
    "statistics": (statistics, 100_000),
    "joint": (joint, 30),
    "microdata": (microdata, 300_000),
    "spatial": (spatial, 100_000),
    "names": (names, 20_000),
    "regions": (regions, 3000),
}
"""By kind what makes the specification, and a size at which a release takes memory."""


def below(draw, high, size):
    return (draw.words(size) % high).astype("int64")


def rows(kind, size):
    """Return random rows that a specification of this size can count."""
    draw, many = rng.seeded(size), size if kind in ("microdata", "spatial") else ROWS
    high = {"tables": 10, "microdata": 5, "regions": 10}.get(kind, max(2, size))
    columns = {name: below(draw, min(high, 1000), many) for name in "acdef"}
    columns["b"] = below(draw, {"tables": size // 10, "statistics": 100}.get(kind, high), many)
    for name in ("lon", "lat"):
        columns[name] = below(draw, 1000, many) / 1000
    places = below(draw, max(2, size), many)
    texts = [[f"{prefix}{number}" for number in places.tolist()] for prefix in "nt"]
    return pa.table(columns | {"n": texts[0], "t": texts[1]})
