"""The statements of `sql.py` in Qrlew, run by DuckDB. In an environment of its own, with `sqlalchemy<2.1`."""

from pathlib import Path
from typing import Any

import duckdb
import sqlalchemy
from pyqrlew import Dataset, Dialect


def runs(each: dict[str, Any], path: Path, epsilon: float, delta: float, count: int) -> list[list[dict[str, Any]]]:
    """Rewrite a statement once, and run what is made of it some times."""
    rows = duckdb.sql(f"from '{path}'").df()
    dataset = described(each, rows)
    relation = dataset.relation(each["sql"])
    budget = {"epsilon": epsilon, "delta": delta}
    private = relation.rewrite_with_differential_privacy(
        dataset, [("rows", [], each["unit"])], budget, float(each["most"]), 1.0
    )
    text = private.relation().to_query(Dialect.PostgreSql)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        answers = []
        for _ in range(count):
            done = connection.execute(text)
            names = [column[0] for column in done.description]
            answers.append([dict(zip(names, row, strict=True)) for row in done.fetchall()])
    return answers


def described(each: dict[str, Any], rows: Any) -> Dataset:
    """Return the table with its bounds and values, as a dataset of SQLite's schema."""
    engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.pool.StaticPool)
    rows.to_sql("rows", engine, index=False)
    dataset = Dataset.from_database("bench", engine)
    for attribute in each["attributes"]:
        name = attribute["name"]
        if attribute["kind"] in ("integer", "numeric"):
            ends = attribute.get("bounds") or attribute["edges"]
            low, high = ends[0], ends[-1]
            dataset = dataset.with_range(None, "rows", name, low, high)
        elif isinstance(attribute.get("values"), list) and isinstance(attribute["values"][0], str):
            dataset = dataset.with_possible_values(None, "rows", name, attribute["values"])
    return dataset
