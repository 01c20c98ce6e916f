"""What differs between groups: the largest difference of shares, or of means, that is significant.

pairs of attributes -> shares in groups -> differences, the largest first -> their exact covariance -> a sentence.
"""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.query.query_tree import Condition, Query
from dpress.reporting.facts import Facts
from dpress.reporting.findings import (
    CONFIDENCE,
    Estimate,
    Groups,
    ShareDifference,
    amount,
    difference_sentence,
    extremes_sentence,
)

Count = Callable[[Condition], tuple[float, float]]
"""From rows to how many there are, and the standard error of that."""
MOST_COLUMNS = 6  # that are compared with one another
MOST_CELLS = 256  # of two attributes
MOST_GROUPS = 64  # whose means are compared
MOST_TESTS = 24  # of the largest differences; each takes an exact covariance
MOST_UNSURE = 0.1  # of a group's size: further off than that, none of its shares is compared
LINEAR = 1.15  # by how much a ratio of sums of `MOST_UNSURE` denominators may be further off than its linear part
PROMISING = 0.5  # of what is significant, by errors that are taken to be independent


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Shares of an attribute's values in groups of another one.

    Args:
        of: whose values.
        among: whose values are the groups.
        counts: the estimates, shape (values, groups).
        errors: their standard errors, shape (values, groups).
        sizes: of the groups, shape (groups,).
        spreads: the standard errors of these.
    """

    of: Tabular
    among: Tabular
    counts: Array
    errors: Array
    sizes: Array
    spreads: Array

    @property
    def compared(self) -> int:
        """How many differences there are; the shares of two values are one."""
        values, groups = len(self.counts), len(self.sizes)
        return (values if values > 2 else 1) * groups * (groups - 1) // 2


def difference(facts: Facts, columns: Sequence[Tabular], confidence: float) -> str:
    """Return the sentence on the largest difference between groups that is significant; empty where none is.

    Error: a difference that is not there stands on a page with a chance of at most 1 - confidence: half of it for all
    differences of shares together (Bonferroni), the other for all means.

    Args:
        facts: of the release.
        columns: the attributes that it may be about.
        confidence: that what it says is true.
    """
    half = (1 + confidence) / 2
    listed = [attribute for attribute in columns if attribute.numbers is None and 1 < attribute.size <= MOST_CELLS]
    return _of_shares(facts, listed[:MOST_COLUMNS], half) or _of_means(facts, columns, half)


def _of_shares(facts: Facts, columns: Sequence[Tabular], confidence: float) -> str:
    pairs = itertools.combinations(sorted(columns, key=lambda column: -column.size), 2)  # groups are by the larger one
    count = functools.cache(functools.partial(_count, facts))
    tables = [
        shares for among, of in pairs if of.size * among.size <= MOST_CELLS and (shares := _shares(count, of, among))
    ]
    compared = sum(table.compared for table in tables)
    if not compared:
        return ""
    z = critical(1 - (1 - confidence) / compared, facts.tail)
    candidates = sorted((each for table in tables for each in _candidates(table, z)), key=lambda each: -each[0])
    for _, table, *place in candidates[:MOST_TESTS]:
        with suppress(ValueError):  # how these errors depend on one another is not known
            if (significant := _tested(facts, table, place, z)) is not None:
                return difference_sentence(_title(table.of), _title(table.among), significant)
    return ""


def _shares(count: Count, of: Tabular, among: Tabular) -> Shares | None:
    """Return the shares of one attribute's values; None where nothing tells them."""
    with suppress(ValueError):
        cells = [[count(_both(value, group)) for group in _tests(among)] for value in _tests(of)]
        sizes = [count(group) for group in _tests(among)]
        counts, spreads = np.moveaxis(np.array(cells), -1, 0), np.array(sizes).T
        return Shares(of=of, among=among, counts=counts[0], errors=counts[1], sizes=spreads[0], spreads=spreads[1])
    return None


def _tests(attribute: Tabular) -> list[Condition]:
    return [Condition(word="=", attribute=attribute.name, values=(label,)) for label in attribute.labels]


def _both(*tests: Condition) -> Condition:
    return Condition(word="and", parts=tuple(sorted(tests, key=lambda test: test.attribute)))


def _count(facts: Facts, rows: Condition) -> tuple[float, float]:
    result = facts.answered(Query(of="count", first=rows), CONFIDENCE)
    return result.value if result.unbiased is None else result.unbiased, result.standard_error


def _candidates(table: Shares, z: float) -> Iterator[tuple[float, Shares, int, int, int]]:
    """Yield the differences that may be significant: by how much, of which value, in which group more than in which."""
    sure = np.flatnonzero(table.spreads * z <= MOST_UNSURE * table.sizes)
    values = range(1 if len(table.counts) == 2 else len(table.counts))
    for value, (first, second) in itertools.product(values, itertools.permutations(sure.tolist(), 2)):
        shares = table.counts[value] / np.maximum(table.sizes, 1)
        errors = table.errors[value] / np.maximum(table.sizes, 1)
        by = float(shares[first] - shares[second])
        if by > PROMISING * z * np.hypot(errors[first], errors[second]):
            yield by, table, value, first, second


def _tested(facts: Facts, table: Shares, place: Sequence[int], z: float) -> ShareDifference | None:
    """Return a difference of shares; None where it is not significant.

    Error: x1 / n1 - x2 / n2 has, to first order in the errors of four counts of which all covariances are known, the
    variance g' C g with g = (1 / n1, -x1 / n1^2, -1 / n2, x2 / n2^2). Where both n are within a tenth of the truth
    (`MOST_UNSURE`), what that leaves out is below `LINEAR` - 1 of it; one step of the noise adds 1 / n.
    """
    value, *groups = place
    tests = [_tests(table.among)[group] for group in groups]
    rows = [each for group in tests for each in (_both(_tests(table.of)[value], group), group)]
    linear = facts.linear([Query(of="count", first=each) for each in rows])
    first, size, second, other = linear.values
    gradient = np.array([1 / size, -first / size**2, -1 / other, second / other**2])
    error = LINEAR * float(np.sqrt(max(0.0, gradient @ linear.covariance @ gradient)))
    by, step = float(first / size - second / other), 1 / min(size, other)
    if by <= z * error + step:
        return None
    half = critical(CONFIDENCE, facts.tail) * error + step
    return ShareDifference(
        value=table.of.captions[value],
        groups=(table.among.captions[groups[0]], table.among.captions[groups[1]]),
        shares=(first / size, second / other),
        half=half,
    )


def _title(attribute: Tabular) -> str:
    return str(attribute.title or attribute.name)


def _of_means(facts: Facts, columns: Sequence[Tabular], confidence: float) -> str:
    """Return in which groups the mean of a number is highest and lowest, by intervals that lie apart."""
    numbers = [attribute for attribute in columns if attribute.numbers is not None]
    groups = [attribute for attribute in columns if attribute.numbers is None and 1 < attribute.size <= MOST_GROUPS]
    pairs = [*itertools.product(numbers[:MOST_COLUMNS], groups[:MOST_COLUMNS])]
    for number, among in pairs:
        with suppress(ValueError):  # what no table of the release answers is left out
            if sentence := _means(facts, number, among, 1 - (1 - confidence) / len(pairs)):
                return sentence
    return ""


def _means(facts: Facts, number: Tabular, among: Tabular, confidence: float) -> str:
    def at(group: Condition, confidence: float) -> tuple[float, float, float]:
        result = facts.answered(Query(of="mean", attribute=number.name, where=group), confidence)
        return (result.value, *result.interval)

    tests = _tests(among)
    means = np.array([at(group, CONFIDENCE) for group in tests])
    finite = np.flatnonzero(np.isfinite(means).all(axis=1)).tolist()
    if len(finite) < 2:
        return ""
    groups = Groups(
        labels=[among.captions[group] for group in finite],
        values=means[finite, 0],
        exceeds=lambda first, second, each: at(tests[finite[first]], each)[1] > at(tests[finite[second]], each)[2],
    )
    estimates = [Estimate(value=value, ends=(low, high)) for value, low, high in means[finite].tolist()]
    amounts = [amount(estimate, str(number.unit or "")) for estimate in estimates]
    subject = f"By {_title(among)}, the mean of {_title(number)}"
    return extremes_sentence(subject, groups, amounts, 1 - (1 - confidence) * len(finite) / len(tests))
