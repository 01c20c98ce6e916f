"""Which method publishes tables, or collects them from devices: every one that serves, with its exact error."""

import itertools
import math

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.kinds.tables.kind import Tables
from dpress.mechanisms.linear.marginals import MOST_SETS
from dpress.release.plan import collections, strategies
from dpress.release.plan.candidate import Choice
from dpress.release.plan.parameter_checks import of_kind
from dpress.release.plan.strategies import LARGEST_TABLE

MOST_TABLES, MOST_WAYS = 50_000, 8  # all pairs of 300 attributes: planned in seconds, published in a minute


def choose(spec: Spec) -> Choice:
    """Return every method that serves a specification of tables, and the one with the least error.

    Raises:
        NotSupported: no method serves it.
        ValueError: attributes or parameters do not fit.
    """
    strategies.check_columns(spec)
    if spec.privacy.model == "local":
        return collections.chosen(spec, _of_each_attribute(spec), "tables")
    if spec.release.kind == "histogram":
        workload = Marginals(spec.schema.shape, (tuple(range(len(spec.schema.attributes))),))
    else:
        workload = Marginals(spec.schema.shape, _tables(spec))
        if workload.queries > LARGEST_TABLE:
            raise NotSupported(f"the tables have {workload.queries:,} cells, more than 2^26; use fewer bins or tables")
    return strategies.chosen(spec, workload)


def _of_each_attribute(spec: Spec) -> Marginals:
    """Return one table for every attribute: what is collected under local privacy."""
    axes, parameters = range(len(spec.schema.attributes)), spec.release.parameters
    if spec.release.kind == "histogram" and len(axes) > 1:
        raise NotSupported(
            '$.release.kind: model = "local" collects one table for each attribute, so kind = "marginals", '
            "or a histogram of one attribute; got 'histogram'"
        )
    for name in [name for name in ("tables", "ways") if parameters.get(name, 1) != 1]:
        raise NotSupported(
            f'$.release.parameters: model = "local" collects one table for each attribute; leave out `{name}`, '
            'or take kind = "joint" for pairs'
        )
    collections.check_silence(spec)
    return Marginals(spec.schema.shape, tuple((axis,) for axis in axes))


def _tables(spec: Spec) -> tuple[tuple[int, ...], ...]:
    """Return the axes of the tables: those listed in `tables`, or all of `ways` attributes (default 2)."""
    schema, parameters = spec.schema, of_kind(spec, Tables)
    listed, ways = parameters.tables, parameters.ways
    if listed is not None and ways is not None:
        raise ValueError(f"{PLACE}: set either `tables` or `ways`")
    if listed is None:
        ways = min(2, len(schema.attributes)) if ways is None else ways
        if ways > len(schema.attributes):
            raise ValueError(f"{PLACE}.ways: expected at most {len(schema.attributes)}, got {ways}")
        _check_tables(spec, math.comb(len(schema.attributes), ways), ways)
        return tuple(itertools.combinations(range(len(schema.attributes)), ways))
    _check_tables(spec, len(listed), max(map(len, listed)))
    return tuple(_axes(schema, names, place) for place, names in enumerate(listed, 1))


def _axes(schema: Schema, names: list[str], place: int) -> tuple[int, ...]:
    """Return the axes of a listed table, which is the first, second, ... of them."""
    try:
        return schema.axes(names)
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{PLACE}.tables[#{place}]: {error}") from None


def _check_tables(spec: Spec, tables: int, ways: int) -> None:
    gaussian = any(loss.tail == "gaussian" for loss in spec.privacy.loss.payable)
    most = MOST_TABLES if gaussian else MOST_SETS
    if tables > most or ways > MOST_WAYS:
        raise ValueError(
            f"{PLACE}: {tables} tables of up to {ways} attributes; at most {most} tables of {MOST_WAYS} attributes are "
            f"supported{'' if gaussian else f', {MOST_TABLES} under rho, or epsilon and delta'}"
        )
