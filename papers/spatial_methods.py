"""One collection of positions by one method, from real reports or simulated answers, and its error over rectangles."""

import functools
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import data
from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.core.maps.workload import Areas
from dpress.inference.maps.density import Cells, Density, TreeNoise
from dpress.inference.normal import normal
from dpress.kinds.spatial.design import collection
from dpress.kinds.spatial.prediction import rectangles
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.oracle.sue import Sue
from dpress.mechanisms.spatial.documents.psda import LARGEST_SIDE
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import coarser
from dpress.mechanisms.spatial.safe_regions import LEVELS

FLAT = {"krr": Krr, "rappor": Sue, "oue": Oue}  # basic RAPPOR that reports once
PROJECTED = {"n_psda": (0,), "psda": LEVELS}  # the levels of their regions
FINE = 1024  # cells along each axis on which the truth is counted; rectangles end on their edges
QUERIES = 500
SANITY = 0.001  # of all people: the least truth that a relative error is taken of; the document states none
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
def places(name: str) -> Places:
    """Return everybody's place on the finest grid, shape (2, users): Gowalla's check-ins in the box."""
    box, table = SOURCES[name], data.table("gowalla", ["lon", "lat"])
    points = [np.asarray(table[column]) for column in ("lon", "lat")]
    ends = (box.across, box.up)
    inside = np.logical_and.reduce([(p >= a) & (p <= b) for p, (a, b) in zip(points, ends, strict=True)])
    pairs = zip(points, ends, strict=True)
    cells = [((own[inside] - low) / (high - low) * FINE).astype(np.int32) for own, (low, high) in pairs]
    return np.minimum(np.stack(cells), FINE - 1)


@functools.cache
def counted(name: str) -> Array:
    """Return the true counts, an image of the finest grid."""
    image = np.zeros((FINE, FINE))
    np.add.at(image, tuple(places(name)), 1)
    return image


@functools.cache
def asked(low: float, high: float) -> Rectangles:
    """Return 500 rectangles of these shares of the box, their ends on the edges of the finest grid."""
    given = rectangles(Areas(low, high), QUERIES).scaled(FINE)
    left, bottom = (np.minimum(np.round(end), FINE - 1) for end in (given.left, given.bottom))
    right, top = np.maximum(np.round(given.right), left + 1), np.maximum(np.round(given.top), bottom + 1)
    return Rectangles(left, right, bottom, top)


def made(method: str, side: int, epsilon: str) -> Any:
    """Return a method over a grid; of PSDA beyond its largest grid, its noise."""
    loss = PureDP(epsilon=epsilon)
    if method in PROJECTED and side > LARGEST_SIDE:
        levels = PROJECTED[method]
        return ProjectedNoise(grid=Grid(side), epsilon=float(epsilon), levels=levels, totals=len(levels) > 1)
    if method in FLAT:
        oracle = FLAT[method](size=side**2, loss=loss)
        return Levels(grid=Grid(side), levels=(0,), oracles=(oracle,), flat=True)
    make = catalog.card(method).spatial
    assert make is not None  # noqa: S101  # every other one makes maps
    return make(Grid(side), loss)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedNoise:
    """PSDA's answers on a grid too fine for its projection: the truth and normal noise of the variance that it has.

    The projection has m = 8 cells rows and one column a cell; least squares over a region of K cells inverts G = Phi^T
    Phi, the diagonal of whose inverse is 1 / (1 - K / m) in the mean. At 64 a side Phi has 32,768 x 4,096 signs.

    Args:
        grid: the cells.
        epsilon: of everybody.
        levels: of the regions; an equal part of the users is in those of each.
        totals: whether a region's number of users is used.
    """

    grid: Grid
    epsilon: float
    levels: tuple[int, ...]
    totals: bool

    def simulated(self, counts: Array, users: int, *, rng: rng.Generator) -> Array:
        """Return noisy counts of the cells."""
        del users  # the counts have them
        factor = ((math.exp(self.epsilon) + 1) / (math.exp(self.epsilon) - 1)) ** 2
        found = np.zeros(self.grid.cells)
        for level in self.levels:
            own = (counts / len(self.levels)).reshape(4**level, -1)
            size, inside = own.shape[1], own.sum(axis=1, keepdims=True)
            spread = inside * (factor / (1 - 4.0**-level / 8) - 1 / size)
            noise = np.sqrt(np.maximum(spread, 0)) * normal(own.size, rng=rng).reshape(own.shape)
            found += (own + noise - (noise.mean(axis=1, keepdims=True) if self.totals else 0)).ravel()
        return found

    def decoded(self, counts: Array, users: int) -> Cells:
        """Return them as a map, whose error is not asked."""
        del users
        return Cells(grid=self.grid, counts=self.grid.image(counts), noise=TreeNoise(grid=self.grid, levels=(0.0,)))


def collected(own: Any, name: str, kind: Kind, *, source: rng.Generator) -> Density:
    """Return the map that one collection gives.

    Args:
        own: makes it.
        name: of the data set that says where people are.
        kind: every device's own report, perturbed and tallied; or normal noise of the exact variance.
        source: of randomness.
    """
    people, side = places(name), own.grid.side
    users = people.shape[1]
    if kind == "simulated":
        counts = own.grid.flat(coarser(counted(name), side))
        found: Density = own.decoded(own.simulated(counts, users, rng=source), users)
        return found
    return reported(own, np.asarray(people * side // FINE, dtype=np.int32), source=source)


def reported(own: Any, cells: Places, *, source: rng.Generator) -> Density:
    """Return the map of the reports of people in these cells, shape (2, users)."""
    asks, users = collection(own), cells.shape[1]
    drawn, tallies = asks.drawn(users, rng=source), []
    for number, own_type in enumerate(asks.types):
        mine = cells[:, drawn == number]
        parts = [mine[:, start : start + BLOCK] for start in range(0, mine.shape[1], BLOCK)]
        tallies.append(sum(asks.tally(number, own_type.perturb(part, rng=source)) for part in parts))
    found: Density = own.decoded(own.measurement(tallies), users)
    return found


@functools.cache
def truth(name: str, low: float, high: float) -> Array:
    """Return the true number of people in every rectangle of a size."""
    return sums(counted(name), asked(low, high))


def relative_error(found: Density, name: str, low: float, high: float) -> float:
    """Return the mean of |estimate - truth| / max(truth, 0.1 % of all people) over the rectangles of a size."""
    true, given = truth(name, low, high), asked(low, high)
    errors = np.abs(found.values(given.scaled(found.grid.side / FINE)) - true)
    return float((errors / np.maximum(true, SANITY * counted(name).sum())).mean())


def uniform(name: str) -> Cells:
    """Return the map of no data: everybody spread evenly over the box."""
    users = np.full((1, 1), float(places(name).shape[1]))
    return Cells(grid=Grid(1), counts=users, noise=TreeNoise(grid=Grid(1), levels=(0.0,)))
