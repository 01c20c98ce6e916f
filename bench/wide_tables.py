"""Tables of many attributes for `wide.py`: real ones from $DPRESS_DATA, with numbers in bins and derived attributes."""

import json
from collections.abc import Callable

import numpy as np
import pyarrow.parquet as pq

from dpress.attributes.mixed import Column
from dpress.core.basics import rng
from dpress.inference.normal import normal
from microdata import Codes, Kinds, adult
from microdata_speed import PLACE

DATA = PLACE.parent
NUMBERS = {"age", "fnlwgt", "capital_gain", "capital_loss", "hours_per_week"}
WEST, EAST, SOUTH, NORTH = -125.0, -66.5, 24.5, 49.5
CITIES = np.array([(-74, 40.7), (-118.2, 34), (-87.6, 41.9), (-95.4, 29.8), (-112, 33.4), (-84.4, 33.7), (-80.2, 25.8)])
STATES = 57
KEPT, PEOPLE = 0.6, 38_000


def category(name: str, size: int) -> Column:
    """Return the column of a category without a hierarchy."""
    return Column(name=name, size=size, units=np.zeros(0, np.int64), distance=1 - np.eye(size))


def number(name: str, size: int) -> Column:
    """Return the column of a number in bins of one width."""
    return Column(name=name, size=size, units=2 * np.arange(size) - (size - 1), distance=np.zeros((0, 0)))


def adult_14() -> tuple[Codes, Kinds]:
    """Return all attributes of Adult's 45,222 complete rows but `education_num`, which is `education` again."""
    table = pq.read_table(DATA / "adult" / "adult_privbayes_45222.parquet")
    domain = json.loads((DATA / "adult" / "adult_privbayes_45222.domain.json").read_text())["attributes"]
    names = [name for name in table.column_names if name in domain and name != "education_num"]
    kinds = tuple((number if name in NUMBERS else category)(name, domain[name]["size"]) for name in names)
    return np.stack([table[name].to_numpy() for name in names]).astype(np.int32), kinds


def adult_weak() -> tuple[Codes, Kinds]:
    """Return 38,000 rows of these in which each value is its own with probability 0.6, and else another row's."""
    codes, kinds = adult_14()
    source = rng.seeded(1)
    codes = codes[:, np.argsort(source.words(codes.shape[1]))[:PEOPLE]]
    others = np.stack([row[np.argsort(source.words(PEOPLE))] for row in codes])
    own = source.words(codes.size).reshape(codes.shape) < np.uint64(int(KEPT * 2**64))
    return np.where(own, codes, others), kinds


def nltcs() -> tuple[Codes, Kinds]:
    """Return the 16 binary attributes of NLTCS."""
    table = pq.read_table(DATA / "nltcs" / "nltcs.parquet")
    names = [f"x{place:02d}" for place in range(16)]
    return np.stack([table[name].to_numpy() for name in names]).astype(np.int32), tuple(category(n, 2) for n in names)


def made_up() -> tuple[Codes, Kinds]:
    """Return 38,000 people of fourteen attributes with 2 to 22 values, cut from correlated normal numbers.

    Five hidden traits with loadings of 0.4 on average make most pairs depend a little, and few much.
    """
    sizes, source = (2, 22, 5, 9, 3, 16, 7, 4, 12, 2, 6, 18, 8, 10), rng.seeded(2)
    traits = normal(5 * PEOPLE, rng=source).reshape(5, PEOPLE)
    loadings = 0.4 * normal(5 * len(sizes), rng=source).reshape(len(sizes), 5)
    values = loadings @ traits + normal(len(sizes) * PEOPLE, rng=source).reshape(len(sizes), PEOPLE)
    scaled = (values / values.std(axis=1, keepdims=True) + 2.5) / 5
    codes = [np.clip(np.floor(row * size), 0, size - 1) for row, size in zip(scaled, sizes, strict=True)]
    return np.stack(codes).astype(np.int32), tuple(category(f"a{n}", size) for n, size in enumerate(sizes))


def _binned(values: np.ndarray, low: float, high: float, bins: int) -> np.ndarray:
    return np.clip(np.floor((values - low) / (high - low) * bins), 0, bins - 1).astype(np.int32)


def _points(file: str, more: Callable[..., list[tuple[Column, np.ndarray]]]) -> tuple[Codes, Kinds]:
    """Return points of the 48 states in 16 x 16 bins, what follows from the place, and more columns."""
    table = pq.read_table(DATA / file).to_pandas()
    table = table[table.lon.between(WEST, EAST) & table.lat.between(SOUTH, NORTH)]
    lon, lat = table.lon.to_numpy(), table.lat.to_numpy()
    squares = 0.6 * (lon[:, None] - CITIES[:, 0]) ** 2 + (lat[:, None] - CITIES[:, 1]) ** 2
    found = [
        (number("lon", 16), _binned(lon, WEST, EAST, 16)),
        (number("lat", 16), _binned(lat, SOUTH, NORTH, 16)),
        (category("city", len(CITIES)), squares.argmin(axis=1)),
        (number("distance", 12), _binned(np.log1p(np.sqrt(squares.min(axis=1))), 0, 3, 12)),
        (category("quarter", 4), 2 * (lon < -100) + (lat < 38)),
        *more(table),
    ]
    return np.stack([codes for _, codes in found]).astype(np.int32), tuple(kind for kind, _ in found)


def crashes() -> tuple[Codes, Kinds]:
    """Return fatal crashes, with state and year."""
    return _points(
        "us_points/fars_fatal_crashes_2013_2015.parquet",
        lambda table: [
            (category("state", STATES), np.minimum(table.state_fips.to_numpy(), STATES - 1)),
            (category("year", 3), table.year.to_numpy() - 2013),
        ],
    )


def places() -> tuple[Codes, Kinds]:
    """Return census places, with their population's logarithm in 16 bins and their kind."""
    return _points(
        "us_points/us_census_places_zctas_2010.parquet",
        lambda table: [
            (number("population", 16), _binned(np.log1p(table.population.to_numpy()), 0, 12, 16)),
            (category("kind", 2), (table.kind == "zcta").to_numpy()),
        ],
    )


def check_ins() -> tuple[Codes, Kinds]:
    """Return every eighth check-in, with two digits of its place's and one of its user's number."""
    codes, kinds = _points(
        "gowalla/gowalla_poi_checkins.parquet",
        lambda table: [
            (category("place", 20), table.lid.to_numpy() % 20),
            (category("user", 10), table.uid.to_numpy() % 10),
        ],
    )
    return codes[:, ::8], kinds


TUNED: dict[str, Callable[[], tuple[Codes, Kinds]]] = {
    "adult, three numbers": lambda: adult("three numbers"),
    "adult, document": lambda: adult("document"),
    "adult, 14": adult_14,
    "adult, 14, weak": adult_weak,
    "crashes": crashes,
    "census places": places,
    "nltcs": nltcs,
    "check-ins": check_ins,
}
"""The tables on which numbers were set: groups, the noise that is expected, starts, rounds, factors."""
HELD_OUT: dict[str, Callable[[], tuple[Codes, Kinds]]] = {
    "made up, 14": made_up,
}
"""That on which nothing was set."""


def _part(make: Callable[[], tuple[Codes, Kinds]]) -> tuple[Codes, Kinds]:
    codes, kinds = make()
    return codes[:, np.argsort(rng.seeded(3).words(codes.shape[1]))[:FEW_ROWS]], kinds


FEW_ROWS = 300
FEW = {
    f"{name}, {FEW_ROWS} rows": lambda make=TUNED[name]: _part(make)
    for name in ("adult, document", "adult, 14", "nltcs", "crashes")
}
"""Parts of these: where no records are near, and another method may be the nearer."""
