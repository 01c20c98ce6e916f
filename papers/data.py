"""The data sets of the documents: where they come from, how their originals become our files, and what stands in.

python papers/data.py                    what each data set is, and whether it is there
python papers/data.py --from DOWNLOADS   turns the originals in a folder into the files that the scripts read

Files are in the folder that $DPRESS_DATA names, by default ../shared/data. No data set comes with dpress: each has its
own licence, and a person who wants it downloads the original from where its row says. Where one is not there, scripts
run on made-up rows of the same columns, every line says so, and none gives a verdict on the document.
"""

import argparse
import functools
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import originals
import pyarrow as pa
import pyarrow.parquet as pq
import stand_ins

from dpress.attributes.listed import hierarchy_file

FOLDER = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
HIERARCHIES = "adult/hierarchies"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set of a document.

    Args:
        name: by which claims and lines name it.
        file: below the folder of data sets.
        what: its rows, and which document takes them.
        origin: where a person gets the original.
        licence: of the original.
        columns: of our file.
        needs: names of the original's files; in place of one of a tuple any of them will do.
        convert: from a folder with the original to our rows.
        made_up: rows of the same columns that are nobody's.
        also: other files without which the data set is not there.
        more: originals of these, in words.
    """

    name: str
    file: str
    what: str
    origin: str
    licence: str
    columns: str
    needs: tuple[tuple[str, ...], ...]
    convert: Callable[[Path], pa.Table]
    made_up: Callable[[], pa.Table]
    also: tuple[str, ...] = ()
    more: str = ""

    @property
    def lacking(self) -> tuple[Path, ...]:
        """The files that are not in the folder."""
        return tuple(path for name in (self.file, *self.also) if not (path := FOLDER / name).is_file())


SETS = {
    one.name: one
    for one in (
        DataSet(
            name="nltcs",
            file="nltcs/nltcs.parquet",
            what="National Long-Term Care Survey, 21,574 people and 16 yes-or-no disabilities; PAPER=joint",
            origin="the density-estimation benchmarks DEBD (github.com/arranger1044/DEBD, folder datasets/nltcs)",
            licence="for research; not to be passed on with a product",
            columns="x00 .. x15 (0 or 1), split",
            needs=(("nltcs.train.data", "nltcs.ts.data"), ("nltcs.valid.data",), ("nltcs.test.data",)),
            convert=originals.nltcs,
            made_up=stand_ins.nltcs,
        ),
        DataSet(
            name="adult",
            file="adult/adult.parquet",
            what="UCI Adult, 48,842 people of the 1994 census; PAPER=microdata takes the 30,162 complete ones of the "
            "train part",
            origin='the UCI repository, data set "Adult" (doi.org/10.24432/C5XW20)',
            licence="CC BY 4.0",
            columns="UCI's 14 attributes with _ for -, income, split; null for ?",
            needs=(("adult.data",), ("adult.test",)),
            more=f"; and adult_hierarchy_NAME.csv, NAME = {', '.join(originals.HIERARCHIES.values())}, of the "
            "anonymisation tool ARX (github.com/arx-deidentifier/arx, folder data, Apache-2.0)",
            convert=originals.adult,
            made_up=stand_ins.adult,
            also=tuple(f"{HIERARCHIES}/{name}.csv" for name in originals.HIERARCHIES),
        ),
        DataSet(
            name="adult_codes",
            file="adult/adult_privbayes_45222.parquet",
            what="the 45,222 complete people of UCI Adult in codes, numbers in 16 bins of equal width; PAPER=joint",
            origin='the UCI repository, data set "Adult" (doi.org/10.24432/C5XW20)',
            licence="CC BY 4.0",
            columns="the 15 attributes as codes, split",
            needs=(("adult.data",), ("adult.test",)),
            convert=originals.adult_codes,
            made_up=stand_ins.adult_codes,
        ),
        DataSet(
            name="gowalla",
            file="gowalla/gowalla_poi_checkins.parquet",
            what="check-ins of Gowalla, 2009 and 2010, for PAPER=spatial; its document takes a million of them. "
            "Ours are 777,734 at well-visited places; made from the original here, a million at any place",
            origin='the Stanford collection SNAP, "loc-gowalla" (snap.stanford.edu/data/loc-gowalla.html)',
            licence="for research; cite Cho, Myers, Leskovec, KDD 2011",
            columns="uid, lid, lon, lat (degrees)",
            needs=(("loc-gowalla_totalCheckins.txt.gz", "loc-gowalla_totalCheckins.txt"),),
            convert=originals.gowalla,
            made_up=stand_ins.gowalla,
        ),
        DataSet(
            name="nyc_taxi",
            file="nyc_pickups/nyc_taxi_pickups.parquet",
            what="pick-ups of New York's taxis; no document takes them, benchmarks of maps do",
            origin="NYC Taxi and Limousine Commission, trip records of 2009 to June 2016, which have coordinates",
            licence="public",
            columns="lon, lat (degrees), source",
            needs=(("trips.csv", "trips.parquet"),),
            convert=originals.nyc_taxi,
            made_up=stand_ins.nyc_taxi,
        ),
    )
}


def there(name: str) -> bool:
    """Say whether the data set is in the folder; without it, `table` gives a stand-in."""
    return not SETS[name].lacking


def missing(name: str) -> str:
    """Return in one phrase what is not there, and who tells how to get it."""
    return f"there is no {SETS[name].lacking[0]}; `make data` says where {name} comes from"


def table(name: str, columns: list[str] | None = None) -> pa.Table:
    """Return the rows of a data set, or of its made-up stand-in of the same columns."""
    if there(name):
        return pq.read_table(FOLDER / SETS[name].file, columns=columns)
    found = _made_up(name)
    return found if columns is None else found.select(columns)


@functools.cache
def _made_up(name: str) -> pa.Table:
    return SETS[name].made_up()


@functools.cache
def hierarchy(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the generalisation hierarchy of an attribute of Adult: a row for every value, the value first.

    From `adult/hierarchies/NAME.csv`, as the anonymisation tool ARX has it (Apache-2.0); of the stand-in, its own.
    """
    if not there("adult"):
        return stand_ins.hierarchy(name)
    return hierarchy_file.read(FOLDER / HIERARCHIES / f"{name}.csv", name, name, ())


def main() -> int:
    """Explain every data set, or convert the originals that are in a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--from", dest="folder", type=Path, help="folder with the originals that you downloaded")
    chosen = parser.parse_args()
    if chosen.folder is None:
        for one in SETS.values():
            print(explained(one), end="\n\n")
        print("Download originals into one folder; `make data FROM=folder` makes our files of those that are there.")
        print(f"Our files are below {FOLDER}; the environment variable DPRESS_DATA names another folder.")
        return 0
    done, failed = every(chosen.folder)
    for line in done:
        print(line)
    for line in failed:
        print(line, file=sys.stderr)
    return int(bool(failed))


def explained(one: DataSet) -> str:
    """Return what a person must know of a data set."""
    files = ", ".join(" or ".join(names) for names in one.needs)
    lines = {
        "here": f"no: there is no {one.lacking[0]}" if one.lacking else str(FOLDER / one.file),
        "what": one.what,
        "from": one.origin,
        "licence": one.licence,
        "columns": one.columns,
        "originals": files + one.more,
    }
    own = [
        textwrap.fill(f"{name:10} {text}", 120, subsequent_indent=" " * 13, initial_indent="  ", break_on_hyphens=False)
        for name, text in lines.items()
    ]
    return "\n".join([one.name, *own])


def every(folder: Path) -> tuple[list[str], list[str]]:
    """Convert what is in a folder; return a line for everything that was done, and one for everything that failed."""
    if not folder.is_dir():
        return [], [f"there is no folder {folder}"]
    done, failed = [], []
    for convert in (*(functools.partial(converted, one) for one in SETS.values()), _hierarchies):
        try:
            done += convert(folder)
        except (OSError, ValueError) as error:
            failed.append(str(error))
    if not done and not failed:
        failed = [f"no original in {folder}; `make data` lists their names"]
    return done, list(dict.fromkeys(failed))  # two data sets are made of one original


def _hierarchies(folder: Path) -> list[str]:
    return originals.hierarchies(folder, FOLDER / HIERARCHIES)


def converted(one: DataSet, folder: Path) -> list[str]:
    """Write our file from an original and say so; nothing where no file of the original is in the folder.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: an original is not what its name says, or only a part of it is there.
    """
    lacking = [names for names in one.needs if not any((folder / name).is_file() for name in names)]
    if len(lacking) == len(one.needs):
        return []
    path = FOLDER / one.file
    if path.exists():
        return [f"{path} exists already and is kept"]
    if lacking:
        raise ValueError(f"there is no {' or '.join(lacking[0])} in {folder}, beside the other files of the original")
    rows = one.convert(folder)
    if not rows.num_rows:
        raise ValueError(f"{one.name}: no row of the original is to be kept, expected at least one")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")  # so that a full disk leaves no file that looks whole
    pq.write_table(rows, part)
    part.replace(path)
    return [f"{path}: {rows.num_rows:,} rows"]


if __name__ == "__main__":
    sys.exit(main())
