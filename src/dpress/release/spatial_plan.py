"""Which map to make: by which method, on how fine a grid, and with which error people are likely to see."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, cast, get_args

import numpy as np

from dpress import catalog
from dpress.core import check
from dpress.core.attribute import DROP, Location
from dpress.core.claim import ZCDP, PureDP
from dpress.core.domain import Schema
from dpress.core.errors import NotSupported
from dpress.core.grid import LARGEST_SIDE, Grid, Rectangles
from dpress.core.mechanism import Card
from dpress.core.rng import seeded
from dpress.core.workload import Areas
from dpress.data.spec import Spec
from dpress.inference.maps.population import populations
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Question
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.mechanisms.spatial.central_map import CentralMap, Made
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import MapCollector, MapEstimator, expected_error
from dpress.mechanisms.spatial.quadtree import best_height
from dpress.mechanisms.spatial.uniform_grid import best_side
from dpress.release.local_plan import expected_users, share

AREAS = (0.01, 0.25)  # shares of the box that a query is expected to cover, unless the spec says otherwise
HEIGHTS = (3, 4, 5, 6, 7, 8)  # that are tried where the spec names none
GROWN = 7  # the height of a tree that grows only where it is worth it
QUERIES = 200  # of the expected size, for a prediction
RUNS = 1  # simulated collections in every made-up population, for a prediction
LARGEST_HEIGHT = 10
FLAT = {"krr": "krr", "oue": "oue", "rappor": "sue"}  # on the cells of a grid; basic RAPPOR that reports once is SUE
OWN = ("users", "round", "area", "height", "side")
CENTRAL = ("quadtree", "adaptive_grid", "uniform_grid")  # for a table that a curator holds
DEEPEST = 9  # height of a curator's quadtree unless it is named: its error is by bootstrap, seconds beyond
CHOICES = ("gtr_top_down",)  # what is tried where the spec names no method
IN_ROUNDS = ("ahead",)  # the same where it sets `rounds`: nobody has to run several without having said so


def location(spec: Spec) -> Location:
    """Return the only attribute of a map.

    Raises:
        ValueError: there is another one, or it is no location; or tables are to be adjusted, which a map has none of.
    """
    if spec.release.postprocess:
        raise ValueError('$.release.postprocess: kind = "spatial" has no tables to adjust')
    attributes = spec.schema.attributes
    if spec.release.postprocess:
        raise ValueError(
            "$.release.postprocess: a map's method decides by itself whether a count may fall below zero; leave it out"
        )
    if len(attributes) != 1 or not isinstance(attributes[0], Location):
        names = ", ".join(spec.schema.names)
        raise ValueError(f'$.release.attributes: kind = "spatial" needs one attribute of kind "location", got {names}')
    return attributes[0]


def on_grid(spec: Spec, side: int) -> Schema:
    """Return both columns of a map's location as axes of so many cells."""
    return Schema(location(spec).axes(side))


def areas(spec: Spec) -> Areas:
    """Return the expected sizes of queries, in shares of the box."""
    given = spec.release.parameters.get("area", list(AREAS))
    fault = f"$.release.parameters.area: expected [low, high] with 0 < low <= high <= 1, got {given!r}"
    if not isinstance(given, list) or len(given) != 2 or not all(type(one) in (int, float) for one in given):
        raise ValueError(fault)
    try:
        return Areas(*map(float, given))
    except ValueError:
        raise ValueError(fault) from None


def rectangles(workload: Areas, number: int = QUERIES) -> Rectangles:
    """Return rectangles of these areas, in shares of the box: at random places, up to three times as long as wide."""
    words = seeded(2013).words(4 * number).reshape(4, number)
    one, two, three, four = words.astype(np.float64) / 2.0**64
    area = workload.low + (workload.high - workload.low) * one
    across = np.clip(np.sqrt(area) * 3 ** (two - 0.5), area, 1)
    up = area / across
    left, bottom = three * (1 - across), four * (1 - up)
    return Rectangles(left, left + across, bottom, bottom + up)


def spatial_collections(spec: Spec) -> Iterator[tuple[str, Collection]]:
    """Yield by method every collection that could make the map of a spec, at every grid that it leaves open.

    Raises:
        NotSupported: the budget is no epsilon.
        ValueError: a parameter is wrong.
    """
    loss, method = share(spec, "users"), spec.release.method
    if location(spec).outside == DROP:
        raise ValueError(
            '$.attribute: outside = "drop" under model = "local": a device that sends nothing tells that it is outside;'
            ' set outside = "clamp"'
        )
    own = {name: value for name, value in spec.release.parameters.items() if name not in OWN}
    choices = IN_ROUNDS if "rounds" in own else CHOICES
    for name in choices if method == "auto" else (method,):
        yield from ((name, collection(made)) for made in _made(spec, name, loss, own))


def central_maps(spec: Spec, losses: Sequence[PureDP | ZCDP]) -> Iterator[tuple[str, CentralMap | AdaptiveGrid]]:
    """Yield by method every way to make the map of a curator's table, within the losses that the budget pays for.

    Raises:
        NotSupported: the method makes no map from a table.
        ValueError: a parameter is wrong.
    """
    location(spec)
    names = CENTRAL if spec.release.method == "auto" else (spec.release.method,)
    for name in names:
        if name not in CENTRAL:
            known = ", ".join(sorted(CENTRAL))
            raise NotSupported(f"$.release.method: {name!r} makes no map from a table; those that do: {known}")
        card = catalog.card(name)
        _check_parameters(spec, name, card.parameters if spec.release.method != "auto" else ("height", "side"))
        for loss in losses:
            grid = _central_grid(spec, name, loss)
            if (made := central_map(spec, name, grid, loss)) is not None:
                yield name, made


def central_map(spec: Spec, name: str, grid: Grid, loss: PureDP | ZCDP) -> CentralMap | AdaptiveGrid | None:
    """Return the map of one method over a grid under a loss, or None where it does not serve."""
    own: dict[str, Any] = {"users": expected_users(spec)} if name == "adaptive_grid" else {}
    if "made" in spec.release.parameters:
        own["made"] = _made_how(spec)
    make = catalog.card(name).spatial
    made: CentralMap | AdaptiveGrid | None = make and make(grid, loss, unit=spec.privacy.protected, **own)
    return made


def _made_how(spec: Spec) -> Made:
    given = spec.release.parameters["made"]
    if given not in get_args(Made):
        raise ValueError(f"$.release.parameters.made: expected {' or '.join(get_args(Made))}, got {given!r}")
    return cast("Made", given)


def _central_grid(spec: Spec, name: str, loss: PureDP | ZCDP) -> Grid:
    """Return the grid that the spec names, or the one that suits the method for the expected number of people."""
    if {"height", "side"} & set(spec.release.parameters):
        return _grids(spec)[0]
    users, unit = expected_users(spec), spec.privacy.protected
    if name == "quadtree":
        return Grid(1 << min(best_height(users, loss, unit), DEEPEST))
    return Grid(best_side(users, loss, unit) if name == "uniform_grid" else LARGEST_SIDE)


def collection(made: Any) -> Collection:
    """Return the collection of a method's questions."""
    side = made.grid.side
    questions = tuple(Question(axes=(0, 1), oracles=(one,)) for one in made.asked)
    weights = getattr(made, "weights", ())  # who asks one question has none
    return Collection(shape=(side, side), questions=questions, split="users", spatial=made, weights=weights)


def predicted(made: MapEstimator, workload: Areas, users: int) -> float:
    """Return the mean squared error that is to be expected of queries of this size, in counts squared.

    Args:
        made: makes the map.
        workload: the sizes.
        users: how many people.
    """
    return _predicted(made, workload, users)  # type: ignore[arg-type]  # estimators are frozen


@functools.lru_cache(maxsize=256)
def _predicted(made: Any, workload: Areas, users: int) -> float:
    asked = rectangles(workload)
    found = [expected_error(made, people, users, asked, runs=RUNS) for people in populations()]
    return sum(found) / len(found)


def _made(spec: Spec, name: str, loss: PureDP, own: dict[str, Any]) -> Iterator[MapCollector]:
    card = catalog.cards().get(name)
    if card is None or (name not in FLAT and (card.spatial is None or card.model != "local")):
        known = sorted([*FLAT, *(one.name for one in catalog.cards().values() if one.spatial and one.model == "local")])
        raise NotSupported(f"$.release.method: {name!r} makes no map from reports; those that do: {', '.join(known)}")
    allowed = ("height", "side") if name in FLAT else card.parameters
    _check_parameters(spec, name, allowed)
    found = 0
    grown = name in IN_ROUNDS and "height" not in spec.release.parameters
    for grid in [Grid(1 << GROWN)] if grown else _grids(spec):
        if (made := _one(card, name, grid, loss, own)) is not None:
            found += 1
            yield made
    if not found:
        raise NotSupported(f"{name} does not serve this grid and budget")


def _check_parameters(spec: Spec, name: str, allowed: Sequence[str]) -> None:
    if unknown := sorted(set(spec.release.parameters) - {*allowed, "users", "round", "area"}):
        trees = "; its quadtree needs a power of two: set `height`" if unknown == ["side"] else ""
        raise ValueError(f"$.release.parameters: unknown parameter {unknown[0]!r} for {name}{trees}")


def _one(card: Card, name: str, grid: Grid, loss: PureDP, own: dict[str, Any]) -> MapCollector | None:
    if card.spatial is not None:
        made: MapCollector | None = card.spatial(grid, loss, **own)
        return made
    make = catalog.card(FLAT[name]).oracle
    oracle = make(grid.cells, loss) if make is not None else None
    return None if oracle is None else Levels(grid=grid, levels=(0,), oracles=(oracle,), flat=True)


def _grids(spec: Spec) -> list[Grid]:
    """Return the grid that the spec names, or all that are worth a try."""
    height, side = (spec.release.parameters.get(name) for name in ("height", "side"))
    if height is not None and side is not None:
        raise ValueError("$.release.parameters: set either `height` or `side`")
    if height is not None:
        if check.count("$.release.parameters.height", height) > LARGEST_HEIGHT:
            raise ValueError(f"$.release.parameters.height: expected at most {LARGEST_HEIGHT}, got {height}")
        return [Grid(1 << height)]
    if side is not None:
        if check.count("$.release.parameters.side", side) > LARGEST_SIDE:
            raise ValueError(f"$.release.parameters.side: expected at most {LARGEST_SIDE}, got {side}")
        return [Grid(side)]
    return [Grid(1 << one) for one in HEIGHTS]
