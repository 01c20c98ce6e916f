"""The statements of `sql.py` in Tumult Analytics, by hand: it has no SQL. In an environment of its own, with Java.

Of a statement with several numbers each has the same part of the budget. A unit is at most so many rows. Left out:
`rollup`, and groups that nobody lists, which need a query for the names and delta.
"""

# ruff: noqa: E731  # as one types them

import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tmlt.analytics import AddMaxRows, ColumnType, KeySet, PureDPBudget, QueryBuilder, Session

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = (
    SparkSession.builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
count = lambda where="true": ("count", where)
total = lambda column, low, high: ("sum", "true", column, low, high)
mean = lambda column, low, high: ("average", "true", column, low, high)
level = lambda share, column, low, high: ("quantile", "true", column, share, low, high)
STAGES = {**dict.fromkeys(range(1, 5), "primary"), **dict.fromkeys(range(5, 10), "middle")}
MONTHS = [f"2024-{month:02}-01" for month in range(1, 13)]
WORKDAYS = "weekday in ('Mon', 'Tue', 'Wed', 'Thu', 'Fri')"
Derived = tuple[str, Any, list[Any]]
STATEMENTS: dict[tuple[str, int], dict[str, Any]] = {
    ("lineitem", 1): {
        "where": "shipdate <= '1998-09-02'", "by": ["returnflag", "linestatus"], "sum_qty": total("quantity", 1, 50),
        "sum_base_price": total("extendedprice", 0, 110000), "avg_qty": mean("quantity", 1, 50),
        "avg_price": mean("extendedprice", 0, 110000), "avg_disc": mean("discount", 0, 0.105), "count_order": count(),
    },
    ("lineitem", 2): {
        "where": "shipdate >= '1994-01-01' and shipdate < '1995-01-01' and discount between 0.045 and 0.075 "
        "and quantity < 24", "by": [], "revenue": total("extendedprice", 0, 110000),
    },
    ("people", 1): {"by": ["education"], "people": count()},
    ("people", 2): {"by": [], "mean_age": mean("age", 0, 99)},
    ("schools", 1): {"by": ["school"], "pupils": count()},
    ("schools", 2): {"by": ["school"], "mean_score": mean("score", 0, 100), "days_absent": mean("absent", 0, 40)},
    ("schools", 3): {
        "by": ["school"], "derived": ("meal", lambda row: {"meal": int(row["free_meal"] == "yes")}, []),
        "free_meals": mean("meal", 0, 1),
    },
    ("schools", 4): {
        "derived": ("stage", lambda row: {"stage": STAGES.get(row["grade"], "upper")}, ["primary", "middle", "upper"]),
        "by": ["stage", "sex"], "pupils": count(),
    },
    ("schools", 5): {
        "where": "grade between 5 and 9", "by": [], "often_absent": count("absent >= 20"), "pupils": count(),
    },
    ("schools", 6): {"where": "score is not null", "by": ["sex"], "middle_score": level(0.5, "score", 0, 100)},
    ("hospitals", 1): {"by": ["ward"], "stays": count(), "mean_nights": mean("nights", 0, 30)},
    ("hospitals", 2): {
        "derived": ("month", lambda row: {"month": f"{row['admitted']:%Y-%m}-01"}, MONTHS), "by": ["month"],
        "stays": count(),
    },
    ("hospitals", 3): {
        "where": "age >= 18", "by": ["ward"],
        "mean_cost": mean("cost", 0, 20000), "total_cost": total("cost", 0, 20000),
    },
    ("hospitals", 4): {
        "where": "emergency = 1",
        "derived": ("from_age", lambda row: {"from_age": row["age"] // 20 * 20}, [*range(0, 100, 20)]),
        "by": ["from_age"], "stays": count(),
    },
    ("hospitals", 5): {
        "derived": ("percent", lambda row: {"percent": 100 * int(row["emergency"])}, []), "by": ["ward"],
        "percent_emergencies": mean("percent", 0, 100),
    },
    ("hospitals", 6): {"where": "ward in ('hearts', 'bones')", "by": [], "long_stay": level(0.9, "nights", 0, 30)},
    ("hospitals", 7): {
        "derived": ("sign", lambda row: {"sign": int(row["nights"] > 7) - int(row["nights"] == 0)}, []), "by": [],
        "longer": total("sign", -1, 1),
    },
    ("traffic", 1): {"by": ["mode"], "trips": count()},
    ("traffic", 2): {"where": WORKDAYS, "by": ["hour"], "trips": count()},
    ("traffic", 3): {"by": ["district", "mode"], "trips": count()},
    ("traffic", 4): {
        "by": ["district"], "mean_minutes": mean("minutes", 0, 90), "middle_minutes": level(0.5, "minutes", 0, 90),
    },
    ("traffic", 5): {
        "derived": ("rush", lambda row: {"rush": str(row["hour"] in (7, 8, 9, 16, 17, 18))}, ["True", "False"]),
        "by": ["rush"], "mean_minutes": mean("minutes", 0, 90), "trips": count(),
    },
}  # fmt: skip


def runs(each: dict[str, Any], path: Path, epsilon: float, delta: float, times: int) -> list[list[dict[str, Any]]]:
    """Ask some times, every time with all of the budget."""
    del delta
    asked = dict(STATEMENTS[each["subject"], each["number"]])
    where, by, derived = asked.pop("where", "true"), asked.pop("by"), asked.pop("derived", None)
    used = {*by, *(number[2] for number in asked.values() if len(number) > 2)}
    rows = spark.read.parquet(str(path)).drop(each["unit"])
    if "admitted" not in each["sql"] and "shipdate" not in each["sql"]:
        rows = rows.drop("admitted", "shipdate")
    if each["subject"] == "hospitals":
        rows = rows.withColumn("emergency", rows["emergency"].cast("int"))  # it has no truth values
    keys = KeySet.from_dict({name: values_of(each, name, derived) for name in by}) if by else None
    answered = []
    for _ in range(times):
        session = Session.from_dataframe(PureDPBudget(epsilon), "rows", rows, protected_change=AddMaxRows(each["most"]))
        groups: dict[tuple[Any, ...], dict[str, Any]] = {}
        for name, number in asked.items():
            budget = PureDPBudget(epsilon / len(asked) * (1 - 1e-9))
            for row in (
                session.evaluate(query(number, where, derived, keys, used), budget).toPandas().to_dict("records")
            ):
                key = tuple(row[column] for column in by)
                groups.setdefault(key, dict(zip(by, key, strict=True)))[name] = row["answer"]
        answered.append([*groups.values()])
    return answered


def query(number: tuple[Any, ...], where: str, derived: Derived | None, keys: KeySet | None, used: set[str]) -> Any:
    """Return one number of a statement as a query."""
    of, also, *rest = number
    built: Any = QueryBuilder("rows").filter(where).filter(also)
    if rest and rest[0] == "score":
        built = built.drop_null_and_nan([rest[0]])
    if derived is not None and derived[0] in used:
        kind = ColumnType.VARCHAR if derived[2] and isinstance(derived[2][0], str) else ColumnType.INTEGER
        built = built.map(derived[1], new_column_types={derived[0]: kind}, augment=True)
    built = built if keys is None else built.groupby(keys)
    return built.count(name="answer") if of == "count" else getattr(built, of)(*rest, name="answer")


def values_of(each: dict[str, Any], name: str, derived: Derived | None) -> list[Any]:
    """Return the public groups of a column."""
    if derived is not None and derived[0] == name:
        return derived[2]
    attribute = next(attribute for attribute in each["attributes"] if attribute["name"] == name)
    if attribute["kind"] == "integer":
        low, high = attribute["bounds"]
        return [*range(low, high + 1)]
    return list(attribute["values"])
