"""Which method publishes ranges, or collects them: every one that serves those asked for, with its error."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.ranges import AllRanges, Axis, Prefixes, RangeList, RangesOfLength
from dpress.core.maps.workload import Boxes
from dpress.data.specification.spec import Spec
from dpress.inference.postprocess import answers
from dpress.kinds.ranges import devices
from dpress.kinds.ranges.kind import CollectedRanges, Ranges
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import check_ranges
from dpress.query import boxes as query_boxes
from dpress.release.plan import strategies
from dpress.release.plan.adjustments import adjustments
from dpress.release.plan.candidate import Choice, rank
from dpress.release.plan.parameter_checks import beside, of_kind

FEW = 8  # numbers that a refusal shows


def choose(spec: Spec) -> Choice:
    """Return every method that serves a specification of ranges, and the one with the least error.

    Raises:
        NotSupported: none serves it.
        ValueError: attributes or parameters do not fit.
    """
    strategies.check_columns(spec)
    boxes = _boxes(spec)
    for axis in boxes.axes:
        with _placed("length" if "length" in spec.release.parameters else "queries"):
            check_ranges(axis)
    if spec.privacy.model == "local":
        return devices.chosen(spec, boxes)
    choice, users = strategies.chosen(spec, boxes), of_kind(spec, Ranges).users
    return choice if users is None else _of_few(spec, choice, boxes, users)


def _of_few(spec: Spec, choice: Choice, boxes: Boxes, users: int) -> Choice:
    """Return a choice for so many people: where the best method is asked for, the one that is likely to err less.

    Only where the counts that err less answer: unbiased answers are best by the method that is chosen for them.
    """
    from dpress.kinds.ranges import few_people  # noqa: PLC0415  # simulates, which few plans need

    choice, usual = replace(choice, users=users), cast("MatrixMechanism", choice.chosen.mechanism)
    free = spec.release.method == strategies.AUTO and not beside(spec)
    if not (free and few_people.serves(boxes) and answers(adjustments(spec, usual))):
        return choice
    tree = few_people.tree(usual)
    if few_people.likely_error(tree, boxes, users) >= few_people.likely_error(usual, boxes, users):
        return choice
    candidate = strategies.candidate("hierarchy", tree, boxes)
    others = [other for other in choice.candidates if other.method != candidate.method]
    return replace(choice, candidates=tuple(sorted([*others, candidate], key=rank)), chosen=candidate)


def _boxes(spec: Spec) -> Boxes:
    """Return the ranges or boxes that `queries` or `length` name; all of them if neither is set."""
    shape, local = _ordered_shape(spec), spec.privacy.model == "local"
    parameters = of_kind(spec, CollectedRanges) if local else of_kind(spec, Ranges)
    queries = "all" if parameters.queries is None else parameters.queries
    if parameters.length is not None and parameters.queries is not None:
        raise ValueError(f"{PLACE}: set either `queries` or `length`")
    if parameters.length is not None:
        lengths = _lengths(parameters.length, len(shape))
        with _placed("length"):
            return Boxes(tuple(map(RangesOfLength, shape, lengths)))
    if queries == "all":
        return Boxes(tuple(map(AllRanges, shape)))
    if queries == "prefixes":
        return Boxes(tuple(map(Prefixes, shape)))
    if not queries:
        raise ValueError(f"{PLACE}.queries: expected at least one query, got an empty list")
    boxes = []
    for place, text in enumerate(queries, 1):
        with _placed(f"queries[#{place}]"):
            boxes.append(query_boxes.box(spec.schema, text))
    with _placed("queries"):
        axes: tuple[Axis, ...] = tuple(map(RangeList, shape, zip(*boxes, strict=True)))
    return Boxes(axes, paired=len(axes) > 1)


@contextlib.contextmanager
def _placed(place: str) -> Iterator[None]:
    """Let a refusal name the place in the spec."""
    try:
        yield
    except NotSupported as error:
        raise NotSupported(f"{PLACE}.{place}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{PLACE}.{place}: {error}") from None


def _lengths(length: int | list[int], axes: int) -> list[int]:
    """Return the length, in cells, of the ranges of every attribute."""
    listed = length if isinstance(length, list) else [length]
    if len(listed) != axes:
        wanted = "one number" if axes == 1 else f"a list of {axes} numbers, one for each attribute"
        got = length if len(listed) <= FEW else f"{len(listed):,} numbers"
        raise ValueError(f"{PLACE}.length: expected {wanted}, got {got}")
    return listed


def _ordered_shape(spec: Spec) -> tuple[int, ...]:
    attributes = spec.schema.attributes
    if not all(attribute.ordered for attribute in attributes):
        raise ValueError(
            "$.release.attributes: ranges need integer, numeric, date or ordinal attributes, "
            f"got {', '.join(f'{attribute.name} ({type(attribute).__name__.lower()})' for attribute in attributes)}"
        )
    return spec.schema.shape
