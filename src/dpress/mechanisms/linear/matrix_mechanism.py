"""The matrix mechanism: a strategy's queries plus exact integer noise. counts -> A x + noise -> Measurement."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Relation, Unit
from dpress.core.basics.losses.any_loss import NORMS, additive, parameters, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator, or_secure
from dpress.core.maps.linear import LinearMap, Numbers, Variance
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Decoder, Draw, Drawn, Strategy
from dpress.core.methods.table_sums import Rows
from dpress.inference.interval import Tail
from dpress.noise.distribution import Noise, calibrated

COPIES = 6  # of counts and answers, at the peak


@dataclass(frozen=True, kw_only=True)
class MatrixMechanism:
    """Measures `strategy.map` with discrete Laplace noise (pure epsilon) or discrete Gaussian noise (zCDP, mu-GDP).

    Promise: every part i of the map (a plain map is its own only part) gets the share s_i of the loss. Laplace of scale
    k D1_i / (s_i epsilon) costs s_i epsilon, Gaussian of variance k^2 D2_i^2 / (2 s_i rho) costs s_i rho, or s_i mu^2
    with the sigma2 of `GaussianDP.spread`; the parts compose basically. D1, D2 are the part's exact sensitivities under
    the unit's relation, k its rows per unit. Proven.
    Error: noise variance of the part times the strategy's error coefficient, exactly.
    Paper: Li, Hay, Rastogi, Miklau, McGregor 2010; noise by Canonne, Kamath, Steinke 2020.

    Args:
        strategy: what to measure.
        loss: pure epsilon, zCDP or Gaussian DP.
        unit: whom the promise protects.
    """

    strategy: Strategy
    loss: Loss
    unit: Unit = ROW

    def __post_init__(self) -> None:
        additive(self.loss, "additive noise is")
        for name, value in parameters(self.loss).items():
            check.loss_parameter(f"the smallest share of {name}", min(self.shares) * value)
        _ = self.noises  # a strategy may refuse the loss

    @property
    def decoder(self) -> Decoder:
        """How queries are answered from what was measured."""
        return self.strategy.decoder

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is."""
        return self.loss.tail

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """The parts' shares of the loss, adding up to 1."""
        parts = len(self.parts)
        shares = check.shares("shares", self.strategy.shares or (Fraction(1, parts),) * parts)
        if len(shares) != parts:
            raise ValueError(f"shares must have one number for each of the {parts} parts, got {len(shares)}")
        return shares

    @cached_property
    def parts(self) -> tuple[LinearMap, ...]:
        """The parts of the map that have noise of their own."""
        return self.strategy.map.noisy_parts(divided=len(self.strategy.shares) > 1)

    @cached_property
    def noises(self) -> tuple[Noise, ...]:
        """The noise distribution of every part."""
        pairs = [*zip(self.shares, self._sensitivities, strict=True)]
        made = {pair: calibrated(part_of(self.loss, pair[0]), pair[1]) for pair in set(pairs)}  # many tables are alike
        return tuple(made[pair] for pair in pairs)

    @cached_property
    def claim(self) -> Claim:
        """The promise, computed back from the noise that `measure` draws and the map's sensitivities."""
        pairs = Counter(zip(self.noises, self._sensitivities, strict=True))  # many tables are alike
        costs = (times * self.loss.cost(noise.spread, sensitivity) for (noise, sensitivity), times in pairs.items())
        loss = self.loss.of(sum(costs, Fraction(0)))
        norm = NORMS[self.loss.order]
        parts = [f"{noise.description} against {norm} sensitivity {sensitivity}" for noise, sensitivity in pairs]
        step = self.strategy.map.step
        unit = "" if step == 1 else f", in steps of {step:.6g} of a count"
        basis = "; ".join(dict.fromkeys(parts)) + unit
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    @cached_property
    def variance(self) -> Variance:
        """The variance of every answer, in counts squared: a number, or shape (rows,) where the parts differ."""
        variances = [noise.variance for noise in self.noises]
        if len(set(variances)) == 1:
            return variances[0]
        return np.repeat(variances, [part.rows for part in self.parts])

    def measure(self, counts: Numbers, *, rng: Generator) -> Measurement:
        """Return the noisy answers: `noisy(exact(counts))`."""
        return self.noisy(self.exact(counts), rng=rng)

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the noise of the answers; see `CuratorMechanism`."""
        exact = self.counted(rows)
        return lambda rng: Drawn(output=self.noisy(exact, rng=rng))

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory: counts, answers, estimates and variances, with copies."""
        del rows
        copies = getattr(self.strategy, "copies", COPIES)
        return int(copies * (self.strategy.map.rows + self.strategy.map.taken))

    def counted(self, rows: Rows) -> Numbers:
        """Return the answers without noise; a strategy that measures no tables of cells says itself what it counts."""
        counts = getattr(self.strategy, "counted", self._tables)(rows)
        return self.exact(self.of_tables(counts))

    def _tables(self, rows: Rows) -> Numbers:
        return rows.tables(self.decoder.tables)

    def of_tables(self, counts: Numbers) -> Numbers:
        """Return what `exact` takes, from the counts of the decoder's tables, one after the other."""
        return self.strategy.map.from_tables(counts)

    def exact(self, counts: Numbers) -> Numbers:
        """Return the answers without noise, private as the counts are; what may refuse a table refuses it here.

        Args:
            counts: the exact integer counts: the map's cells, or, where the map is a stack of marginal tables, these
                tables one after the other (the full table need not fit anywhere).

        Raises:
            NotSupported: the strategy cannot take so many rows.
        """
        matrix, counts = self.strategy.map, np.asarray(counts)
        if counts.shape != (matrix.taken,):
            got = len(counts) if counts.ndim == 1 else f"an array of shape {counts.shape}"
            raise ValueError(f"expected {matrix.taken} counts, one a cell, got {got}")
        if not np.issubdtype(counts.dtype, np.integer):
            raise ValueError(f"expected counts as integers, got {counts.dtype}")
        counts = counts.astype(np.int64, copy=False)  # small and unsigned types would wrap in sums and differences
        exact = matrix.exact(counts)
        return exact.copy() if np.may_share_memory(exact, counts) else exact

    def noisy(self, exact: Numbers, *, rng: Generator) -> Measurement:
        """Add the noise to exact answers, in place, and return them.

        Args:
            exact: see `exact`; overwritten.
            rng: a secure generator.

        Raises:
            ValueError: it is a generator of another library.
        """
        start, rng = 0, or_secure(rng)
        for noise, part in zip(self.noises, self.parts, strict=True):
            exact[start : start + part.rows] += noise.sample(part.rows, rng=rng)
            start += part.rows
        return self.measured(exact)

    def measured(self, answers: Numbers) -> Measurement:
        """Return the measurement that has these noisy answers, as they were published."""
        matrix = self.strategy.map
        if answers.shape != (matrix.rows,):  # before there is a variance for every row
            raise ValueError(f"answers must have shape ({matrix.rows},), got {answers.shape}")
        return Measurement(map=matrix, answers=answers, variance=self.variance)

    @cached_property
    def _sensitivities(self) -> tuple[Fraction, ...]:
        """Every part's L1 sensitivity (epsilon) or squared L2 sensitivity (rho, mu^2) for the whole unit.

        A replaced row may also fall out of the table, where the specification drops it: then it changes as much as a
        removed one.
        """
        order, rows = self.loss.order, self.unit.rows
        relations = {self.unit.relation, Relation.ADD_REMOVE}
        largest = (max(part.unit_sensitivity(order, each, rows) for each in relations) for part in self.parts)
        return tuple(map(Fraction, largest))
