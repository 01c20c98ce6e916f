"""Which tables a curator measures for a joint distribution: those of all candidates with the least predicted error.

spec -> groups of tables -> shares of the budget -> candidates with their exact error -> the best.
"""

import itertools
import math
from collections.abc import Iterator
from typing import cast

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.maps.workload import Marginals as Workload
from dpress.data.specification.spec import Spec
from dpress.inference.consistency import Axes
from dpress.inference.joint.maxent import SMALL
from dpress.kinds.joint.kind import Curated
from dpress.kinds.joint.table_shares import shares
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.plan.candidate import Candidate, Choice, rank
from dpress.release.plan.parameter_checks import of_kind, of_methods
from dpress.release.plan.strategies import AUTO, LARGEST_TABLE, USERS, candidate, table_bound

METHOD = "marginals"
MOST_TABLES = 1000
MOST_TRIPLES = 150  # unless order = 3: fitting a joint to more takes minutes
MOST_CELLS = 1 << 12  # of the table of all attributes, where it is a candidate
Group = list[Axes]


def choose(spec: Spec) -> Choice:
    """Return the tables, and their shares of the budget, whose predicted error is least, and the other candidates.

    Error: of a cell of all pairs, with order = 3 of all pairs and triples, by least squares over all tables; exact. All
    candidates are compared by the same cells.

    Raises:
        NotSupported: one attribute, another method, or tables that are too large or too many.
        ValueError: a parameter is wrong.
    """
    attributes, order = len(spec.schema.shape), of_kind(spec, Curated).order
    if attributes < 2:
        raise NotSupported(
            '$.release.attributes: a joint distribution needs two attributes or more; use kind = "histogram"'
        )
    if spec.release.method not in (AUTO, METHOD):
        raise NotSupported(
            f'$.release.method: {spec.release.method!r} does not serve kind = "joint" of a table; use {METHOD!r}'
        )
    of_methods(spec, {METHOD: Parameters})
    if order is not None and order > attributes:
        raise ValueError(f"{PLACE}.order: expected at most {attributes}, the number of attributes, got {order}")
    workload = _workload(spec.schema.shape, order or 2)
    candidates = sorted((_best(spec, workload, groups) for groups in _groups(workload.shape, order)), key=rank)
    return Choice(
        workload=workload,
        schema=spec.schema,
        candidates=tuple(candidates),
        chosen=candidates[0],
        lower_bound=table_bound(candidates[0], workload),
        users=USERS,
    )


def measured(candidate: Candidate) -> str:
    """Return which tables a candidate measures, for people."""
    strategy = cast("Marginals", cast("MatrixMechanism", candidate.mechanism).strategy)
    sizes, attributes = {len(axes) for axes in strategy.sets}, len(strategy.shape)
    names = {1: "one-way tables", 2: "pairs", 3: "triples"} | ({attributes: "all cells"} if attributes > 3 else {})
    *others, last = (names[size] for size in sorted(sizes))
    return f"{', '.join(others)} and {last}" if others else last


def _workload(shape: Axes, order: int) -> Workload:
    tables = [axes for ways in range(2, order + 1) for axes in itertools.combinations(range(len(shape)), ways)]
    workload = Workload(shape, tuple(tables))
    if len(tables) > MOST_TABLES or workload.queries > LARGEST_TABLE:
        raise NotSupported(
            f"{len(tables):,} tables of {workload.queries:,} cells are too many; at most {MOST_TABLES:,} tables of "
            "2^26 cells are measured: name fewer attributes, or group their values"
            + (", or leave out `order`" if order > 2 else "")
        )
    return workload


def _groups(shape: Axes, order: int | None) -> Iterator[list[Group]]:
    """Yield groups of tables that could be measured; pairs are always among them, so that each has its table.

    Larger tables help where they have few cells, and tell the joint what pairs cannot.
    """
    single, pairs, triples = (list(itertools.combinations(range(len(shape)), ways)) for ways in (1, 2, 3))
    if order != 3:
        yield [pairs]
        yield [single, pairs]
    if order == 3 or (order is None and 0 < len(triples) <= MOST_TRIPLES and math.prod(shape) <= SMALL):
        yield [single, pairs, triples]
    if order is None and len(shape) > 3 and math.prod(shape) <= MOST_CELLS:
        yield [pairs, [tuple(range(len(shape)))]]


def _best(spec: Spec, workload: Workload, groups: list[Group]) -> Candidate:
    """Return these tables under the noise that suits them best within the budget."""
    candidates = []
    for loss in spec.privacy.loss.payable:
        sets, parts = zip(*shares(workload, groups, loss), strict=True)
        strategy = Marginals(workload.shape, sets, parts)
        mechanism = MatrixMechanism(strategy=strategy, loss=loss, unit=spec.privacy.protected)
        candidates.append(candidate(METHOD, mechanism, workload))
    return min(candidates, key=rank)
