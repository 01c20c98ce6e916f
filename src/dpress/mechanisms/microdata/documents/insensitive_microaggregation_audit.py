"""Audit of noisy groups: every tiny table, all its neighbours, and what one replaced record does to the groups.

Nothing is taken from the method's own arithmetic of sensitivities; noise counts with what is drawn with.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.audit.bounds import Floats
from dpress.audit.checks import claimed_of, exact_check, outcomes_check, relation_of
from dpress.audit.exact import ExactLoss, promised
from dpress.audit.outcomes import Labels, Outcomes, record_labels
from dpress.audit.powers import log_ratio, wins
from dpress.audit.verdict import Check
from dpress.core.basics.rng import Generator
from dpress.core.methods.people import Codes, Counts
from dpress.mechanisms.microdata.documents.insensitive_microaggregation import InsensitiveMicroaggregation

Table = tuple[int, ...]
"""The records of a tiny table by the number of their value, in increasing order."""
TINY = columns((Integer(name="x", bounds=(0, 2)), Categorical(name="y", values=("a", "b"))))
USERS, GROUP = 5, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPair:
    """Two neighbouring tables whose groups the noise hides worst, and its loss between them."""

    tables: tuple[Table, Table]
    loss: Fraction


def exact(made: InsensitiveMicroaggregation) -> Iterator[Check]:
    """Yield the exact check of all tiny tables."""
    small = tiny(made)
    name = f"all tables of {small.users} records of 6 values"
    yield exact_check("exact groups", name, relation_of(made.unit), claimed_of(made), grouped_loss(small))


def sampled(made: InsensitiveMicroaggregation, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled check of the worst pair of tiny tables."""
    small = tiny(made)
    source = of_groups(small, rng=rng)
    yield outcomes_check(f"{small.users} records", source, made.unit, claimed_of(made), samples)


def tiny(made: InsensitiveMicroaggregation) -> InsensitiveMicroaggregation:
    """Return the same method over records of six values, of which all tables can be listed."""
    return replace(made, columns=TINY, users=USERS, group=GROUP)


def grouped_loss(made: InsensitiveMicroaggregation) -> ExactLoss:
    """Return the largest loss of any two neighbouring tables; a unit's rows are replaced one after the other."""
    loss = worst_pair(made).loss * made.unit.rows
    return ExactLoss(loss=loss, kept=loss <= promised(made.claim.proven))


def worst_pair(made: InsensitiveMicroaggregation) -> WorstPair:
    """Return the worst of all tables of `users` records and all that differ in one record."""
    values = math.prod(column.size for column in made.columns)
    tables = itertools.combinations_with_replacement(range(values), made.users)
    groups = {table: _groups(made, table) for table in tables}
    rates = [Fraction(0) if column.numeric else made.mode_epsilon / 2 for column in made.columns]

    def loss(pair: tuple[Table, Table]) -> Fraction:
        total = Fraction(0)
        for column, rate, before, after in zip(made.columns, rates, groups[pair[0]], groups[pair[1]], strict=True):
            if column.numeric:
                moved = int(np.abs((before - after) @ column.units).sum())
                total += moved / made.noise(column).scale
            else:
                total += sum(
                    (_mode_loss(_tuple(a), _tuple(b), rate) for a, b in zip(before, after, strict=True)), Fraction(0)
                )
        return total

    pairs = ((table, other) for table in groups for other in _replaced(table, values) if table < other)
    worst = max(pairs, key=loss)
    return WorstPair(tables=worst, loss=loss(worst))


def codes(made: InsensitiveMicroaggregation, table: Table) -> Codes:
    """Return the records of a table, shape (attributes, users)."""
    sizes = tuple(column.size for column in made.columns)
    return np.array(np.unravel_index(np.array(table), sizes), dtype=np.int32)


def _groups(made: InsensitiveMicroaggregation, table: Table) -> list[Counts]:
    records = codes(made, table)
    places = made.places(records)
    return [made.histograms(column, values[places]) for column, values in zip(made.columns, records, strict=True)]


def _replaced(table: Table, values: int) -> set[Table]:
    rest = [table[:place] + table[place + 1 :] for place in range(len(table))]
    return {tuple(sorted((*others, value))) for others in rest for value in range(values)}


def _tuple(counts: Counts) -> Table:
    return tuple(int(count) for count in counts)


@functools.cache
def _mode_loss(before: Table, after: Table, rate: Fraction) -> Fraction:
    """Return the largest log ratio of any choice of report-noisy-max between two lists of counts."""
    both = [wins(counts) for counts in (before, after)]
    return max(log_ratio(polynomial, other, rate) for polynomial, other in zip(*both, strict=True))


def of_groups(made: InsensitiveMicroaggregation, *, rng: Generator) -> Outcomes:
    """Return the outcomes of the two neighbouring tables that the noise hides worst: the centres of all groups."""
    tables = [codes(made, table) for table in worst_pair(made).tables]
    sizes = tuple(column.size for column in made.columns) * made.groups
    firsts = np.cumsum(made.sizes) - made.sizes

    def draw(value: int, size: int) -> Labels:
        table = tables[value]
        places = made.places(table)[firsts]
        drawn = [made.aggregated(table, rng=rng)[:, places].T.ravel() for _ in range(size)]
        return record_labels(np.array(drawn, dtype=np.int32).T, sizes)

    def stated(value: int, other: int) -> Floats:
        return np.zeros(int(np.prod(sizes))) if value == other else np.full(int(np.prod(sizes)), -1e-9)

    return Outcomes(values=2, labels=int(np.prod(sizes)), draw=draw, stated=stated)
