"""Collections of single attributes: every oracle, for one attribute a user or for all at once; and what all share.

specification -> oracles of the catalogue -> report types -> collections with their predicted error.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.kind import Division
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.parameters import names
from dpress.core.maps.workload import Marginals
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Oracle
from dpress.data.specification.spec import Spec
from dpress.inference import frequencies
from dpress.mechanisms.oracle.subset_selection import design
from dpress.mechanisms.protocol.collection import SPLITS, Collection, Split
from dpress.mechanisms.protocol.one_way import OneWay
from dpress.mechanisms.protocol.report_type import Part, ReportType, rest
from dpress.release.plan.candidate import Candidate, Choice, rank
from dpress.release.plan.over_time import given_away, times
from dpress.release.plan.parameter_checks import expected_users, of_kind, of_methods

AUTO = "auto"
NEAR = 1.01  # times the least error: reports may be shorter for it
MOST_CELLS = 1 << 26  # of an attribute: an estimate holds all of them
MOST_NAMES = 1 << 16  # cells that are listed as candidate strings
LONGEST = 1 << 16  # bytes of a report
MOST_WORK = 1 << 38  # steps of a collector
MOST_DENSE = 1 << 10  # values of an oracle whose estimate takes k^3 steps


def chosen(spec: Spec, workload: Marginals, room: str) -> Choice:
    """Return every collection of single attributes that could serve a specification, and the best one.

    Args:
        spec: what is asked for.
        workload: one table for every attribute.
        room: of `kinds` that asks.

    Raises:
        NotSupported: none serves it, or not the method that is named.
        ValueError: a parameter is wrong.
    """
    users = expected_users(spec)
    pairs = list(collections(spec, room))
    return best(spec, workload, pairs, lower_bound(spec), users)


def best(spec: Spec, workload: Marginals, pairs: list[tuple[str, Collection]], bound: float, users: int) -> Choice:
    """Return collections with the error that is predicted for so many users, and the best one, or the named one.

    Raises:
        NotSupported: there is none.
    """
    made = [Candidate(method=name, mechanism=way, predicted_error=way.mean_variance(users)) for name, way in pairs]
    candidates, wanted = sorted(made, key=rank), spec.release.method
    named = [way for way in candidates if way.method == wanted or (wanted == AUTO and not way.assumes)]
    if not candidates:
        raise NotSupported(f"{workload.cells:,} cells are too many for every method; use fewer bins, or smaller tables")
    if not named:
        serving = ", ".join(sorted({candidate.method for candidate in candidates}))
        central = catalog.has(wanted) and catalog.card(wanted).model == "central"
        why = 'is for a table that a curator holds (model = "central") and ' if central else ""
        why = f'{wanted!r} {why}does not serve kind = {spec.release.kind!r} under model = "local"'
        raise NotSupported(f"$.release.method: {why}; those that do: {serving}")
    return Choice(
        workload=workload,
        schema=spec.schema,
        candidates=tuple(candidates),
        chosen=_taken(named, *times(spec)) if wanted == AUTO else named[0],
        lower_bound=bound,
        users=users,
    )


def _taken(candidates: list[Candidate], reports: int, changes: int) -> Candidate:
    """Return the candidate that `auto` takes: the shortest reports, or where devices report again the least loss."""
    if reports == 1:
        return _shortest(candidates)

    def cost(candidate: Candidate) -> tuple[bool, Fraction, float]:
        lost = None if candidate.collection is None else given_away(candidate.collection, reports, changes)
        useless = lost is None or math.isinf(candidate.predicted_error)
        return useless, lost or Fraction(0), candidate.predicted_error

    return min(candidates, key=cost)


def _shortest(candidates: list[Candidate]) -> Candidate:
    """Return the collection of the shortest reports among those whose error is next to the least, the least itself.

    Without a collector that takes k steps a report or more, unless that has the least error.
    """
    least = candidates[0]
    near = [way for way in candidates if way.predicted_error <= NEAR * least.predicted_error]
    return min((way for way in near if way is least or catalog.card(way.method).work == "fast"), key=_bytes)


def _bytes(candidate: Candidate) -> int:
    return 0 if candidate.collection is None else candidate.collection.width


def collections(spec: Spec, room: str) -> Iterator[tuple[str, Collection]]:
    """Yield by method every collection that could serve the spec; a slow or bulky one only where it is named.

    Raises:
        NotSupported: the budget is no epsilon, the unit is not the row, or an attribute has too many cells.
        ValueError: a parameter is wrong.
    """
    check_cells(spec)
    offered = (catalog.cards(making, named=spec.release.method) for making in ("oracle", "protocol"))
    cards = dict(sorted((name, card) for of_making in offered for name, card in of_making.items()))
    for name, arguments in of_methods(spec, {name: card.parameters for name, card in cards.items()}).items():
        card = cards[name]
        if asks_itself(name):
            yield from protocol(name, room, spec, arguments)
            continue
        for split in _splits(spec):
            if spec.release.method == name or _light(spec, card):
                collection = _collection(spec, card, split, arguments)
                if collection is not None and (spec.release.method == name or _short(collection)):
                    yield name, collection


def asks_itself(name: str) -> bool:
    """Return whether a method asks devices in a way of its own."""
    return name in catalog.cards("protocol", named=name)


def protocol(name: str, room: str, spec: Spec, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Collection]]:
    """Yield the collection of a method that asks devices in a way of its own, if it serves a room.

    Args:
        name: of the method.
        room: of `kinds`.
        spec: what is asked for.
        arguments: the parameters of the method.
    """
    make = catalog.card(name).protocol
    collection = make(room, spec.schema.shape, share(spec, "users"), **arguments) if make is not None else None
    if collection is not None:
        yield name, collection


def check_cells(spec: Spec) -> None:
    """Refuse an attribute whose counts nobody could hold, before any report is made.

    Raises:
        NotSupported: it has more than 2^26 cells.
    """
    for name, size in zip(spec.schema.names, spec.schema.shape, strict=True):
        if size > MOST_CELLS:
            raise NotSupported(f"{name!r} has {size:,} cells; at most {MOST_CELLS:,} cells are estimated; use `bins`")


def _light(spec: Spec, card: Card) -> bool:
    """Say whether a collector can do it without being asked to: the size of the domain decides."""
    largest = max(spec.schema.shape)
    if card.work == "dense":
        return largest <= MOST_DENSE
    return card.work == "fast" or largest * expected_users(spec) <= MOST_WORK


def _short(collection: Collection) -> bool:
    return max(report.width for report in collection.types) <= LONGEST


def lower_bound(spec: Spec) -> float:
    """Return the mean variance of a cell that no oracle goes below, in counts squared: that of the optimal one.

    Source: local (subset selection attains the L2 bound; Pan 2026).
    """
    users = expected_users(spec)
    return min(_optimum(spec, split, users) for split in _splits(spec))


def _optimum(spec: Spec, split: Split, users: int) -> float:
    """Return the mean variance of a cell by subset selection, over any number of values, also more than it serves."""
    loss, shape = share(spec, split), spec.schema.shape
    answering = users if split == "budget" else users / len(shape)
    total = 0.0
    for size in shape:
        numbers, frequency = design(size, loss.epsilon), 1 / size
        variance = float(frequencies.variances(1, np.asarray(frequency), numbers.p, numbers.q))
        drawing = users**2 * frequency * (1 - frequency) * rest(users, answering) / answering
        total += size * (variance * users**2 / answering + drawing)
    return total / sum(shape)


def _splits(spec: Spec) -> tuple[Split, ...]:
    """Return the ways to divide the attributes; one attribute needs none."""
    named = of_kind(spec, Division).split
    if len(spec.schema.attributes) == 1:
        return ("users",)
    return SPLITS if named is None else (named,)


def _collection(spec: Spec, card: Card, split: Split, arguments: dict[str, Any]) -> Collection | None:
    make = card.oracle
    if make is None:
        return None

    def oracle(attribute: Tabular, loss: PureDP) -> Oracle | None:
        listed = {"candidates": _names(attribute)} if "candidates" in names(card.parameters) else {}
        return make(attribute.size, loss, **{**listed, **arguments})

    return _built(spec, oracle, split)


def _names(attribute: Tabular) -> tuple[str, ...]:
    """Return the cells' names, where there are not too many to list."""
    if attribute.size > MOST_NAMES:
        return ()
    return attribute.labels


def _built(spec: Spec, make: Callable[[Tabular, PureDP], Oracle | None], split: Split) -> Collection | None:
    """Return the collection with an oracle for every attribute, or None where one does not serve."""
    shape = spec.schema.shape
    loss = share(spec, split)
    oracles = [make(attribute, loss) for attribute in spec.schema.tabular]
    parts = tuple(Part(axes=(axis,), oracle=oracle) for axis, oracle in enumerate(oracles) if oracle is not None)
    if len(parts) < len(shape):
        return None
    types = (ReportType(parts=parts),) if split == "budget" else tuple(ReportType(parts=(part,)) for part in parts)
    return Collection(shape=shape, types=types, split=split, estimator=OneWay(shape=shape, types=types))


def share(spec: Spec, split: Split) -> PureDP:
    """Return the loss of one attribute's answer."""
    privacy = spec.privacy
    loss = pure(privacy.loss, f'$.privacy: model = "local" needs `epsilon` alone, got {describe(privacy.loss)}')
    if privacy.unit != "row":
        raise NotSupported('$.privacy.unit: under model = "local" every row is one person; leave out `unit`')
    parts = len(spec.schema.attributes) if split == "budget" else 1
    return PureDP(epsilon=loss.epsilon / parts)


def check_silence(spec: Spec) -> None:
    """Refuse values for which a device would send nothing: that it is silent would tell its value."""
    for attribute in spec.schema.tabular:
        if attribute.drops:
            raise ValueError(
                f'$.attribute: {attribute.name} drops values; under model = "local" a device that sends nothing '
                'tells that its value is one of them: name a cell in `other` or `null`, or set outside = "clamp"'
            )
