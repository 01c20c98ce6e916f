"""Which method publishes tables, or collects them from devices: every one that serves, with its exact error."""

import itertools
import math

from dpress.core import check
from dpress.core.errors import NotSupported
from dpress.core.workload import Marginals
from dpress.data.spec import Spec
from dpress.release import collections, strategies
from dpress.release.candidate import Choice
from dpress.release.strategies import LARGEST_TABLE

MOST_TABLES, MOST_WAYS = 1000, 8  # what planning and consistency take on in seconds
PARAMETERS = {"histogram": (), "marginals": ("tables", "ways")}


def choose(spec: Spec) -> Choice:
    """Return every method that serves a specification of tables, and the one with the least error.

    Raises:
        NotSupported: no method serves it.
        ValueError: attributes or parameters do not fit.
    """
    strategies.check_columns(spec)
    if spec.privacy.model == "local":
        return collections.chosen(spec, _one_way(spec), "tables")
    if spec.release.kind == "histogram":
        workload = Marginals(spec.schema.shape, (tuple(range(len(spec.schema.attributes))),))
    else:
        workload = Marginals(spec.schema.shape, _tables(spec))
        if workload.queries > LARGEST_TABLE:
            raise NotSupported(f"the tables have {workload.queries:,} cells, more than 2^26; use fewer bins or tables")
    return strategies.chosen(spec, workload, PARAMETERS[spec.release.kind])


def _one_way(spec: Spec) -> Marginals:
    """Return one table for every attribute: what is collected under local privacy."""
    axes, parameters = range(len(spec.schema.attributes)), spec.release.parameters
    if spec.release.kind == "histogram" and len(axes) > 1:
        raise NotSupported(collections.ONE_TABLE_EACH.format("histogram"))
    if parameters.get("ways", 1) != 1 or "tables" in parameters:
        raise NotSupported(
            '$.release.parameters: model = "local" collects one table for each attribute; leave out `ways`'
        )
    collections.check_silence(spec)
    return Marginals(spec.schema.shape, tuple((axis,) for axis in axes))


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
