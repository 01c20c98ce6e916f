"""Which map to make: by which method, on how fine a grid, and with which error people are likely to see."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpress import catalog
from dpress.attributes.location.attribute import Location
from dpress.attributes.policy import DROP
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import PLACE, names
from dpress.core.maps.grid import Grid
from dpress.core.maps.workload import Areas
from dpress.core.methods.mechanism import Card
from dpress.data.specification.spec import Spec
from dpress.kinds.spatial.kind import CuratedMap
from dpress.kinds.spatial.place import location, on_grid
from dpress.kinds.spatial.prediction import expected
from dpress.mechanisms.protocol.collection import Collection, method_of
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.mechanisms.spatial.central_map import CentralMap
from dpress.mechanisms.spatial.grids import ByGrid
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import MapCollector
from dpress.release.plan.candidate import Candidate, Choice, rank
from dpress.release.plan.collections import share
from dpress.release.plan.parameter_checks import expected_users, of_kind, of_methods

AREAS = (0.01, 0.25)  # shares of the box that a query is expected to cover, unless the spec says otherwise
HEIGHTS = (3, 4, 5, 6, 7, 8)  # that are tried where the spec names none
GROWN = 7  # the height of a tree that grows only where many people are
BASIC = {"rappor": "sue"}  # on the cells of a grid; basic RAPPOR that reports once is SUE
QUADTREE = {"side": "its quadtree needs a power of two: set `height`"}  # why a method does not take it
CHOICES = ("gtr_top_down",)  # what is tried where the spec names no method
IN_ROUNDS = ("ahead",)  # the same where it sets `rounds`: nobody has to run several without having asked for it


def choose(spec: Spec) -> Choice:
    """Return every method at its best grid, smallest expected error first.

    Raises:
        NotSupported: no method serves the specification.
        ValueError: the attribute or a parameter is wrong.
    """
    place, users, workload, shape = _location(spec), expected_users(spec), areas(spec), of_kind(spec, CuratedMap).shape
    best: dict[str, Candidate] = {}
    made: Iterator[tuple[str, Collection | CentralMap | AdaptiveGrid]]
    made = spatial_collections(spec) if spec.privacy.model == "local" else central_maps(spec, spec.privacy.loss.payable)
    for method, mechanism in made:
        error = expected(method_of(mechanism), workload, users, shape)
        candidate = Candidate(method=method, mechanism=mechanism, predicted_error=error)
        best[method] = min(best.get(method, candidate), candidate, key=rank)
    candidates = tuple(sorted(best.values(), key=rank))
    chosen: Any = candidates[0].mechanism
    schema = on_grid((place,), chosen.decoder.shape[0])
    return Choice(
        workload=workload,
        schema=schema,
        candidates=candidates,
        chosen=candidates[0],
        lower_bound=0.0,
        users=users,
    )


def _location(spec: Spec) -> Location:
    """Return the only attribute of a map.

    Raises:
        ValueError: there is another one, or it is no location; or tables are to be adjusted, which a map has none of.
    """
    if spec.release.postprocess:
        raise ValueError('$.release.postprocess: kind = "spatial" has no tables to adjust')
    return location(spec.schema.attributes)


def areas(spec: Spec) -> Areas:
    """Return the expected sizes of queries, in shares of the box."""
    given = of_kind(spec, CuratedMap).area or AREAS
    try:
        return Areas(*given)
    except ValueError:
        raise ValueError(f"{PLACE}.area: expected [low, high] with 0 < low <= high <= 1, got {[*given]}") from None


def spatial_collections(spec: Spec) -> Iterator[tuple[str, Collection]]:
    """Yield by method every collection that could make the map of a spec, at every grid that it leaves open.

    Raises:
        NotSupported: the budget is no epsilon.
        ValueError: a parameter is wrong.
    """
    loss, method = share(spec, "users"), spec.release.method
    if _location(spec).outside == DROP:
        raise ValueError(
            '$.attribute: outside = "drop" under model = "local": a device that sends nothing tells that it is outside;'
            ' set outside = "clamp"'
        )
    choices = IN_ROUNDS if "rounds" in spec.release.parameters else CHOICES
    for name in choices if method == "auto" else (method,):
        yield from ((name, collection(made)) for made in _made(spec, name, loss))


def central_maps(spec: Spec, losses: Sequence[Loss]) -> Iterator[tuple[str, CentralMap | AdaptiveGrid]]:
    """Yield by method every way to make the map of a curator's table, within the losses that the budget pays for.

    Raises:
        NotSupported: the method makes no map from a table.
        ValueError: a parameter is wrong.
    """
    _location(spec)
    method = spec.release.method
    cards = catalog.cards("spatial", "central", named=method)
    if method not in ("auto", *cards):
        makers = ", ".join(cards)
        raise NotSupported(f"$.release.method: {method!r} makes no map from a table; those that do: {makers}")
    offered = dict.fromkeys(cards, ByGrid) if method == "auto" else {method: cards[method].parameters}
    for name, parameters in of_methods(spec, offered, hints=QUADTREE).items():
        for loss in losses:
            for grid in _central_grids(spec, cards[name], loss):
                if (made := central_map(spec, cards[name], grid, loss, parameters)) is not None:
                    yield name, made


def central_map(
    spec: Spec, card: Card, grid: Grid, loss: Loss, parameters: Mapping[str, Any]
) -> CentralMap | AdaptiveGrid | None:
    """Return the map of one method over a grid under a loss, or None where it does not serve."""
    if card.spatial is None:
        return None
    users = {"users": expected_users(spec)} if "users" in names(card.parameters) else {}
    arguments = {**_beside_grid(parameters), **users}
    made: CentralMap | AdaptiveGrid | None = card.spatial(grid, loss, unit=spec.privacy.protected, **arguments)
    return made


def _beside_grid(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's arguments but for the grid, which it gets as a whole."""
    return {name: value for name, value in parameters.items() if name not in names(ByGrid)}


def _central_grids(spec: Spec, card: Card, loss: Loss) -> Sequence[Grid]:
    """Return the grid that the spec names, or those that may suit the method for the expected number of people."""
    if {"height", "side"} & set(spec.release.parameters) or card.grids is None:
        return _grids(spec)[:1]
    return card.grids(expected_users(spec), loss, spec.privacy.protected)


def collection(made: MapCollector) -> Collection:
    """Return the collection of a method's report types."""
    side = made.grid.side
    return Collection(shape=(side, side), types=made.types, split="users", estimator=made)


def _made(spec: Spec, name: str, loss: PureDP) -> Iterator[MapCollector]:
    offered = catalog.cards("spatial", "local", named=name) | catalog.cards("oracle", "local", named=name)
    serving = dict(sorted(offered.items()))
    if name not in serving:
        makers = ", ".join(serving)
        raise NotSupported(f"$.release.method: {name!r} makes no map from reports; those that do: {makers}")
    card = serving[name]
    accepted = ByGrid if card.spatial is None else card.parameters
    arguments = of_methods(spec, {name: accepted}, method=name, hints=QUADTREE)
    parameters = _beside_grid(arguments[name])
    count, refused = 0, NotSupported(f"{name} does not serve this grid and budget")
    grown = name in IN_ROUNDS and "height" not in spec.release.parameters
    for grid in [Grid(1 << GROWN)] if grown else _grids(spec):
        try:
            made = _collector(card, grid, loss, parameters)
        except NotSupported as error:  # a grid that nobody asked for may be too fine
            refused = error
            continue
        if made is not None:
            count += 1
            yield made
    if not count:
        raise refused


def _collector(card: Card, grid: Grid, loss: PureDP, parameters: dict[str, Any]) -> MapCollector | None:
    if card.spatial is not None:
        made: MapCollector | None = card.spatial(grid, loss, **parameters)
        return made
    make = catalog.card(BASIC.get(card.name, card.name)).oracle
    oracle = make(grid.cells, loss) if make is not None else None
    return None if oracle is None else Levels(grid=grid, levels=(0,), oracles=(oracle,), flat=True)


def _grids(spec: Spec) -> list[Grid]:
    """Return the grid that the spec names, or all that are tried."""
    parameters = of_kind(spec, ByGrid)
    if parameters.height is not None and parameters.side is not None:
        raise ValueError(f"{PLACE}: set either `height` or `side`")
    if parameters.height is not None:
        return [Grid(1 << parameters.height)]
    if parameters.side is not None:
        return [Grid(parameters.side)]
    return [Grid(1 << height) for height in HEIGHTS]
