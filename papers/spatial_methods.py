"""One collection of positions by one method, from real reports or simulated answers, and its error over rectangles."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from dpress import catalog
from dpress.core import rng
from dpress.core.claim import PureDP
from dpress.core.grid import Grid, Rectangles, sums
from dpress.core.workload import Areas
from dpress.inference.maps.density import Density
from dpress.kinds.spatial.design import collection
from dpress.kinds.spatial.prediction import rectangles
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.oracle.sue import Sue
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import coarser

DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
POINTS = DATA / "gowalla" / "gowalla_poi_checkins.parquet"
FLAT = {"krr": Krr, "rappor": Sue}  # basic RAPPOR that reports once
FINE = 1024  # cells along each axis on which the truth is counted; rectangles end on their edges
QUERIES = 500
SANITY = 0.001  # of all people: the least truth that a relative error is taken of
BLOCK = 1 << 16  # users whose reports are held at once
Kind = Literal["real", "simulated"]
Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A data set of the document, and what stands in for it.

    Args:
        name: the document's.
        across: the box's ends, in degrees of longitude.
        up: the same of latitude.
    """

    name: str
    across: tuple[float, float]
    up: tuple[float, float]


SOURCES = {
    "checkin": Source(name="Checkin", across=(-180.0, 180.0), up=(-90.0, 90.0)),
    "landmark": Source(name="Landmark", across=(-125.0, -66.5), up=(24.5, 49.5)),
}


@functools.cache
def places(data: str) -> Places:
    """Return everybody's place on the finest grid, shape (2, users): Gowalla's check-ins in the box."""
    box, table = SOURCES[data], pq.read_table(POINTS, columns=["lon", "lat"])
    points = [np.asarray(table[name]) for name in ("lon", "lat")]
    inside = np.logical_and.reduce(
        [(p >= a) & (p <= b) for p, (a, b) in zip(points, (box.across, box.up), strict=True)]
    )
    ends = zip(points, (box.across, box.up), strict=True)
    cells = [((own[inside] - low) / (high - low) * FINE).astype(np.int32) for own, (low, high) in ends]
    return np.minimum(np.stack(cells), FINE - 1)


@functools.cache
def counted(data: str) -> npt.NDArray[np.float64]:
    """Return the true counts, an image of the finest grid."""
    image = np.zeros((FINE, FINE))
    np.add.at(image, tuple(places(data)), 1)
    return image


@functools.cache
def asked(low: float, high: float) -> Rectangles:
    """Return 500 rectangles of these shares of the box, their ends on the edges of the finest grid."""
    given = rectangles(Areas(low, high), QUERIES).scaled(FINE)
    left, bottom = (np.minimum(np.round(end), FINE - 1) for end in (given.left, given.bottom))
    right, top = np.maximum(np.round(given.right), left + 1), np.maximum(np.round(given.top), bottom + 1)
    return Rectangles(left, right, bottom, top)


def made(method: str, side: int, epsilon: str) -> Any:
    """Return a method over a grid."""
    loss = PureDP(epsilon=epsilon)
    if method in FLAT:
        oracle = FLAT[method](size=side**2, loss=loss)
        return Levels(grid=Grid(side), levels=(0,), oracles=(oracle,), flat=True)
    make = catalog.card(method).spatial
    assert make is not None  # noqa: S101  # every other one makes maps
    return make(Grid(side), loss)


def collected(own: Any, data: str, kind: Kind, *, source: rng.Generator) -> Density:
    """Return the map that one collection gives.

    Args:
        own: makes it.
        data: where people are.
        kind: every device's own report, perturbed and tallied; or normal noise of the exact variance.
        source: of randomness.
    """
    people, side = places(data), own.grid.side
    users = people.shape[1]
    if kind == "simulated":
        counts = own.grid.flat(coarser(counted(data), side))
        return own.decoded(own.simulated(counts, users, rng=source), users)
    asks, cells = collection(own), np.asarray(people * side // FINE, dtype=np.int32)
    drawn, tallies = asks.drawn(users, rng=source), []
    for number, own_type in enumerate(asks.types):
        mine = cells[:, drawn == number]
        parts = [mine[:, start : start + BLOCK] for start in range(0, mine.shape[1], BLOCK)]
        tallies.append(sum(asks.tally(number, own_type.perturb(part, rng=source)) for part in parts))
    return own.decoded(own.measurement(tallies), users)


def relative_error(found: Density, data: str, low: float, high: float) -> float:
    """Return the mean of |estimate - truth| / max(truth, 0.1 % of all people) over the rectangles of a size."""
    image, given = counted(data), asked(low, high)
    truth = sums(image, given)
    errors = np.abs(found.values(given.scaled(found.grid.side / FINE)) - truth)
    return float((errors / np.maximum(truth, SANITY * image.sum())).mean())
