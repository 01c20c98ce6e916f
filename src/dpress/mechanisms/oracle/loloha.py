"""`loloha`: a hash function for ever, the cell of one's value answered once for ever, and that anew for every report.

Flow: secret -> seed (a, b, c); value -> cell of its hash, g cells -> permanent response, one word of HMAC for a cell ->
`krr` over the cells -> seed and cell; the collector counts as for `olh`.
"""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from msgspec import Meta

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.convert import log_up, round_up
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, as_pure
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.inference import frequencies
from dpress.mechanisms.oracle.krr import respond
from dpress.mechanisms.oracle.longitudinal import Longitudinal
from dpress.mechanisms.oracle.olh import MOST_BUCKETS, PRIME, SEED, Olh, bucket, collision, hashes
from dpress.noise import permanent
from dpress.noise.expansion import WORD, exponential_floor
from dpress.noise.permanent import BITS, FIRST, Secrets, Slot
from dpress.noise.response import PRECISION, check_coin, check_odds
from dpress.noise.uniform import small

TIMES = 2  # the permanent response's epsilon is so many times a report's unless stated
FEWEST = 2  # cells, unless stated: a lifetime's loss grows with them
WHOLE = 1 << BITS
LARGEST_EPSILON = 20  # of one report: 2^-32 is about e^-22


@dataclass(frozen=True, slots=True, kw_only=True)
class Loloha(Longitudinal):
    """Local hashing with a permanent response for every cell: P(one other cell, for ever) = u, P(own) = 1 - (g - 1) u.

    Promise: local model. One report, any two values: ln(a / b) <= epsilon, a and b the probabilities of the own and of
        one other cell behind both responses. Any number of reports of one value, `lifetime`: ln((1 - (g - 1) u) / u),
        as they depend on the value through the permanent response of its cell only. A value that changes draws a new
        one only where its cell is new to the device: any history, `lifelong`, g times that, whatever the number of
        changes. As in `ledger.device_ledger`, histories are compared whose cell changes and comes back at the same
        times; that it changed is not hidden. The hash does not depend on any value. Proven.
    Error: a = p (1 - (g - 1) u) + (1 - p) u, b = (1 - a) / (g - 1); a report supports another value with probability
        q = b + (a - b) c, c the chance that hashes collide, near 1 / g. Variance of a count
        (n_v a (1 - a) + (N - n_v) q (1 - q)) / (a - q)^2. A device keeps its hash and its responses, so that the errors
        of its reports at different times are not independent.
    Paper: Arcolezi, Pinzon, Palamidessi, Gambs 2023, Algorithms 1 and 2.

    Args:
        size: k, up to 2^31 - 1; the collector's work is k for every report.
        loss: epsilon, of one report.
        g: the number of cells, from 2 to 2^16.
        other: u, a multiple of 2^-32.
        p: P(the permanent response is reported as it is), a multiple of 2^-64.

    >>> from dpress.core.basics import rng
    >>> oracle = calibrated(1000, PureDP(epsilon=1))
    >>> float(oracle.lifetime.epsilon), float(oracle.lifelong.epsilon)
    (1.999999999274041, 3.999999998548082)
    >>> oracle.perturb(np.array([999]), rng=rng.seeded(1)).shape
    (1, 13)
    """

    size: int
    loss: PureDP
    g: int
    other: Fraction
    p: Fraction

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss)
        if not FEWEST <= check.count("g", self.g) <= MOST_BUCKETS:
            raise ValueError(f"g must lie between 2 and {MOST_BUCKETS}, got g={self.g}")
        object.__setattr__(self, "other", check.exact("other", self.other))
        object.__setattr__(self, "p", check.exact("p", self.p))
        if not 0 < self.other < Fraction(1, self.g) or WHOLE % self.other.denominator:
            raise ValueError(f"other must be a multiple of 2^-32 between 0 and 1 / g, got other={float(self.other)}")
        check_coin("p", self.p)
        if self.p * self.g <= 1:
            raise ValueError(f"p must be above 1 / g, got p={float(self.p)}")
        check_odds(self.right / self.wrong, self.loss.epsilon)

    @property
    def kept(self) -> Fraction:
        """P(the permanent response is the cell itself)."""
        return 1 - (self.g - 1) * self.other

    @property
    def right(self) -> Fraction:
        """P(a report holds the cell of its user's value)."""
        return self.p * self.kept + (1 - self.p) * self.other

    @property
    def wrong(self) -> Fraction:
        """P(a report holds one other cell)."""
        return (1 - self.right) / (self.g - 1)

    @property
    def q(self) -> Fraction:
        """P(a report supports another value), as in `olh`."""
        return self.wrong + (self.right - self.wrong) * collision(self.g)

    @property
    def lifetime(self) -> PureDP:
        """The loss of any number of reports of one value."""
        return PureDP(epsilon=round_up(log_up(self.kept / self.other)))

    @property
    def lifelong(self) -> PureDP:
        """The loss of any number of reports of any number of values."""
        return PureDP(epsilon=self.g * self.lifetime.epsilon)

    @property
    def width(self) -> int:
        """Four bytes each for a, b and c, and those of the cell."""
        return self.layout.width

    @property
    def layout(self) -> Olh:
        """The `olh` of the same cells, whose payloads, hashes and tallies these are."""
        p = Fraction(math.floor(self.right * (1 << WORD)), 1 << WORD)  # of no use there, but within its loss
        return Olh(size=self.size, loss=self.loss, g=self.g, p=p)

    @property
    def claim(self) -> Claim:
        """The promise of one report, from the probabilities that the samplers use."""
        basis = (
            f"a hash and, for each of its {self.g} cells, a permanent response with P(own cell) = "
            f"{self.kept}, reported by randomised response with P(true) = {self.p}; one report"
        )
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(
        self, values: Values, *, rng: Generator, secrets: Secrets | None = None, slot: Slot = FIRST
    ) -> Payloads:
        """Return one report for every value.

        Args:
            values: codes, shape (users,).
            rng: draws the response of this report.
            secrets: of every device, shape (users, 16 to 64 bytes). Without them every device counts as new, and `rng`
                draws its hash and permanent response too: for devices that report once.
            slot: what is answered; it enters the hash and the permanent response.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (it is not shown), or secrets of a wrong shape.
        """
        codes = payload.codes(values, self.size)
        if secrets is None:
            seed = np.stack([small(PRIME, codes.size, rng=rng) for _ in SEED])
            cells = bucket(hashes(codes, *seed), self.g)
            words = small(WHOLE, codes.size, rng=rng)
        else:
            seed = self._seed(secrets, slot)
            cells = bucket(hashes(codes, *seed), self.g)
            words = permanent.words(secrets, cells.view(np.int32), slot=slot)
        answers = respond(self._permanent(cells, words), self.g, self.p, rng=rng)
        fields = [*seed, answers]
        sizes = [4, 4, 4, self.width - 12]
        packed = [payload.pack(field, size) for field, size in zip(fields, sizes, strict=True)]
        return np.concatenate(packed, axis=1)

    def cells(self, values: Values, secrets: Secrets, slot: Slot) -> Number:
        """Return the cell of every device's value: what its permanent response, and a charge for that, is of."""
        return bucket(hashes(payload.codes(values, self.size), *self._seed(secrets, slot)), self.g)

    @staticmethod
    def _seed(secrets: Secrets, slot: Slot) -> Number:
        return (permanent.hash_seeds(secrets, slot=slot) % np.uint64(PRIME)).astype(np.uint32).T

    def _permanent(self, cells: Number, words: Number) -> Number:
        """Return the permanent responses: word // (2^32 u) counts through the other cells, and then it is one's own."""
        place = words // np.uint32(int(self.other * WHOLE))
        return np.where(place < self.g - 1, place + (place >= cells), cells).astype(np.uint32)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports have a seed or a cell that there is not."""
        return self.layout.faults(payloads)

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many reports support each value, shape (k,).

        Raises:
            ReportRejected: a report is out of range; `faults` tells which.
        """
        return self.layout.tally(payloads)

    def supporting(self, payloads: Payloads, value: int) -> Mask:
        """Return which reports support one value."""
        return self.layout.supporting(payloads, value)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased count of every value with its variance, shape (k,)."""
        return frequencies.counts(tally, users, self.right, self.q)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the count of a value that a share of the users holds, in counts squared."""
        return float(frequencies.variances(users, np.asarray(users * frequency), self.right, self.q))

    def channel(self) -> Channel:
        """Refuse: there are P^3 g reports; `given_seed` gives the channel in parts.

        Raises:
            NotSupported: always.
        """
        raise NotSupported("a channel of 2^93 seeds is too large to write down; given_seed gives it for one seed")

    def given_seed(self, *, rng: Generator) -> Channel:
        """Return the exact channel of a report by a new device given one seed, which `rng` draws as a device does."""
        return self._given(self.right, self.wrong, rng=rng)

    def permanent_given_seed(self, *, rng: Generator) -> Channel:
        """Return the exact channel of the permanent response given one seed."""
        return self._given(self.kept, self.other, rng=rng)

    def _given(self, same: Fraction, other: Fraction, *, rng: Generator) -> Channel:
        channel = self.layout.given_seed(rng=rng)
        cells = [row.index(max(row)) for row in channel.probabilities]
        rows = {cell: tuple(same if y == cell else other for y in range(self.g)) for cell in set(cells)}
        return Channel(payloads=channel.payloads, probabilities=tuple(rows[cell] for cell in cells))


@functools.lru_cache(maxsize=256)
def calibrated(size: int, loss: PureDP, g: int = FEWEST, lifetime: Fraction | None = None) -> Loloha:
    """Return the oracle whose report costs at most epsilon, and all reports of one value at most another epsilon.

    u is the smallest multiple of 2^-32 >= 1 / (e^lifetime + g - 1). With t = p / (1 - p) the odds a / b are e^epsilon
    where t = (e^epsilon (1 - u) - (1 - v)) / ((g - 1) (v - e^epsilon u)), v = 1 - (g - 1) u; p is rounded down.

    Args:
        size: k.
        loss: epsilon, of one report.
        g: the number of cells.
        lifetime: the other epsilon, 2 epsilon unless given.

    Raises:
        ValueError: that is not more than epsilon, or so large that 32 bits cannot hold u.
    """
    payload.check_domain(size, loss)
    epsilon = loss.epsilon
    ever = TIMES * epsilon if lifetime is None else lifetime
    if not epsilon < ever:
        raise ValueError(
            f"{PLACE}.lifetime: expected more than epsilon = {float(epsilon):.6g}, one report's, got {float(ever):.6g}"
        )
    other = Fraction(math.ceil(WHOLE / (_below_exponential(ever) + g - 1)), WHOLE)
    kept, power = 1 - (g - 1) * other, _below_exponential(epsilon)
    if kept <= power * other:
        raise ValueError(
            f"{PLACE}.lifetime: {float(ever):.6g} is too near to epsilon = {float(epsilon):.6g}, or beyond 32 bits"
        )
    odds = (power * (1 - other) - (1 - kept)) / ((g - 1) * (kept - power * other))
    p = Fraction(math.floor(odds / (1 + odds) * (1 << WORD)), 1 << WORD)
    return Loloha(size=size, loss=loss, g=g, other=other, p=p)


def _below_exponential(epsilon: Fraction) -> Fraction:
    """Return a rational just below e^epsilon."""
    return Fraction(1 << PRECISION, exponential_floor(epsilon, PRECISION) + 1)


class Settings(Parameters, frozen=True):
    """The cells and the permanent response."""

    g: (
        Annotated[int, Meta(ge=2, le=65536, description="how many cells the values are hashed into; 2 unless stated")]
        | None
    ) = None
    lifetime: (
        Annotated[
            Fraction,
            Meta(
                description="epsilon of any number of reports of one value; g times that is the loss of all reports of "
                "a device, however often its value changes; more than epsilon, 2 epsilon unless stated"
            ),
        ]
        | None
    ) = None


def _serve(size: int, loss: Loss, *, g: int = FEWEST, lifetime: check.Number | None = None) -> Loloha | None:
    """Serve what 32 bits can hold."""
    if (pure_loss := as_pure(loss)) is None or pure_loss.epsilon > LARGEST_EPSILON:
        return None
    return calibrated(size, pure_loss, g, None if lifetime is None else check.exact("lifetime", lifetime))


CARD = Card(
    name="loloha",
    family="oracle",
    model="local",
    paper="local: frequency oracles over time (Arcolezi, Pinzon, Palamidessi, Gambs 2023)",
    summary="Reports the cell of a hash, flipped once for ever and once for every report; for values that change.",
    method=Loloha,
    example=lambda loss, unit: calibrated(5, loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=_serve,
    work="per report",
    parameters=Settings,
)
