"""Which tables a curator measures for a joint distribution: one-way tables, pairs and triples under one budget."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

from dpress.core.claim import ZCDP
from dpress.core.errors import NotSupported
from dpress.core.parameters import PLACE, Parameters
from dpress.core.workload import Marginals as Workload
from dpress.data.specification.spec import Spec
from dpress.kinds.joint.kind import Curated
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.candidate import Candidate, Choice, rank
from dpress.release.parameter_checks import of_kind, of_methods
from dpress.release.strategies import AUTO, LARGEST_TABLE, affordable, candidate, table_bound

METHOD = "marginals"
MOST_TABLES = 1000
FIRST = (Fraction(0), Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))  # for one-way tables
LARGER = (Fraction(1, 2), Fraction(7, 10), Fraction(17, 20))  # of the rest, for triples
_GRAIN = 1000
Axes = tuple[int, ...]


def choose(spec: Spec) -> Choice:
    """Return the tables, and their shares of the budget, whose predicted error is least.

    Error: of a cell of all pairs, with order = 3 of all pairs and triples, by least squares over all tables; exact.

    Raises:
        NotSupported: one attribute, another method, or tables that are too large or too many.
        ValueError: a parameter is wrong.
    """
    shape, own = spec.schema.shape, of_kind(spec, Curated)
    attributes = len(shape)
    if attributes < 2:
        raise NotSupported(
            '$.release.attributes: a joint distribution needs two attributes or more; use kind = "histogram"'
        )
    if spec.release.method not in (AUTO, METHOD):
        raise NotSupported(
            f'$.release.method: {spec.release.method!r} does not serve kind = "joint" of a table; use {METHOD!r}'
        )
    of_methods(spec, {METHOD: Parameters})
    if own.order > attributes:
        raise ValueError(f"{PLACE}.order: expected at most {attributes}, the number of attributes, got {own.order}")
    asked = [some for ways in range(2, own.order + 1) for some in itertools.combinations(range(attributes), ways)]
    workload = Workload(shape, tuple(asked))
    if len(asked) > MOST_TABLES or workload.queries > LARGEST_TABLE:
        raise NotSupported(
            f"{len(asked):,} tables of {workload.queries:,} cells are too many; at most {MOST_TABLES:,} tables of "
            "2^26 cells are measured: name fewer attributes, group their values, or leave out `order`"
        )
    found = sorted(_candidates(spec, workload), key=rank)
    return Choice(
        workload=workload,
        schema=spec.schema,
        candidates=(found[0],),
        chosen=found[0],
        lower_bound=table_bound(spec, workload),
        users=own.users,
    )


def _candidates(spec: Spec, workload: Workload) -> Iterator[Candidate]:
    """Yield pairs alone; with one-way tables; and, where triples are asked for, with triples and pairs or without."""
    shape = workload.shape
    single: list[Axes] = [(axis,) for axis in range(len(shape))]
    pairs: list[Axes] = [axes for axes in workload.tables if len(axes) == 2]
    triples: list[Axes] = [axes for axes in workload.tables if len(axes) == 3]
    larger = LARGER if triples else (Fraction(0),)
    for loss in affordable(spec):
        power = 1 / 2 if isinstance(loss, ZCDP) else 1 / 3
        for first, share in itertools.product(FIRST, larger):
            rest = 1 - first
            groups = [(single, first), (pairs, rest * (1 - share)), (triples, rest * share)]
            divided = [one for sets, part in groups if part for one in _divided(shape, sets, part, power)]
            sets, shares = zip(*divided, strict=True)
            mechanism = MatrixMechanism(strategy=Marginals(shape, sets, shares), loss=loss, unit=spec.privacy.protected)
            yield candidate(METHOD, mechanism, workload)


def _divided(shape: Axes, sets: list[Axes], part: Fraction, power: float) -> list[tuple[Axes, Fraction]]:
    """Return tables with shares proportional to cells^power: the least mean variance of tables that stand alone.

    The variance is proportional to 1 / share (Gaussian, power 1/2) or 1 / share^2 (Laplace, power 1/3).
    """
    weights = [round(_GRAIN * math.prod(shape[axis] for axis in axes) ** power) for axes in sets]
    return [(axes, part * Fraction(weight, sum(weights))) for axes, weight in zip(sets, weights, strict=True)]
