"""From a specification to its workload: the questions that a release is for, all public."""

import contextlib
import itertools
import math
from collections.abc import Iterator
from typing import Any

from dpress.core import check
from dpress.core.attribute import DROP, Bounded, Listed, Ordinal
from dpress.core.errors import NotSupported
from dpress.core.ranges import AllRanges, Axis, Prefixes, RangeList, RangesOfLength
from dpress.core.workload import Boxes, Marginals, Workload
from dpress.data.spec import Spec
from dpress.mechanisms.joint.pairs import pairs_of
from dpress.release.query import parse_box

KIND_PARAMETERS: dict[str, tuple[str, ...]] = {
    "histogram": (),
    "ranges": ("queries", "length"),
    "marginals": ("tables", "ways"),
    "joint": (),
    "spatial": (),
    "microdata": (),
}
LARGEST_TABLE = 1 << 26  # cells that one machine counts and publishes in memory
MOST_TABLES, MOST_WAYS = 1000, 8  # what planning and consistency take on in seconds
VALUE_COLUMNS = ("count", "standard_error", "low", "high")


def make_workload(spec: Spec) -> Workload:
    """Return the questions that a release of this kind is for."""
    _check_columns(spec)
    schema = spec.schema
    if spec.privacy.model == "local":
        workload: Workload = _one_way(spec)
    elif spec.release.kind == "marginals":
        tables = _tables(spec)
        workload = Marginals(schema.shape, tables)
        if workload.queries > LARGEST_TABLE:
            raise NotSupported(f"the tables have {workload.queries:,} cells, more than 2^26; use fewer bins or tables")
    elif spec.release.kind == "histogram":
        workload = Marginals(schema.shape, (tuple(range(len(schema.attributes))),))
    elif spec.release.kind == "ranges":
        workload = _boxes(spec)
    else:
        raise NotSupported(f"$.release.kind: no method publishes {spec.release.kind!r} in the central model yet")
    return workload


def _one_way(spec: Spec) -> Marginals:
    """Return one table for every attribute: what is collected under local privacy."""
    axes, parameters = range(len(spec.schema.attributes)), spec.release.parameters
    if spec.release.kind == "joint":
        _check_silence(spec)
        return Marginals(spec.schema.shape, pairs_of(len(axes)))
    single = spec.release.kind == "histogram" and len(axes) == 1
    if not single and spec.release.kind != "marginals":
        raise NotSupported(
            f'$.release.kind: model = "local" collects one table for each attribute, so kind = "marginals", '
            f"or a histogram of one attribute; got {spec.release.kind!r}"
        )
    if parameters.get("ways", 1) != 1 or "tables" in parameters:
        raise NotSupported(
            '$.release.parameters: model = "local" collects one table for each attribute; leave out `ways`'
        )
    _check_silence(spec)
    return Marginals(spec.schema.shape, tuple((axis,) for axis in axes))


def _check_silence(spec: Spec) -> None:
    """Refuse values for which a device would send nothing: that it is silent would tell its value."""
    for attribute in spec.schema.tabular:
        policies = (attribute.null, attribute.other if isinstance(attribute, Listed) else attribute.outside)
        if DROP in policies:
            raise ValueError(
                f'$.attribute: {attribute.name} drops values; under model = "local" a device that sends nothing '
                'tells that its value is one of them: name a cell in `other` or `null`, or set outside = "clamp"'
            )


def _check_columns(spec: Spec) -> None:
    """Refuse attributes whose columns would hide one another in the released tables."""
    columns = [*VALUE_COLUMNS, *(("adjusted",) if spec.release.postprocess or spec.release.kind == "joint" else ())]
    for attribute in spec.schema.tabular:
        edges = (f"{attribute.name}_from", f"{attribute.name}_below") if isinstance(attribute, Bounded) else ()
        columns += [attribute.name, *edges]
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(f"$.attribute: the released tables would have two columns {name!r}; rename an attribute")


def _tables(spec: Spec) -> tuple[tuple[int, ...], ...]:
    """Return the axes of the tables: those listed in `tables`, or all of `ways` attributes (default 2)."""
    schema = spec.schema
    listed, ways = spec.release.parameters.get("tables"), spec.release.parameters.get("ways")
    if listed is not None and ways is not None:
        raise ValueError("$.release.parameters: set either `tables` or `ways`")
    if listed is None:
        ways = min(2, len(schema.attributes)) if ways is None else check.count("$.release.parameters.ways", ways)
        _check_tables(math.comb(len(schema.attributes), ways), ways)
        if ways > len(schema.attributes):
            raise ValueError(f"$.release.parameters.ways: expected at most {len(schema.attributes)}, got {ways}")
        return tuple(itertools.combinations(range(len(schema.attributes)), ways))
    if not isinstance(listed, list) or not listed or not all(isinstance(names, list) and names for names in listed):
        raise ValueError("$.release.parameters.tables: expected a list of at least one list of attribute names")
    _check_tables(len(listed), max(map(len, listed)))
    return tuple(schema.axes(names) for names in listed)


def _check_tables(tables: int, ways: int) -> None:
    if tables > MOST_TABLES or ways > MOST_WAYS:
        raise ValueError(
            f"$.release.parameters: {tables} tables of up to {ways} attributes; "
            f"at most {MOST_TABLES} tables of {MOST_WAYS} attributes are supported"
        )


def _boxes(spec: Spec) -> Boxes:
    """Return the ranges or boxes that `queries` or `length` name; all of them if neither is set."""
    shape, parameters = _ordered_shape(spec), spec.release.parameters
    queries, length = parameters.get("queries", "all"), parameters.get("length")
    if length is not None and "queries" in parameters:
        raise ValueError("$.release.parameters: set either `queries` or `length`")
    if length is not None:
        lengths = _lengths(length, len(shape))
        with _placed("length"):
            return Boxes(tuple(map(RangesOfLength, shape, lengths)))
    if queries == "all":
        return Boxes(tuple(map(AllRanges, shape)))
    if queries == "prefixes":
        return Boxes(tuple(map(Prefixes, shape)))
    if queries == []:
        raise ValueError("$.release.parameters.queries: expected at least one query, got an empty list")
    if not isinstance(queries, list) or not all(isinstance(text, str) for text in queries):
        raise ValueError('$.release.parameters.queries: expected "all", "prefixes" or a list of queries')
    boxes = []
    for place, text in enumerate(queries):
        with _placed(f"queries[{place}]"):
            boxes.append(parse_box(spec.schema, text))
    with _placed("queries"):
        axes: tuple[Axis, ...] = tuple(map(RangeList, shape, zip(*boxes, strict=True)))
    return Boxes(axes, paired=len(axes) > 1)


@contextlib.contextmanager
def _placed(place: str) -> Iterator[None]:
    """Let a refusal name the place in the spec."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"$.release.parameters.{place}: {error}") from None


def _lengths(length: Any, axes: int) -> list[int]:
    """Return the length, in cells, of the ranges of every attribute."""
    listed = length if isinstance(length, list) else [length]
    if len(listed) != axes:
        wanted = "one number" if axes == 1 else f"a list of {axes} numbers, one for each attribute"
        raise ValueError(f"$.release.parameters.length: expected {wanted}, got {length}")
    return [check.count("$.release.parameters.length", one) for one in listed]


def _ordered_shape(spec: Spec) -> tuple[int, ...]:
    attributes = spec.schema.attributes
    if not all(isinstance(one, (Bounded, Ordinal)) for one in attributes):
        raise ValueError(
            "$.release.attributes: ranges need integer, numeric or ordinal attributes, "
            f"got {', '.join(f'{one.name} ({type(one).__name__.lower()})' for one in attributes)}"
        )
    return spec.schema.shape
