"""A table of visits, about nobody, whose counts are known, and its specification."""

import pyarrow as pa

SPEC = {
    "attribute": [
        {"name": "age", "kind": "integer", "bounds": [0, 99]},
        {"name": "ward", "kind": "categorical", "values": ["eyes", "ear", "skin"]},
        {"name": "size", "kind": "integer", "bounds": [1, 3]},
        {"name": "stay", "kind": "integer", "bounds": [0, 9], "outside": "drop"},
    ],
    "privacy": {"epsilon": 1.0},
}
TRUE = {"eyes": 300, "ear": 200, "skin": 100}
BY_WARD = "select ward, count(*) from visits group by ward"


def rows() -> pa.Table:
    """600 visits: every third of a stay of more than nine days, which the specification leaves out."""
    wards = [ward for ward, count in TRUE.items() for _ in range(count)]
    places = range(len(wards))
    return pa.table({
        "age": [place * 7 % 100 for place in places],
        "ward": wards,
        "size": [place % 3 + 1 for place in places],
        "stay": [place % 15 for place in places],
    })  # fmt: skip
