"""`rappor`: a value's Bloom filter through a permanent and an instantaneous response, decoded over candidate strings.

Flow: value -> cohort, h Bloom bits -> flipped for ever where HMAC says so -> fresh response -> cohort and packed bits
-> counts by cohort -> least squares on the design of the candidates; LASSO first where there are too many of them.

Hashes: `bloom_filters`. A device's cohort: `noise.permanent`. Payload: the cohort in 2 bytes, little-endian, then the m
bits packed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from dpress.core.basics import bits as packed
from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.extras import load
from dpress.core.basics.losses.pure import PureDP, as_pure
from dpress.core.basics.parameters import PLACE
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.inference.postprocess import norm_sub
from dpress.mechanisms.oracle import bloom_filters
from dpress.mechanisms.oracle.bloom_filters import Bits
from dpress.mechanisms.oracle.longitudinal import PAPER_P, PAPER_Q, Longitudinal, Rates, Responses, calibrated, rounded
from dpress.noise import permanent
from dpress.noise.permanent import FIRST, Secrets, Slot
from dpress.noise.uniform import below

COHORT_BYTES = 2
MOST_COUNTS = 1 << 24  # of the bits of all cohorts


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """The counts that LASSO and least squares estimate from the reports.

    Args:
        selected: which candidates LASSO kept, shape (k,).
        measurement: their counts by least squares as if the others held nobody; 0 with infinite variance elsewhere.
    """

    selected: Mask
    measurement: Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Rappor(Longitudinal):
    """Bloom filters in cohorts, with the two responses of RAPPOR.

    Promise: local model, any two values. The cohort does not depend on the value. Two Bloom filters differ in at most
        2h bits, at most h of them set in either only, so that one report costs h ln R with R = q* (1 - p*) / (p* (1 -
        q*)): published and proven. Any number of reports of one value: 2 h ln((2 - f) / f), see `lifetime`. A changed
        value is a new permanent response and a new lifetime's loss (`ledger.device_ledger`).
    Error: `estimate` is linear in the reports, W y with W X = I on the design X of all candidates. Exact variance: a
        user of value u adds to the count of v the noise C sum W[v, cb]^2 s(X[cb, u]) / (q* - p*)^2, s = q* (1 - q*)
        where the bit is set and p* (1 - p*) where not, and the sampling of cohorts C sum_c (W_c X_c)[v, u]^2 - [u = v].
    Paper: Erlingsson, Pihur, Korolova 2014, Theorems 1 and 2, Section 4.

    Args:
        candidates: the values as strings, all different; code v is candidates[v].
        f: of the permanent response, strictly between 0 and 1.
        p: P(report 1 | permanent 0).
        q: P(report 1 | permanent 1), 0 <= p < q <= 1.
        bits: m, of a filter.
        hashes: h, at most 1,024.
        cohorts: C, at most 2^16.

    >>> from dpress.core.basics import rng
    >>> oracle = Rappor(candidates=("a", "b", "c"), f=Fraction(1, 2), bits=8, cohorts=4)
    >>> oracle.perturb(np.array([0, 1, 2]), rng=rng.seeded(1)).tolist()
    [[3, 0, 180], [0, 0, 77], [0, 0, 180]]
    """

    candidates: tuple[str, ...]
    f: Fraction
    p: Fraction = PAPER_P
    q: Fraction = PAPER_Q
    bits: int = 128
    hashes: int = 2
    cohorts: int = 64

    def __post_init__(self) -> None:
        if not self.candidates or len(set(self.candidates)) != len(self.candidates):
            raise ValueError("candidates must be at least one string, all different")
        check.count("bits", self.bits)
        if check.count("hashes", self.hashes) > bloom_filters.MOST_HASHES:
            raise ValueError(f"hashes must be at most {bloom_filters.MOST_HASHES}, got hashes={self.hashes}")
        if check.count("cohorts", self.cohorts) > 1 << (8 * COHORT_BYTES):
            raise ValueError(f"cohorts must be at most 65536, got cohorts={self.cohorts}")
        if self.bits * self.cohorts > MOST_COUNTS:
            raise ValueError(
                f"bits x cohorts must be at most {MOST_COUNTS:,}, counts that a collector holds, "
                f"got {self.bits:,} x {self.cohorts:,}"
            )
        responses = self.responses
        for name in ("f", "p", "q"):
            object.__setattr__(self, name, getattr(responses, name))

    @property
    def responses(self) -> Responses:
        """The probabilities of both responses, as rounded."""
        return rounded(self.f, self.p, self.q)

    @property
    def size(self) -> int:
        """The number of candidates, k."""
        return len(self.candidates)

    @property
    def width(self) -> int:
        """Two bytes for the cohort and those of the m bits."""
        return COHORT_BYTES + packed.width(self.bits)

    @property
    def claim(self) -> Claim:
        """The promise of one report."""
        return self.responses.claim(self.hashes, self.responses.per_report(self.hashes))

    @property
    def lifetime(self) -> PureDP:
        """The loss of any number of reports of one value, 2 h ln((2 - f) / f)."""
        return PureDP(epsilon=self.responses.lifetime(self.hashes))

    @property
    def blooms(self) -> Bits:
        """Every candidate's filter in every cohort, shape (cohorts, m, k)."""
        return bloom_filters.blooms(self.candidates, self.bits, self.hashes, self.cohorts)

    @property
    def identified(self) -> bool:
        """Whether the filters tell all candidates apart, so that `estimate` is unbiased for any counts."""
        return bloom_filters.gram(self.candidates, self.bits, self.hashes, self.cohorts) is not None

    def perturb(
        self, values: Values, *, rng: Generator, secrets: Secrets | None = None, slot: Slot = FIRST
    ) -> Payloads:
        """Return one report for every value.

        Args:
            values: codes, shape (users,).
            rng: draws the instantaneous response.
            secrets: of every device, shape (users, 16 to 64 bytes). Without them every device counts as new, and `rng`
                draws its cohort and permanent response too: for devices that report once.
            slot: what is answered; it enters the permanent response, and its collection the cohort.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (it is not shown), or secrets of a wrong shape.
        """
        codes, p = payload.codes(values, self.size), self.responses.flip
        if secrets is None:
            cohorts = below(self.cohorts, codes.size, rng=rng)
            flips = permanent.fresh_flips(codes.size, self.bits, p=p, rng=rng)
        else:
            permanent.check_secrets(secrets, codes.size)
            cohorts = permanent.cohorts(secrets, self.cohorts, collection=slot.collection)
            flips = permanent.flips(secrets, codes, self.bits, p=p, slot=slot)
        filters = bloom_filters.filters(self.candidates, self.bits, self.hashes, self.cohorts)
        report = self.responses.respond(flips ^ filters[cohorts, :, codes], self.bits, rng=rng)
        return np.concatenate([payload.pack(cohorts.astype(np.uint32), COHORT_BYTES), report], axis=1)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports name a cohort that there is not, or have a bit set beyond the last one."""
        unknown = payload.unpack(payloads[:, :COHORT_BYTES]) >= self.cohorts
        return {"unknown cohort": np.asarray(unknown), "padding": packed.padded(payloads, self.bits)}

    def tally(self, payloads: Payloads) -> Tally:
        """Return for every cohort how many reports have each bit set, and their number last; shape (C (m + 1),)."""
        cohort = payload.unpack(payloads[:, :COHORT_BYTES])
        order = np.argsort(cohort, kind="stable")
        reports = np.bincount(cohort, minlength=self.cohorts)
        out = np.zeros((self.cohorts, self.bits + 1), dtype=np.int64)
        out[:, -1] = reports
        for place, rows in enumerate(np.split(order, np.cumsum(reports)[:-1])):
            if rows.size:
                out[place, :-1] = packed.column_counts(np.ascontiguousarray(payloads[rows, COHORT_BYTES:]), self.bits)
        return out.ravel()

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return every candidate's unbiased count, with its variance for the nearest counts that add up to all users.

        Where the filters cannot tell all candidates apart (`identified` is False), what `decode` returns.
        """
        if not self.identified:
            return self.decode(tally, users).measurement
        return self._least_squares(tally, users, np.ones(self.size, dtype=np.bool_))

    def decode(self, tally: Tally, users: int) -> Decoding:
        """Return the document's decoding: LASSO with coefficients >= 0 selects, least squares estimates.

        The penalty is the largest correlation that noise alone has with a column, sigma sqrt(2 ln k) of its length.
        The variance holds given the selection, which keeps what noise made large: intervals hold less than they say.

        Raises:
            NotSupported: scikit-learn is not installed.
        """
        design, noise = self._design, float(self.responses.p_star * (1 - self.responses.p_star)) / self._gap**2
        sigma = math.sqrt(noise * max(users, 1) * self.cohorts)
        penalty = sigma * math.sqrt(2 * math.log(max(self.size, 2)) * self.cohorts * self.hashes) / len(design)
        lasso = _linear_model().Lasso(alpha=penalty, positive=True, fit_intercept=False, max_iter=100_000)
        selected = np.asarray(lasso.fit(design, self.bit_counts(tally).ravel()).coef_ > 0)
        return Decoding(selected=selected, measurement=self._least_squares(tally, users, selected))

    def bit_counts(self, tally: Tally) -> Array:
        """Return C (tally - n_c p*) / (q* - p*): how many of all users would set every cohort's bits; (C, m)."""
        table = tally.reshape(self.cohorts, self.bits + 1)
        return np.asarray(self.cohorts * (table[:, :-1] - table[:, -1:] * float(self.responses.p_star)) / self._gap)

    @property
    def inflation(self) -> float:
        """By how much the variance of a sum of counts may exceed the sum of their variances, for rare values.

        The largest eigenvalue of (X^T X)^-1 scaled to ones on its diagonal: the noise of bits that no value has set.
        """
        if not self.identified:
            return 1.0
        covariance = np.linalg.inv(self._design.T @ self._design)
        scale = 1 / np.sqrt(np.diag(covariance))
        return float(np.linalg.eigvalsh(covariance * np.multiply.outer(scale, scale))[-1])

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of a count that a share of the users holds, averaged over all candidates.

        The other users' values are spread evenly over the other candidates. Infinite where `identified` is False.
        """
        if not self.identified:
            return math.inf
        added = self._added(np.ones(self.size, dtype=np.bool_))
        of_holder = float(np.diag(added).mean())
        other = (float(added.sum()) - of_holder * self.size) / max(self.size * (self.size - 1), 1)
        return users * (frequency * of_holder + (1 - frequency) * other)

    def channel(self) -> Channel:
        """Return the exact channel of one report by a new device.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        if self.bits > 16:
            raise NotSupported(f"a channel of {self.cohorts} times 2^{self.bits} reports is too large to write down")
        payload.check_channel(self.cohorts << self.bits, self.size)
        ones, zeros = self.responses.q_star, self.responses.p_star
        rows = []
        for v in range(self.size):
            row = []
            for cohort in range(self.cohorts):
                part = [1 / (self.cohorts + 0 * ones)]
                for bit in self.blooms[cohort, :, v]:
                    rate = ones if bit else zeros
                    part = [weight * (1 - rate) for weight in part] + [weight * rate for weight in part]
                row += part
            rows.append(tuple(row))
        strings = payload.pack(np.arange(1 << self.bits, dtype=np.uint32), packed.width(self.bits))
        cohorts = payload.pack(np.repeat(np.arange(self.cohorts, dtype=np.uint32), 1 << self.bits), COHORT_BYTES)
        return Channel(
            payloads=np.concatenate([cohorts, np.tile(strings, (self.cohorts, 1))], axis=1), probabilities=tuple(rows)
        )

    @property
    def _gap(self) -> float:
        return float(self.responses.q_star - self.responses.p_star)

    @property
    def _design(self) -> Array:
        """The 0/1 design X: a row for every cohort and bit, a column for every candidate."""
        return self.blooms.reshape(-1, self.size).astype(np.float64)

    def _least_squares(self, tally: Tally, users: int, selected: Mask) -> Measurement:
        counts, variance = np.zeros(self.size), np.full(self.size, np.inf)
        if selected.any():
            counts[selected] = _inverse(self._design[:, selected]) @ self.bit_counts(tally).ravel()
            variance[selected] = self._added(selected) @ norm_sub(counts[selected], users=users)
        return Measurement(map=Identity(self.size), answers=counts, variance=variance)

    def _added(self, selected: Mask) -> Array:
        """Return what a user of every value u adds to the variance of every count v, both selected, [v, u]."""
        design = self._design[:, selected]
        weights = _inverse(design)
        zeros, ones = (float(rate * (1 - rate)) for rate in (self.responses.p_star, self.responses.q_star))
        squares = weights**2
        noise = (squares.sum(axis=1)[:, None] * zeros + squares @ design * (ones - zeros)) * self.cohorts / self._gap**2
        sampling = -np.eye(design.shape[1])
        for rows in np.split(np.arange(len(design)), self.cohorts):
            sampling += self.cohorts * (weights[:, rows] @ design[rows]) ** 2
        return np.asarray(noise + sampling)


def _inverse(design: Array) -> Array:
    """Return (X^T X)^-1 X^T."""
    return np.asarray(np.linalg.solve(design.T @ design, design.T))


def _linear_model() -> Any:
    return load("sklearn.linear_model", extra="lasso", need="decoding by LASSO needs")


def _serve(
    size: int,
    loss: Any,
    *,
    candidates: tuple[str, ...] = (),
    f: check.Number | None = None,
    p: check.Number = PAPER_P,
    q: check.Number = PAPER_Q,
    bits: int = 128,
    hashes: int = 2,
    cohorts: int = 64,
) -> Rappor | None:
    """Serve codes as the strings "0", "1", ... unless candidates are named."""
    if (pure_loss := as_pure(loss)) is None:
        return None
    check.count("size", size)
    names = tuple(candidates) or tuple(map(str, range(size)))
    if len(names) != size:
        raise ValueError(f"{PLACE}.candidates: expected {size} strings, got {len(names)}")
    check.count("hashes", hashes)
    responses = calibrated(pure_loss, hashes, f=f, p=p, q=q)
    return Rappor(
        candidates=names, f=responses.f, p=responses.p, q=responses.q, bits=bits, hashes=hashes, cohorts=cohorts
    )


def _example(loss: Any) -> Rappor:
    responses = calibrated(loss, 2)
    return Rappor(candidates=("a", "b", "c"), f=responses.f, p=responses.p, q=responses.q, bits=6, cohorts=2)


class Settings(Rates, frozen=True):
    """The responses and the Bloom filters."""

    candidates: (
        Annotated[
            list[str], Meta(description="the strings that are hashed, of one attribute; left out, the cells' names")
        ]
        | None
    ) = None
    bits: Annotated[int, Meta(ge=1, description="of a Bloom filter; 128 unless stated")] | None = None
    hashes: (
        Annotated[int, Meta(ge=1, le=bloom_filters.MOST_HASHES, description="of a Bloom filter; 2 unless stated")]
        | None
    ) = None
    cohorts: (
        Annotated[int, Meta(ge=1, le=65536, description="of devices, each with hashes of its own; 64 unless stated")]
        | None
    ) = None


CARD = Card(
    name="rappor",
    family="oracle",
    model="local",
    paper="local: RAPPOR (Erlingsson, Pihur, Korolova 2014)",
    summary="Bloom filters flipped once for ever and once for every report, for strings out of a long list.",
    method=Rappor,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=_serve,
    work="dense",
    parameters=Settings,
)
