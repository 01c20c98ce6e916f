"""A report type: which attributes a report is about, what is sent of them, and what the payloads add up to.

codes -> one value for every part -> oracles, side by side -> payload -> tally -> counts of every part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.any_loss import composed
from dpress.core.basics.losses.pure import PureDP, as_pure
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.reports.encoders import Code, Encoder
from dpress.core.reports.oracle import Mask, Oracle, Payloads, Tally
from dpress.noise.permanent import FIRST, Secrets, Slot

if TYPE_CHECKING:  # a device makes none
    from dpress.core.maps.measurement import Measurement
    from dpress.mechanisms.oracle.longitudinal import Longitudinal

Table = npt.NDArray[np.int32]  # codes, shape (attributes, users)
Statement = Mapping[str, Any]  # what a user states in clear, by name
SINGLE = Code()
EITHER = 2  # users who hold a value, and who do not, that the variance of drawing supposes beyond those seen
MANY = 1 << 30  # users of whom one is asked: variances add up over independent reports


def longitudinal(oracle: Oracle) -> "TypeGuard[Longitudinal]":
    """Return whether an oracle has a permanent response."""
    return oracle.lasting


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One value of a report.

    Args:
        axes: the attributes it is about.
        oracle: what is sent of the value.
        encoder: how the attributes' codes become the value.
    """

    axes: tuple[int, ...]
    oracle: Oracle
    encoder: Encoder = SINGLE

    @property
    def lifetime(self) -> PureDP | None:
        """The loss of any number of answers about the same values; None without a permanent response."""
        return self.oracle.lifetime if longitudinal(self.oracle) and self.encoder.as_they_are else None

    def answered(self, codes: Table, shape: Sequence[int], secrets: Secrets, slot: Slot) -> int:
        """Return the number of what one device's permanent response is of: the combination of its values, or a cell.

        Exact however many combinations there are.
        """
        if longitudinal(self.oracle) and self.oracle.lifelong is not None:
            return int(self.oracle.cells(self.encoder.values(codes[list(self.axes)]), secrets, slot)[0])
        value = 0
        for axis in self.axes:
            value = value * shape[axis] + int(codes[axis, 0])
        return value

    def perturb(
        self, codes: Table, *, rng: Generator, secrets: Secrets | None, slot: Slot, stated: Statement | None = None
    ) -> Payloads:
        """Return the part's payload for every device, from codes of shape (attributes, devices)."""
        values = self.encoder.values(codes[list(self.axes)])
        if stated is not None:
            return self.oracle.perturb_stated(values, stated, rng=rng)
        if secrets is not None and longitudinal(self.oracle) and self.encoder.as_they_are:
            return self.oracle.perturb(values, rng=rng, secrets=secrets, slot=slot)
        return self.oracle.perturb(values, rng=rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportType:
    """What one report answers: its parts stand one after the other in the payload.

    Args:
        parts: at least one; no attribute twice.
        weight: of all sampling weights.
    """

    parts: tuple[Part, ...]
    weight: int = 1

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes of all parts."""
        return tuple(axis for part in self.parts for axis in part.axes)

    @property
    def oracles(self) -> tuple[Oracle, ...]:
        """The oracles of all parts."""
        return tuple(part.oracle for part in self.parts)

    @property
    def width(self) -> int:
        """The number of bytes of a payload."""
        return sum(oracle.width for oracle in self.oracles)

    @property
    def nothing(self) -> Payloads:
        """No payload at all: what an empty tally is made of."""
        return np.zeros((0, self.width), dtype=np.uint8)

    @property
    def claim(self) -> Claim:
        """The promise of one report: the parts' compose."""
        return together([oracle.claim for oracle in self.oracles])

    @property
    def lifetime(self) -> PureDP | None:
        """The loss of any number of answers about the same values, by a device that keeps its secret.

        None where a part has no permanent response.
        """
        lifetimes = [part.lifetime for part in self.parts]
        epsilons = [lifetime.epsilon for lifetime in lifetimes if lifetime is not None]
        return PureDP(epsilon=sum(epsilons)) if len(epsilons) == len(lifetimes) else None

    def perturb(
        self,
        codes: Table,
        *,
        rng: Generator,
        secrets: Secrets | None = None,
        slot: Slot = FIRST,
        stated: Statement | None = None,
    ) -> Payloads:
        """Return a payload for every device.

        Args:
            codes: of all attributes, shape (attributes, devices).
            rng: a secure generator.
            secrets: of the devices, for permanent responses; an oracle without one has no use for them.
            slot: the collection, and the number of the type's first attribute among those of all types.
            stated: what all these devices state of their own accord, where the method has such choices.

        Raises:
            ValueError: a value is not one of its attribute's (it is not shown), or secrets of a wrong shape.
            NotSupported: the method's users state nothing.
        """
        part_slot, parts = slot, list[Payloads]()
        for part in self.parts:
            parts.append(part.perturb(codes, rng=rng, secrets=secrets, slot=part_slot, stated=stated))
            part_slot = part_slot.after(len(part.axes))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def faults(self, payloads: Payloads) -> dict[str, Mask]:
        """Return by reason which payloads the oracles cannot have made."""
        faults: dict[str, Mask] = {}
        for oracle, part in zip(self.oracles, self._split(payloads), strict=True):
            for reason, mask in oracle.faults(part).items():
                faults[reason] = faults[reason] | mask if reason in faults else mask
        return faults

    def tally(self, payloads: Payloads) -> Tally:
        """Return the oracles' tallies, one after the other, and the number of payloads last."""
        tallies = [oracle.tally(part) for oracle, part in zip(self.oracles, self._split(payloads), strict=True)]
        return np.concatenate([*tallies, np.array([len(payloads)], dtype=np.int64)])

    def estimates(self, tally: Tally, everybody: int) -> list[tuple[Array, Array]]:
        """Return counts and variances of every part, for all `everybody` users of whom these answered, at random.

        The N_i users of this group stand for all N: counts times N / N_i, and the variance of drawing them,
        N^2 f (1 - f) (N - N_i) / (N - 1) / N_i, on top. For f stands the share with two more users who hold the value
        and two who do not: where all or none of those who answered hold it, others may differ (Agresti, Coull 1998).
        """
        users = int(tally[-1])
        scale = everybody / users
        estimates = []
        for measured in self.measured(tally):
            share = likely_shares(measured.answers, users)
            drawing = everybody**2 * share * (1 - share) * rest(everybody, users) / users
            estimates.append((measured.answers * scale, np.asarray(measured.variance * scale**2 + drawing)))
        return estimates

    def measured(self, tally: Tally) -> "list[Measurement]":
        """Return what the oracles estimate of the users who answered, part by part."""
        sizes = [oracle.tally(np.zeros((0, oracle.width), dtype=np.uint8)).size for oracle in self.oracles]
        parts = np.split(tally[:-1], np.cumsum(sizes)[:-1])
        return [oracle.estimate(part, int(tally[-1])) for oracle, part in zip(self.oracles, parts, strict=True)]

    def _split(self, payloads: Payloads) -> list[Payloads]:
        return np.split(payloads, np.cumsum([oracle.width for oracle in self.oracles])[:-1], axis=1)


def likely_shares(counts: Array, users: int) -> Array:
    """Return the share of every value with two more users who hold it and two who do not (Agresti, Coull 1998)."""
    return np.asarray((np.clip(counts, 0, users) + EITHER) / (users + 2 * EITHER))


def rest(everybody: float, users: float) -> float:
    """Return (N - N_i) / (N - 1): what remains of a mean's variance where N_i of N are drawn without replacement."""
    return (everybody - users) / max(everybody - 1, 1)


def per_user(oracle: Oracle, share: float) -> float:
    """Return the variance that one report adds to the count of a value that a share of the users holds."""
    return oracle.variance(MANY, share) / MANY


def together(claims: Sequence[Claim]) -> Claim:
    """Return the promise of several oracles in one report."""
    if len(claims) == 1:
        return claims[0]
    published = [claim.published for claim in claims if claim.published is not None]
    proven = [claim.proven for claim in claims if claim.proven is not None]
    return Claim(
        published=composed(published) if len(published) == len(claims) else None,
        proven=composed(proven) if len(proven) == len(claims) else None,
        unit=claims[0].unit,
        basis="; ".join(dict.fromkeys(claim.basis for claim in claims)),
    )


def largest(claims: Sequence[Claim]) -> Claim:
    """Return the promise that spends most: what a collection of several report types promises."""
    return max(claims, key=_epsilon)


def _epsilon(claim: Claim) -> float:
    proven = as_pure(claim.proven)
    return float("inf") if proven is None else float(proven.epsilon)
