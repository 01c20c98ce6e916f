"""Made-up people for the demo, and made-up taxi pick-ups for the tutorial: the same every time, about nobody."""

import numpy as np
import pyarrow as pa

from dpress.core.basics import rng as generators
from dpress.core.maps.linear import Array
from dpress.inference.normal import normal

SEX = ("Female", "Male")
EDUCATION = ("Primary", "Secondary", "Vocational", "Bachelor", "Master")
REGION = ("North", "East", "South", "West")
PYRAMID = (58, 56, 58, 62, 68, 70, 72, 66, 60, 62, 64, 60, 52, 44, 36, 22, 10)  # weight of each five years of age
SCHOOLING = ((30, 40, 20, 8, 2), (10, 32, 25, 23, 10), (18, 38, 26, 12, 6))  # under 25, 25 to 54, older

ISLAND = ((-74.012, 40.706), (-73.948, 40.805))  # from the south end of Manhattan to the north of Central Park
PLACES = (  # longitude, latitude, spread in degrees, weight: on the island, two airports, and around
    (-73.985, 40.757, 0.006, 18),
    (-73.778, 40.646, 0.004, 3),
    (-73.873, 40.774, 0.004, 3),
    (-73.965, 40.690, 0.022, 6),
    (-73.900, 40.760, 0.035, 3),
)
ALONG = 67  # weight of the rest, all along the island


def people(count: int = 50_000) -> pa.Table:
    """Return `count` made-up people: person, age, sex, education, region, income.

    Ages follow a population pyramid, education depends on age, income on education and age.
    """
    rng = generators.seeded(2021)

    def uniform() -> Array:
        return rng.words(count).astype(np.float64) / 2.0**64

    ages = np.minimum(_pick(uniform(), PYRAMID) * 5 + (uniform() * 5).astype(np.int64), 84)
    group = np.digitize(ages, [25, 55])
    education = np.select([group == g for g in range(3)], [_pick(uniform(), weights) for weights in SCHOOLING])
    education = np.where(ages < 15, 0, education)
    region = _pick(uniform(), (3, 2, 4, 2))
    spread = -np.log(1 - uniform() * 0.999)
    income = np.where(ages < 16, 0.0, (9_000 + 7_000 * education + 150 * ages) * (0.4 + spread))
    return pa.table(
        {
            "person": np.arange(count),
            "age": ages,
            "sex": pa.array(SEX).take(pa.array((uniform() < 0.49).astype(np.int64))),
            "education": pa.array(EDUCATION).take(pa.array(education)),
            "region": pa.array(REGION).take(pa.array(region)),
            "income": np.round(income),
        }
    )


def pickups(count: int = 100_000) -> pa.Table:
    """Return `count` made-up pick-ups in New York: lon, lat, mostly along Manhattan.

    No ride is behind them: they are drawn from a line, five round places and nothing else. A few lie outside the box
    -74.03..-73.75, 40.58..40.90.
    """
    rng = generators.seeded(1811)
    kind = _pick(rng.words(count).astype(np.float64) / 2.0**64, (*(weight for *_, weight in PLACES), ALONG))
    share = rng.words(count).astype(np.float64) / 2.0**64
    middle = np.array(ISLAND[0]) + share[:, None] * (np.array(ISLAND[1]) - np.array(ISLAND[0]))
    spread = np.full(count, 0.007)
    for place, (lon, lat, width, _) in enumerate(PLACES):
        middle[kind == place], spread[kind == place] = (lon, lat), width
    places = middle + spread[:, None] * normal(2 * count, rng=rng).reshape(count, 2)
    return pa.table({"lon": places[:, 0], "lat": places[:, 1]})


def _pick(uniform: Array, weights: tuple[int, ...]) -> np.ndarray:
    return np.searchsorted(np.cumsum(weights) / sum(weights), uniform, side="right")
