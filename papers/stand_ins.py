"""Made-up rows in the place of data sets that are not there: the same columns, nobody's values, always the same.

A hidden number of every person makes attributes depend on one another, so that every method has something to find.
"""

import numpy as np
import pyarrow as pa

from dpress.core.basics import rng

PEOPLE = 6_000
CHECK_INS = 50_000
SEED = 94
TOWNS = 40
SIZES = {
    "age": 16, "workclass": 7, "fnlwgt": 16, "education": 16, "education_num": 16, "marital_status": 7,
    "occupation": 14, "relationship": 6, "race": 5, "sex": 2, "capital_gain": 16, "capital_loss": 16,
    "hours_per_week": 16, "native_country": 41, "income": 2,
}  # fmt: skip
NUMBERS = {
    "age": (17, 90), "fnlwgt": (10_000, 1_000_000), "education_num": (1, 16), "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_356), "hours_per_week": (1, 99),
}  # fmt: skip
GROUPS = 3  # values below one node of a made-up hierarchy
Floats = np.ndarray


def _uniform(source: rng.Generator, number: int) -> Floats:
    return np.asarray((source.words(number) + 0.5) / 2.0**64)


def _codes(source: rng.Generator, hidden: Floats, size: int) -> np.ndarray:
    """Return codes that grow with a hidden number, noise added, the small ones more often."""
    mixed = 0.6 * hidden + 0.4 * _uniform(source, len(hidden))
    return np.minimum((mixed**2 * size).astype(np.int64), size - 1)


def nltcs() -> pa.Table:
    """Return people with 16 made-up disabilities, rarer and rarer."""
    source = rng.seeded(SEED)
    hidden = _uniform(source, PEOPLE) ** 3
    columns = {
        f"x{place:02d}": (_uniform(source, PEOPLE) < 0.05 + hidden * (0.9 - place / 20)).astype(np.uint8)
        for place in range(16)
    }
    return pa.table(columns | {"split": _split(PEOPLE)})


def _split(number: int) -> pa.Array:
    return pa.array(["train"] * (2 * number // 3) + ["test"] * (number - 2 * number // 3)).dictionary_encode()


def adult_codes() -> pa.Table:
    """Return people in codes of Adult's sizes."""
    source = rng.seeded(SEED)
    hidden = _uniform(source, PEOPLE)
    columns = {name: _codes(source, hidden, size).astype(np.uint8) for name, size in SIZES.items()}
    return pa.table(columns | {"split": _split(PEOPLE)})


def adult() -> pa.Table:
    """Return people with Adult's columns, and values such as "race 3"."""
    codes, columns = adult_codes(), {}
    for name, size in SIZES.items():
        own = codes[name].to_numpy().astype(np.int64)
        if name in NUMBERS:
            low, high = NUMBERS[name]
            columns[name] = pa.array(low + own * (high - low) // (size - 1), pa.int32())
        else:
            columns[name] = pa.array(np.array([f"{name} {one}" for one in range(size)])[own]).dictionary_encode()
    return pa.table(columns | {"split": codes["split"]})


def hierarchy(name: str) -> tuple[tuple[str, ...], ...]:
    """Return groups of three values, and all of them."""
    low, high = NUMBERS.get(name, (0, SIZES[name] - 1))
    values = [str(one) if name in NUMBERS else f"{name} {one}" for one in range(low, high + 1)]
    return tuple((value, f"group {place // GROUPS}", "*") for place, value in enumerate(values))


def gowalla() -> pa.Table:
    """Return check-ins around made-up towns, half of them in the box of the 48 United States."""
    return _points((-125.0, -66.5), (24.5, 49.5), CHECK_INS, world=True)


def nyc_taxi() -> pa.Table:
    """Return pick-ups around made-up corners of New York."""
    points = _points((-74.05, -73.75), (40.6, 40.9), PEOPLE, world=False).select(["lon", "lat"])
    return points.append_column("source", pa.array(["made up"] * PEOPLE).dictionary_encode())


def _points(across: tuple[float, float], up: tuple[float, float], number: int, *, world: bool) -> pa.Table:
    """Return points about towns of unequal size; of a world, half of them elsewhere on it."""
    source = rng.seeded(SEED)
    town = (TOWNS * _uniform(source, number) ** 2).astype(np.int64)
    ends = []
    for low, high, whole in ((*across, 180.0), (*up, 90.0)):
        centres = low + (high - low) * _uniform(source, TOWNS)
        if world:
            centres[::2] = whole * (2 * _uniform(source, TOWNS // 2) - 1)
        spread = (high - low) / 60 * np.sqrt(-2 * np.log(_uniform(source, number)))
        found = centres[town] + spread * np.cos(2 * np.pi * _uniform(source, number))
        ends.append(np.clip(found, -whole, whole).astype(np.float32))
    return pa.table({"uid": np.arange(number) % 5000, "lid": town, "lon": ends[0], "lat": ends[1]})
