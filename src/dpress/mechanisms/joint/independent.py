"""`independent`: every user reports one attribute; the joint is the product of the one-way tables. The baseline.

tallies of every attribute -> unbiased one-way tables -> shares without negative ones -> their product.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import pure
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Oracle, Tally
from dpress.core.reports.pieces import PayloadPieces
from dpress.inference.joint import factors as joint
from dpress.inference.joint.pair_error import concentration
from dpress.inference.postprocess import norm_sub
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.longitudinal import calibrated
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import Part, ReportType, largest, per_user, rest

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Independent(Estimator):
    """One report type for every attribute, drawn evenly, answered with the whole epsilon; nothing is asked of pairs.

    Promise: the oracle's, for one report about one attribute.
    Error: published are the one-way tables, unbiased, each with the variance of its oracle and of sampling, see
    `ReportType.estimates`. The fitted joint is their product, negative shares raised. Its tables of pairs are wrong by
    as much as the attributes depend on each other, however many users take part; no figure here holds that part.
    Paper: joint, the baseline of "What dpress adds".

    Args:
        shape: the number of values of every attribute.
        types: one for every attribute, in their order.
    """

    shape: Axes
    types: tuple[ReportType, ...]

    @property
    def oracles(self) -> tuple[Oracle, ...]:
        """The oracles of all types."""
        return tuple(oracle for report_type in self.types for oracle in report_type.oracles)

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the oracles'."""
        return largest([oracle.claim for oracle in self.oracles])

    @property
    def tables(self) -> tuple[Axes, ...]:
        """What is published: a table for every attribute."""
        return tuple((axis,) for axis in range(len(self.shape)))

    assumes: ClassVar[str] = "independent attributes"

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the unbiased counts of every attribute, with their variances.

        Raises:
            ValueError: no report is about an attribute.
        """
        if empty := [axis for axis, tally in enumerate(tallies) if not tally[-1]]:
            raise ValueError(f"no report is about attributes {empty}; each needs at least one")
        everybody = _users(tallies)
        pairs = zip(self.types, tallies, strict=True)
        estimates = [report_type.estimates(tally, everybody)[0] for report_type, tally in pairs]
        counts, variances = zip(*estimates, strict=True)
        return stacked(self.shape, self.tables, counts, variances)

    def decoder(self, users: int) -> SeparateTables:
        """Return how queries about single attributes are answered."""
        return SeparateTables(self.shape, self.tables, users)

    def fit(self, tallies: Sequence[Tally], payloads: PayloadPieces) -> joint.Joint:
        """Return the product of the one-way tables, their negative shares raised to 0."""
        del payloads  # the tallies say it all
        counts = [part.answers for part in self.measurement(tallies).parts]
        return joint.independent([norm_sub(table / _users(tallies), users=1) for table in counts])

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell of a pair's product, averaged over all pairs.

        That is its mean squared error only where the attributes are independent.
        """
        each = users / len(self.types)
        pairs = zip(self.types, self.shape, strict=True)
        spreads = [per_user(report_type.oracles[0], 1 / size) for report_type, size in pairs]
        return product_variance(self.shape, spreads, users, each)


def product_variance(shape: Axes, spreads: Sequence[float], users: int, each: float) -> float:
    """Return the variance of N a b in counts squared, averaged over the cells of all pairs of attributes.

    Formula: N^2 (a^2 var b + b^2 var a + var a var b), with independent estimates, each from N_i users with
    var a = (v + a (1 - a) (N - N_i) / (N - 1)) / N_i, v what one report adds; the sum of a^2 over an attribute's
    values by `pair_error.concentration`.

    Args:
        shape: the number of values of every attribute.
        spreads: v of every attribute.
        users: N.
        each: N_i, how many answer for each attribute.
    """
    squares, sampling = [concentration((size,)) for size in shape], rest(users, each)
    triples = zip(shape, spreads, squares, strict=True)
    sums = [(n * v + (1 - concentrated) * sampling) / each for n, v, concentrated in triples]
    pairs = list(itertools.combinations(range(len(shape)), 2))
    total = sum(squares[i] * sums[j] + squares[j] * sums[i] + sums[i] * sums[j] for i, j in pairs)
    return users**2 * total / sum(shape[i] * shape[j] for i, j in pairs)


def _users(tallies: Sequence[Tally]) -> int:
    return sum(int(tally[-1]) for tally in tallies)


def _example(loss: Loss) -> Independent:
    loss = pure(loss, "independent is calibrated to epsilon")
    responses = calibrated(loss, 1)
    shape = (2, 3)
    oracles = [RrLdp(sizes=(size,), f=responses.f, p=responses.p, q=responses.q) for size in shape]
    types = tuple(ReportType(parts=(Part(axes=(axis,), oracle=oracle),)) for axis, oracle in enumerate(oracles))
    return Independent(shape=shape, types=types)


CARD = Card(
    name="independent",
    family="joint",
    model="local",
    paper="joint: What dpress adds (the baseline)",
    summary="Every user reports one attribute; the joint is the product of the one-way tables, as if nothing depended.",
    method=Independent,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
)
