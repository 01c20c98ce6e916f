"""The statements of `sql.py` in SmartNoise SQL. Runs in an environment of its own, with `smartnoise-sql`."""

from pathlib import Path
from typing import Any

import pandas as pd
import snsql

TYPES = {"categorical": "string", "ordinal": "string", "integer": "int", "numeric": "float", "date": "datetime"}


def runs(each: dict[str, Any], path: Path, epsilon: float, delta: float, count: int) -> list[list[dict[str, Any]]]:
    """Ask some times, every time with all of the budget: what a statement costs grows with its numbers."""
    rows = pd.read_parquet(path)
    sql = each["sql"].replace("from rows", "from bench.rows")
    at_one = snsql.from_df(rows, privacy=snsql.Privacy(epsilon=1.0, delta=delta), metadata=described(each, len(rows)))
    spent, _ = at_one.get_privacy_cost(sql)
    privacy = snsql.Privacy(epsilon=epsilon / float(spent), delta=delta)
    answered = []
    for _ in range(count):
        reader = snsql.from_df(rows, privacy=privacy, metadata=described(each, len(rows)))
        names, *values = reader.execute(sql)
        answered.append([dict(zip(names, row, strict=True)) for row in values])
    return answered


def described(each: dict[str, Any], rows: int) -> dict[str, Any]:
    """Return what SmartNoise is told of a table; public groups are not censored."""
    table: dict[str, Any] = {
        "row_privacy": False, "rows": rows, "max_ids": each["most"], "sample_max_ids": True, "clamp_counts": False,
        "clamp_columns": True, "censor_dims": False, each["unit"]: {"type": "int", "private_id": True},
    }  # fmt: skip
    for attribute in each["attributes"]:
        column: dict[str, Any] = {"type": TYPES[attribute["kind"]], "nullable": "null" in attribute}
        if attribute["kind"] in ("integer", "numeric"):
            ends = attribute.get("bounds") or attribute["edges"]
            column |= {"lower": ends[0], "upper": ends[-1]}
        if attribute.get("values") == "discover":
            table["censor_dims"] = True
        if isinstance(attribute.get("values"), list) and isinstance(attribute["values"][0], bool):
            column["type"] = "boolean"
        table[attribute["name"]] = column
    return {"": {"bench": {"rows": table}}}
