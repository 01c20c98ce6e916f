"""Tables of a few thousand rows, about nobody, with what is asked of them; no person exceeds the cap."""

import functools
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import sqlglot

from dpress.core.basics import rng

HERE = Path(__file__).parent
LEVELS = ("Primary", "Secondary", "Vocational", "Bachelor", "Master")


@dataclass(frozen=True, slots=True)
class Words:
    """Columns of made-up rows, each from a row of random words.

    Args:
        words: shape (columns, rows).
    """

    words: np.ndarray

    def below(self, place, size):
        """Whole numbers from 0."""
        return (self.words[place] % size).astype(np.int64)

    def low(self, place, size):
        """Whole numbers from 0, of which low ones are more frequent."""
        return (self.unit(place) ** 2 * size).astype(np.int64)

    def unit(self, place):
        """Numbers from 0 to 1."""
        return (self.words[place] >> np.uint64(11)) / 2.0**53

    def of(self, place, values):
        """One of some values, of which the first is the most frequent."""
        return pa.array(values).take(pa.array(self.low(place, len(values))))


def words(seed, rows):
    """Random words for a table."""
    return Words(rng.seeded(seed).words(8 * rows).reshape(8, rows))


def days(first, numbers):
    """Dates, numbers of days behind the first."""
    return pa.array(np.datetime64(first) + numbers.astype("timedelta64[D]"))


def lineitem():
    made = words(4, 6000)
    price = np.round(900 + made.unit(4) * 104000, 2)
    return pa.table({
        "custkey": np.arange(6000) // 4,
        "returnflag": made.of(0, ["N", "A", "R"]), "linestatus": made.of(1, ["O", "F"]),
        "quantity": 1 + made.below(2, 50), "discount": np.round(made.below(3, 11) / 100, 2), "extendedprice": price,
        "shipdate": days("1992-01-01", made.below(5, 2500)),
    })  # fmt: skip


def people():
    made = words(5, 4000)
    return pa.table({"age": made.low(0, 100), "education": made.of(1, LEVELS)})


def schools():
    made = words(6, 4000)
    return pa.table({
        "pupil": np.arange(4000) // 3, "school": made.of(0, ["Oak", "Elm", "Beech", "Willow", "Larch", "Cedar"]),
        "grade": 1 + made.below(1, 12), "sex": made.of(2, ["f", "m"]), "free_meal": made.of(3, ["no", "yes"]),
        "absent": made.low(4, 41), "score": pa.array(100 - made.low(5, 101), mask=made.below(6, 20) == 0),
    })  # fmt: skip


def hospitals():
    made = words(7, 5000)
    return pa.table({
        "patient": np.arange(5000) // 2, "ward": made.of(0, ["eyes", "bones", "skin", "ear", "hearts"]),
        "age": made.below(1, 100), "emergency": made.of(2, [False, True]),
        "admitted": days("2024-01-01", made.below(3, 366)),
        "nights": made.low(4, 31), "cost": np.round(made.unit(5) ** 2 * 20000, 2),
    })  # fmt: skip


def traffic():
    made = words(8, 6000)
    return pa.table({
        "card": np.arange(6000) // 5, "district": made.of(0, ["centre", "south", "east", "west", "north"]),
        "mode": made.of(1, ["car", "tram", "bus", "bike", "foot"]), "hour": made.below(2, 24),
        "weekday": made.of(3, ["Fri", "Mon", "Thu", "Tue", "Wed", "Sat", "Sun"]), "minutes": made.low(4, 91),
        "road": [f"B {place % 8 + 1}" for place in range(6000)],  # no card twice on one: a card counts once for a name
    })  # fmt: skip


TABLES = {table.__name__: table for table in (lineitem, people, schools, hospitals, traffic)}


@functools.cache
def rows(subject):
    """The table of a subject."""
    return TABLES[subject]()


def sql(subject):
    """Its statements."""
    return (HERE / f"{subject}.sql").read_text()


def truth(subject, statement):
    """What DuckDB says of all rows: every group, in the order of nothing, keyed by its keys' texts."""
    tree = sqlglot.parse_one(statement, read="duckdb")
    for behind in ("having", "order", "limit"):
        tree.set(behind, None)
    with duckdb.connect() as connection:
        connection.register("rows", rows(subject))
        return connection.sql(tree.sql("duckdb")).to_arrow_table().to_pylist()
