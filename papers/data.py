"""The data sets of the documents: where they come from, how their originals become our files, and made-up stand-ins.

python papers/data.py            what each one is, and whether it is there
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set of a document.

    Args:
        name: by which claims and lines name it.
        file: below the folder of data sets.
    """

    name: str
    file: str


SETS = {
    one.name: one
    for one in (
        DataSet(name="nltcs", file="nltcs/nltcs.parquet"),
        DataSet(name="adult", file="adult/adult.parquet"),
        DataSet(name="adult_codes", file="adult/adult_privbayes_45222.parquet"),
        DataSet(name="gowalla", file="gowalla/gowalla_poi_checkins.parquet"),
        DataSet(name="nyc_taxi", file="nyc_pickups/nyc_taxi_pickups.parquet"),
    )
}


def there(name: str) -> bool:
    """Say whether the data set is in the folder; without it, `table` makes one up."""
    return (FOLDER / SETS[name].file).is_file()


def missing(name: str) -> str:
    """Return in one phrase what is not there, and how to get it."""
    return f"there is no {FOLDER / SETS[name].file}; `python papers/data.py` says where {name} comes from"


def table(name: str, columns: list[str] | None = None) -> pa.Table:
    """Return the rows of a data set, or of its made-up stand-in of the same schema."""
    return pq.read_table(FOLDER / SETS[name].file, columns=columns)


def hierarchy(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the generalisation hierarchy of an attribute of Adult: a row for every value, the value first."""
    from dpress.data import hierarchy_file  # noqa: PLC0415

    return hierarchy_file.read(FOLDER / "adult" / "hierarchies" / f"{name}.csv", name, name, ())
