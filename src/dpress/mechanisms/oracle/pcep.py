"""`pcep`: one sign of a random projection of the value, for users with safe regions and levels of their own.

Flow: value v -> uniform row j, sign Phi[j, v] kept with probability e^epsilon / (e^epsilon + 1) -> sums of the signs by
row -> projected back, least squares.

Phi[j, v] is +1 or -1 over sqrt(m). Its signs are public: bit v mod 8 of byte v // 8 (1 is +1) of the concatenation of
SHA-256("dpress pcep rows" || seed || j || i) for i = 0, 1, ..., where j and i are 4 bytes each, little-endian.
"""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from dpress.core.basics import bits, check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, as_pure
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Oracle, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.noise.bernoulli import bernoulli
from dpress.noise.response import LEFT_OUT, resolve_probability
from dpress.noise.uniform import below

Choices = npt.NDArray[np.integer]  # of a region or a level, one for every user
LABEL = b"dpress pcep rows"
SEED_BYTES = 16
HASH_BITS = 256
LARGEST_MATRIX = 2**28
ROWS_PER_VALUE = 8  # of the default m: least squares over k values and m rows costs about m / (m - k) in variance
CONDITION = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Pcep(Oracle):
    """Personalised counts by a random projection (PCEP).

    Every user states in clear a safe region, one of a public list of sets of values, and a level of a public list.
    That is the model's definition: region and level are public, and the value is hidden within the region only.

    Promise: pure epsilon of the user's own level between any two values of the user's region, local model: the row is
        uniform whatever the value, and the sign's odds are at most e^epsilon. Proven; the claim names the largest
        level.
        With one region of all values and one level it is an oracle like any other.
    Error: for a user with value v a report contributes c^2 (G^-1)_ww - [w = v] to the variance of the count of w, c =
        1 / (2p - 1) = (e^epsilon + 1) / (e^epsilon - 1), G = Phi^T Phi over the region: exact for this Phi.
        `projected` is the document's estimate, with G taken for the identity: its mean errs by sum over v of n_v G_wv,
        about n / sqrt(m), which no number of users averages out; `estimate` has no such bias.
    Paper: Chen, Li, Qin, Kasiviswanathan, Jin 2016, Algorithm PCEP.

    Args:
        size: the number of values k.
        levels: the epsilons a user may choose from.
        rows: m, at least the size of the largest region; 0 stands for 8 k.
        regions: the sets of codes a user may name; empty for one region of all values.
        seed: 16 public bytes.
        probabilities: P(the sign is the value's) at every level; empty, left out, for the largest that they allow.

    >>> from dpress.core.basics import rng
    >>> oracle = Pcep(size=3, levels=(PureDP(epsilon=1),))
    >>> oracle.perturb(np.array([0, 1, 2]), rng=rng.seeded(1)).tolist()
    [[38], [24], [16]]
    """

    size: int
    levels: tuple[PureDP, ...]
    rows: int = 0
    regions: tuple[tuple[int, ...], ...] = ()
    seed: bytes = bytes(SEED_BYTES)
    probabilities: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if not self.levels or len(self.levels) > 2**8:
            raise ValueError("levels must be 1 to 256 losses")
        for level in self.levels:
            payload.check_domain(self.size, level)
        object.__setattr__(self, "rows", self.rows or ROWS_PER_VALUE * self.size)
        if check.count("rows", self.rows) * self.size > LARGEST_MATRIX:
            raise NotSupported(f"a projection of {self.rows} x {self.size} signs is too large; name fewer rows")
        object.__setattr__(self, "regions", tuple(map(tuple, self.regions)) or (tuple(range(self.size)),))
        covered = set[int]().union(*self.regions)
        if len(covered) != self.size or not 0 <= min(covered) <= max(covered) < self.size:
            raise ValueError(f"regions must cover 0 to {self.size - 1} and nothing else")
        if any(len(set(region)) != len(region) for region in self.regions) or len(self.regions) > 2**16:
            raise ValueError("at most 65536 regions, each of different values")
        if self.rows < max(map(len, self.regions)):
            raise ValueError(f"rows must be at least the size of the largest region, got rows={self.rows}")
        if len(self.seed) != SEED_BYTES:
            raise ValueError(f"seed must have {SEED_BYTES} bytes, got {len(self.seed)}")
        given = self.probabilities or (LEFT_OUT,) * len(self.levels)
        if len(given) != len(self.levels):
            raise ValueError(f"probabilities must be one for every level, got {len(given)} for {len(self.levels)}")
        pairs = zip(given, self.levels, strict=True)
        object.__setattr__(self, "probabilities", tuple(resolve_probability(p, level.epsilon) for p, level in pairs))

    @property
    def width(self) -> int:
        """The bytes of 2 j + (the sign is -1), then those of the region and of the level where there are several."""
        return sum(self._widths)

    @property
    def _widths(self) -> tuple[int, ...]:
        choices = (len(self.regions), len(self.levels))
        return (payload.width(2 * self.rows), *(payload.width(number) * (number > 1) for number in choices))

    @property
    def claim(self) -> Claim:
        """The promise of the largest level: what holds for a user who does not know better."""
        return self.claim_of(max(range(len(self.levels)), key=lambda level: self.levels[level].epsilon))

    def claim_of(self, level: int) -> Claim:
        """Return the promise to users of one level."""
        loss, whom = self.levels[level], "between the values of a user's public region" if len(self.regions) > 1 else ""
        basis = f"a uniform row, the value's sign there kept with probability {self.p(level)} {whom}".strip()
        return Claim(published=loss, proven=loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def p(self, level: int) -> Fraction:
        """Return P(the sign is the value's) at one level."""
        return self.probabilities[level]

    @property
    def signs(self) -> npt.NDArray[np.int8]:
        """sqrt(m) Phi, shape (rows, size)."""
        unpacked = np.unpackbits(_packed(self.seed, self.rows, self.size), axis=1, count=self.size, bitorder="little")
        return 2 * unpacked.view(np.int8) - np.int8(1)

    def perturb(
        self, values: Values, *, rng: Generator, regions: Choices | None = None, levels: Choices | None = None
    ) -> Payloads:
        """Return one report for every value.

        Args:
            values: codes, shape (users,).
            rng: a secure generator.
            regions: the place of every user's region in the list; left out, the first.
            levels: the place of every user's level in the list; left out, the first.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 or lies outside its user's region (it is not shown).
        """
        codes = payload.codes(values, self.size)
        region, level = _chosen(regions, len(self.regions), codes), _chosen(levels, len(self.levels), codes)
        if not self._inside[region, codes].all():
            raise ValueError("values must lie in their users' regions")
        rows = below(self.rows, codes.size, rng=rng)
        packed = _packed(self.seed, self.rows, self.size)
        negative = ((packed[rows, codes >> 3] >> (codes & 7).astype(np.uint8)) & 1) == 0
        for place in np.unique(level):
            reports_of_level = np.flatnonzero(level == place)
            negative[reports_of_level] ^= ~bernoulli(self.p(int(place)), reports_of_level.size, rng=rng)
        numbers = ((2 * rows + negative).astype(np.uint32), region.astype(np.uint32), level.astype(np.uint32))
        parts = [payload.pack(field, size) for field, size in zip(numbers, self._widths, strict=True) if size]
        return np.concatenate(parts, axis=1)

    @property
    def _inside(self) -> npt.NDArray[np.bool_]:
        inside = np.zeros((len(self.regions), self.size), dtype=np.bool_)
        for place, region in enumerate(self.regions):
            inside[place, list(region)] = True
        return inside

    def _fields(self, payloads: Payloads) -> list[Number]:
        """Return 2 j + sign, region and level of every report."""
        parts = np.split(payloads, np.cumsum(self._widths)[:-1], axis=1)
        nothing = np.zeros(len(payloads), dtype=np.uint32)
        return [payload.unpack(part).astype(np.uint32) if part.shape[1] else nothing for part in parts]

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports name a row, a region or a level that there is not."""
        limits = (2 * self.rows, len(self.regions), len(self.levels))
        names = ("out of range", "unknown region", "unknown level")
        pairs = zip(names, self._fields(payloads), limits, strict=True)
        return {name: numbers >= limit for name, numbers, limit in pairs}

    def tally(self, payloads: Payloads) -> Tally:
        """Return for every region and level the sum of the signs of every row, and the number of reports.

        Shape (regions levels (rows + 1),), the number last.
        """
        number, region, level = (field.astype(np.int64) for field in self._fields(payloads))
        groups = len(self.regions) * len(self.levels)
        group = region * len(self.levels) + level
        counts = np.bincount(group * 2 * self.rows + number, minlength=groups * 2 * self.rows)
        counts = counts.reshape(groups, self.rows, 2).astype(np.int64)
        return np.concatenate([counts[:, :, 0] - counts[:, :, 1], counts.sum(axis=(1, 2))[:, None]], axis=1).ravel()

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased count of every value with its variance, shape (k,); the estimate stands in for n_v."""
        del users  # the tally knows how many chose what
        counts, variance = np.zeros(self.size), np.zeros(self.size)
        for region, level, sums, reports in self._groups(tally):
            if reports:
                cells, inverse = self.regions[region], self._inverse(region)
                factor = 1 / float(2 * self.p(level) - 1)
                cell_counts = inverse @ (self.signs[:, cells].T @ sums.astype(np.float64)) * factor
                counts[list(cells)] += cell_counts
                variance[list(cells)] += reports * factor**2 * np.diag(inverse) - np.clip(cell_counts, 0, reports)
        return Measurement(map=Identity(self.size), answers=counts, variance=variance)

    def projected(self, tally: Tally) -> Array:
        """Return the document's estimate c m Phi^T z, unbiased over a random seed but not for this one, shape (k,)."""
        counts = np.zeros(self.size)
        for region, level, sums, _ in self._groups(tally):
            cells = list(self.regions[region])
            counts[cells] += self.signs[:, cells].T @ sums.astype(np.float64) / float(2 * self.p(level) - 1)
        return counts

    def _groups(self, tally: Tally) -> list[tuple[int, int, Tally, int]]:
        table = tally.reshape(len(self.regions), len(self.levels), self.rows + 1)
        places = np.ndindex(len(self.regions), len(self.levels))
        return [(region, level, table[region, level, :-1], int(table[region, level, -1])) for region, level in places]

    def _inverse(self, region: int) -> Array:
        """Return G^-1 over one region."""
        return _inverse(self.seed, self.rows, self.size, self.regions[region])

    @property
    def inflation(self) -> float:
        """By how much the variance of a sum of counts may exceed the sum of their variances.

        Var(w n) = N c^2 w^T G^-1 w - sum of n_v w_v^2, and w^T G^-1 w is at most t sum of w_v^2 (G^-1)_vv, t the
        largest eigenvalue of G^-1 scaled to ones on its diagonal: (t - b) / (1 - b), b = 1 / c^2, with G's diagonal 1.
        """
        return max(
            (_correlation(self._inverse(region)) - (b := float(2 * self.p(level) - 1) ** 2)) / (1 - b)
            for region in range(len(self.regions))
            for level in range(len(self.levels))
        )

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance of a count, averaged over the values, each held by that share of the users.

        The mean of (G^-1)_ww over the values; with several regions or levels, the largest of any, as if all had it.
        """
        factor = max(1 / float(2 * self.p(level) - 1) for level in range(len(self.levels)))
        worst = max(float(np.diag(self._inverse(place)).mean()) for place in range(len(self.regions)))
        return users * (factor**2 * worst - frequency)

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are several regions or levels, or more than 2^16 reports.
        """
        if len(self.regions) > 1 or len(self.levels) > 1:
            raise NotSupported("with several regions or levels a report depends on them too")
        reports = 2 * self.rows
        payload.check_channel(reports, self.size)
        kept, flipped = self.p(0) / self.rows, (1 - self.p(0)) / self.rows
        signs = self.signs
        rows = tuple(
            tuple(kept if (signs[report >> 1, v] < 0) == report % 2 else flipped for report in range(reports))
            for v in range(self.size)
        )
        return Channel(payloads=payload.pack(np.arange(reports, dtype=np.uint32), self.width), probabilities=rows)


def _chosen(places: Choices | None, number: int, codes: Values) -> npt.NDArray[np.int64]:
    numbers = (
        np.zeros(codes.size, dtype=np.int64)
        if places is None
        else payload.codes(np.asarray(places, dtype=np.int32), number).astype(np.int64)
    )
    if numbers.size != codes.size:
        raise ValueError("regions and levels must be stated for every user")
    return numbers


@functools.lru_cache(maxsize=8)
def _packed(seed: bytes, rows: int, size: int) -> Payloads:
    """Return the bits of the projection's signs, shape (rows, width(size))."""
    blocks = [block.to_bytes(4, "little") for block in range(-(-size // HASH_BITS))]
    prefixes = (LABEL + seed + row.to_bytes(4, "little") for row in range(rows))
    stream = b"".join(hashlib.sha256(prefix + block).digest() for prefix in prefixes for block in blocks)
    table = np.frombuffer(stream, dtype=np.uint8).reshape(rows, -1)[:, : bits.width(size)]
    return np.ascontiguousarray(table)


def _correlation(covariance: Array) -> float:
    """Return the largest eigenvalue of a covariance scaled to ones on its diagonal."""
    scale = 1 / np.sqrt(np.diag(covariance))
    return float(np.linalg.eigvalsh(covariance * np.multiply.outer(scale, scale))[-1])


@functools.lru_cache(maxsize=32)
def _inverse(seed: bytes, rows: int, size: int, region: tuple[int, ...]) -> Array:
    """Return the inverse of G = Phi^T Phi over a region.

    Raises:
        NotSupported: the region's columns are linearly dependent.
    """
    unpacked = np.unpackbits(_packed(seed, rows, size), axis=1, count=size, bitorder="little")
    signs = 2.0 * unpacked[:, list(region)] - 1
    values, vectors = np.linalg.eigh(signs.T @ signs / rows)
    if values[0] <= CONDITION * values[-1]:
        raise NotSupported("this projection cannot tell the values of a region apart; name more rows or another seed")
    return np.asarray((vectors / values) @ vectors.T)


def _serve(size: int, loss: Loss, rows: int = 0) -> Pcep | None:
    if (pure_loss := as_pure(loss)) is None or max(rows, ROWS_PER_VALUE * size) * size > LARGEST_MATRIX:
        return None
    return Pcep(size=size, levels=(pure_loss,), rows=rows)


class Settings(Parameters, frozen=True):
    """The projection."""

    rows: Annotated[int, Meta(ge=1, description="of the projection; 8 for each value unless stated")] | None = None


CARD = Card(
    name="pcep",
    family="oracle",
    model="local",
    paper="spatial: PCEP of PSDA (Chen, Li, Qin, Kasiviswanathan, Jin 2016)",
    summary="Reports one sign of a random projection; every user may choose a safe region and an epsilon.",
    method=Pcep,
    example=lambda loss, unit: Pcep(size=3, levels=(loss,), rows=6),  # noqa: ARG005  # a local claim has its own unit
    oracle=_serve,
    work="dense",
    parameters=Settings,
)
