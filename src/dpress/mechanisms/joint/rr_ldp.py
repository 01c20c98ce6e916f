"""`rr_ldp`: all attributes of a person in one report, each one-hot, through a permanent and an instantaneous response.

Flow: values -> one-hot bits, side by side -> flipped for ever where HMAC says so -> fresh response -> packed bits ->
column counts -> a one-way table for every attribute.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.basics import bits, check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Marginal, Stack
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Payloads, Tally
from dpress.inference import frequencies
from dpress.mechanisms.oracle.longitudinal import PAPER_P, PAPER_Q, Longitudinal, Rates, Responses, calibrated, rounded
from dpress.noise import permanent
from dpress.noise.permanent import FIRST, Secrets, Slot

Codes = npt.NDArray[np.int32]  # shape (users,) for one attribute, else (attributes, users)


@dataclass(frozen=True, slots=True, kw_only=True)
class RrLdp(Longitudinal):
    """One-hot strings of d attributes through both responses of RAPPOR, sent as sum |Omega_j| bits.

    Promise: local model, any two records. One report: d ln R with R = q* (1 - p*) / (p* (1 - q*)), proven: in each
        one-hot string two bits differ. Any number of reports of one record: 2 d ln((2 - f) / f), see `lifetime`;
        proven, as the reports depend on the record through the permanent response only. Published: the sum of
        2 d ln((2 - f) / f) and ln R. A changed value is a new permanent response and a new lifetime's loss, and that it
        changed is not hidden (`ledger.device_ledger`).
    Error: a bit's count has variance (n_v q* (1 - q*) + (N - n_v) p* (1 - p*)) / (q* - p*)^2, one report a user.
    Paper: Chu, Long, Liu, RR-LDP; the two responses after Erlingsson, Pihur, Korolova 2014.

    Args:
        sizes: the number of values of every attribute.
        f: of the permanent response, strictly between 0 and 1.
        p: P(report 1 | permanent 0).
        q: P(report 1 | permanent 1), 0 <= p < q <= 1.

    For one attribute this is a frequency oracle; for several, `perturb` takes values of shape (attributes, users), the
    channel's rows are the cells of the full table, row-major, and `estimate` returns the one-way tables.

    >>> from dpress.core.basics import rng
    >>> oracle = RrLdp(sizes=(2, 3), f=Fraction(1, 2))
    >>> oracle.perturb(np.array([[0, 1], [2, 2]]), rng=rng.seeded(1)).tolist()
    [[29], [19]]
    """

    sizes: tuple[int, ...]
    f: Fraction
    p: Fraction = PAPER_P
    q: Fraction = PAPER_Q

    def __post_init__(self) -> None:
        if not self.sizes:
            raise ValueError("rr_ldp needs at least one attribute")
        for size in self.sizes:
            check.count("size", size)
        responses = self.responses
        for name in ("f", "p", "q"):
            object.__setattr__(self, name, getattr(responses, name))

    @property
    def responses(self) -> Responses:
        """The probabilities of both responses, as rounded."""
        return rounded(self.f, self.p, self.q)

    @property
    def size(self) -> int:
        """The number of values, or of cells of the full table."""
        return math.prod(self.sizes)

    @property
    def bits(self) -> int:
        """The number of bits of a report, sum |Omega_j|."""
        return sum(self.sizes)

    @property
    def width(self) -> int:
        """The number of bytes of a report."""
        return bits.width(self.bits)

    @property
    def claim(self) -> Claim:
        """The promise of one report; published is the document's sum."""
        return self.responses.claim(len(self.sizes), self.responses.per_report(1) + self.lifetime.epsilon)

    @property
    def lifetime(self) -> PureDP:
        """The loss of any number of reports of one record, 2 d ln((2 - f) / f)."""
        return PureDP(epsilon=self.responses.lifetime(len(self.sizes)))

    def perturb(self, values: Codes, *, rng: Generator, secrets: Secrets | None = None, slot: Slot = FIRST) -> Payloads:
        """Return one report for every user.

        Args:
            values: codes, shape (users,) for one attribute, else (attributes, users).
            rng: draws the instantaneous response.
            secrets: of every device, shape (users, 16 to 64 bytes). Without them every device counts as new, and `rng`
                draws its permanent response too: the same distribution, for devices that report once.
            slot: of the first attribute; the others follow. It enters the permanent response.

        Raises:
            ValueError: a value is not one of its attribute's (it is not shown), or secrets of a wrong shape.
        """
        return self.responses.respond(self.permanent(values, rng=rng, secrets=secrets, slot=slot), self.bits, rng=rng)

    def permanent(
        self, values: Codes, *, rng: Generator, secrets: Secrets | None = None, slot: Slot = FIRST
    ) -> Payloads:
        """Return the permanent response of every user, packed as a report is; it never leaves a device."""
        codes = self._codes(values)
        out = self._flips(codes, rng, secrets, slot)
        one_hot, start = np.zeros_like(out), 0
        for size, values_of_axis in zip(self.sizes, codes, strict=True):
            bits.put(one_hot, start + values_of_axis.astype(np.int64), np.ones(values_of_axis.size, dtype=np.bool_))
            start += size
        return out ^ one_hot

    def _codes(self, values: Codes) -> list[Codes]:
        given = np.asarray(values)
        table = given[None] if len(self.sizes) == 1 and given.ndim == 1 else given
        if table.ndim != 2 or len(table) != len(self.sizes):
            raise ValueError(f"values must have shape ({len(self.sizes)}, users)")
        return [payload.codes(row, size) for row, size in zip(table, self.sizes, strict=True)]

    def _flips(self, codes: list[Codes], rng: Generator, secrets: Secrets | None, slot: Slot) -> Payloads:
        p = self.responses.flip
        if secrets is None:
            return permanent.fresh_flips(codes[0].size, self.bits, p=p, rng=rng)
        parts = [
            permanent.flips(secrets, values_of_axis, size, p=p, slot=slot.after(axis))
            for axis, (values_of_axis, size) in enumerate(zip(codes, self.sizes, strict=True))
        ]
        if len(parts) == 1:
            return parts[0]
        pairs = zip(parts, self.sizes, strict=True)
        strings = [np.unpackbits(part, axis=1, count=size, bitorder="little") for part, size in pairs]
        return np.packbits(np.concatenate(strings, axis=1), axis=1, bitorder="little")

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports have a bit set beyond the last one."""
        return {"padding": bits.padded(payloads, self.bits)}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many reports have each bit set, shape (sum |Omega_j|,)."""
        return bits.column_counts(payloads, self.bits)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased counts (tally - N p*) / (q* - p*) of every attribute's values, with their variance.

        Over the values for one attribute, else over the stack of the one-way tables.
        """
        measured = frequencies.counts(tally, users, self.responses.q_star, self.responses.p_star)
        if len(self.sizes) == 1:
            return measured
        stack = Stack(tuple(Marginal(self.sizes, (axis,)) for axis in range(len(self.sizes))))
        return Measurement(map=stack, answers=measured.answers, variance=measured.variance)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the count of a value that a share of the users holds, in counts squared."""
        held = np.array(users * frequency)
        return float(frequencies.variances(users, held, self.responses.q_star, self.responses.p_star))

    def channel(self) -> Channel:
        """Return the exact channel of one report by a new device.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        if self.bits > 16:
            raise NotSupported(f"a channel of 2^{self.bits} reports is too large to write down")
        payload.check_channel(1 << self.bits, self.size)
        ones, zeros = self.responses.q_star, self.responses.p_star
        rows = []
        for cell in np.ndindex(*self.sizes):
            string = [code == value for value, size in zip(cell, self.sizes, strict=True) for code in range(size)]
            row = [1 + 0 * ones]
            for true in string:  # the reports with a further, higher bit of 0, then of 1
                rate = ones if true else zeros
                row = [weight * (1 - rate) for weight in row] + [weight * rate for weight in row]
            rows.append(tuple(row))
        reports = payload.pack(np.arange(1 << self.bits, dtype=np.uint32), self.width)
        return Channel(payloads=reports, probabilities=tuple(rows))


def _serve(
    size: int, loss: Loss, f: check.Number | None = None, p: check.Number = PAPER_P, q: check.Number = PAPER_Q
) -> RrLdp | None:
    return None if loss.as_epsilon is None else _calibrated(size, loss, f, p, q)


def _calibrated(
    size: int, loss: Any, f: check.Number | None = None, p: check.Number = PAPER_P, q: check.Number = PAPER_Q
) -> RrLdp:
    responses = calibrated(loss, 1, f=f, p=p, q=q)
    return RrLdp(sizes=(size,), f=responses.f, p=responses.p, q=responses.q)


CARD = Card(
    name="rr_ldp",
    family="joint",
    model="local",
    paper="joint: RR-LDP (Chu, Long, Liu)",
    summary="One-hot bits of all attributes in one report, flipped once for ever and once for every report.",
    method=RrLdp,
    example=lambda loss, unit: _calibrated(3, loss),  # noqa: ARG005  # its own unit
    oracle=_serve,
    parameters=Rates,
)
