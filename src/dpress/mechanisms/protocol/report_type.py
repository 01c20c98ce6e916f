"""One question of a collection under local privacy: what a report answers, and what its answers add up to.

codes -> oracles, side by side -> payload -> tally -> counts of every attribute asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim, PureDP, composed
from dpress.core.linear import Array
from dpress.core.oracle import Mask, Oracle, Payloads, Tally
from dpress.core.rng import Generator
from dpress.mechanisms.protocol.bit_tally import BitTally
from dpress.noise.permanent import FIRST, Secrets, Slot

Codes = npt.NDArray[np.int32]
MANY = 1 << 30  # users of whom one is asked: variances add up over independent reports


@runtime_checkable
class Longitudinal(Protocol):
    """An oracle with a permanent response, which a device derives from its secret."""

    @property
    def lifetime(self) -> PureDP:
        """The loss of any number of reports of one value."""
        ...

    def perturb(self, values: Codes, *, rng: Generator, secrets: Secrets | None = None, slot: Slot = FIRST) -> Payloads:
        """Return one report for every value."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one report answers: one attribute, or several with an oracle for each, side by side in the payload.

    Args:
        axes: the attributes that are asked for.
        oracles: one for every axis; or a single one for all of them together, which takes their codes as rows.
        bits: counts the reports' bits together, in place of the oracles' own tallies.
    """

    axes: tuple[int, ...]
    oracles: tuple[Oracle, ...]
    bits: BitTally | None = None

    @property
    def together(self) -> bool:
        """Whether one oracle is asked about several attributes at once."""
        return len(self.oracles) < len(self.axes)

    @property
    def parts(self) -> tuple[tuple[Oracle, tuple[int, ...]], ...]:
        """Every oracle with the attributes that it is asked about."""
        if self.together:
            return ((self.oracles[0], self.axes),)
        return tuple((oracle, (axis,)) for axis, oracle in self.pairs)

    @property
    def pairs(self) -> tuple[tuple[int, Oracle], ...]:
        """Every attribute with its oracle."""
        return tuple(zip(self.axes, self.oracles, strict=True))

    @property
    def width(self) -> int:
        """The number of bytes of a payload."""
        return sum(oracle.width for oracle in self.oracles)

    @property
    def nothing(self) -> Payloads:
        """No payload at all: what an empty tally is made of."""
        return np.zeros((0, self.width), dtype=np.uint8)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The oracles' promises; they compose."""
        return tuple(oracle.claim for oracle in self.oracles)

    @property
    def lifetime(self) -> PureDP | None:
        """The loss of any number of answers about the same values, by a device that keeps its secret.

        None where an oracle has no permanent response.
        """
        longitudinal = [oracle for oracle in self.oracles if isinstance(oracle, Longitudinal)]
        if len(longitudinal) < len(self.oracles):
            return None
        return PureDP(epsilon=sum(Fraction(oracle.lifetime.epsilon) for oracle in longitudinal))

    def perturb(self, codes: Codes, *, rng: Generator, secrets: Secrets | None = None, slot: Slot = FIRST) -> Payloads:
        """Return a payload for every device.

        Args:
            codes: shape (attributes, devices).
            rng: a secure generator.
            secrets: of the devices, for permanent responses; an oracle without one has no use for them.
            slot: of the first attribute, see `Collection.slot`; the others follow.

        Raises:
            ValueError: a value is not one of its attribute's (it is not shown), or secrets of a wrong shape.
        """
        if self.together:
            return _answers(self.oracles[0], codes[list(self.axes)], rng, secrets, slot)
        parts = [
            _answers(oracle, codes[axis], rng, secrets, slot.after(place))
            for place, (axis, oracle) in enumerate(self.pairs)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def faults(self, payloads: Payloads) -> dict[str, Mask]:
        """Return by reason which payloads the oracles cannot have made."""
        found: dict[str, Mask] = {}
        for oracle, own in zip(self.oracles, self._split(payloads), strict=True):
            for reason, mask in oracle.faults(own).items():
                found[reason] = found[reason] | mask if reason in found else mask
        return found

    def tally(self, payloads: Payloads) -> Tally:
        """Return the oracles' tallies, one after the other, and the number of payloads last."""
        if self.bits is not None:
            return np.append(self.bits.tally(payloads), len(payloads))
        pairs = zip(self.oracles, self._split(payloads), strict=True)
        tallies = [oracle.tally(own) for oracle, own in pairs]
        return np.concatenate([*tallies, np.array([len(payloads)], dtype=np.int64)])

    def estimates(self, tally: Tally, everybody: int) -> list[tuple[Array, Array]]:
        """Return counts and variances of every axis, for all `everybody` users of whom these answered by lot.

        A lot of N_i users out of N stands for all of them: counts times N / N_i, and the variance of the lot,
        N^2 f (1 - f) (N - N_i) / (N - 1) / N_i, on top.
        """
        users = int(tally[-1])
        scale = everybody / users
        found = []
        sizes = [oracle.tally(np.zeros((0, oracle.width), dtype=np.uint8)).size for oracle in self.oracles]
        for oracle, own in zip(self.oracles, np.split(tally[:-1], np.cumsum(sizes)[:-1]), strict=True):
            measured = oracle.estimate(own, users)
            share = np.clip(measured.answers / users, 0, 1)
            lot = everybody**2 * share * (1 - share) * rest(everybody, users) / users
            found.append((measured.answers * scale, np.asarray(measured.variance * scale**2 + lot)))
        return found

    def _split(self, payloads: Payloads) -> list[Payloads]:
        return np.split(payloads, np.cumsum([oracle.width for oracle in self.oracles])[:-1], axis=1)


def _answers(oracle: Oracle, codes: Codes, rng: Generator, secrets: Secrets | None, slot: Slot) -> Payloads:
    if secrets is not None and isinstance(oracle, Longitudinal):
        return oracle.perturb(codes, rng=rng, secrets=secrets, slot=slot)
    return oracle.perturb(codes, rng=rng)


def rest(everybody: int, asked: float) -> float:
    """Return (N - N_i) / (N - 1): what remains of a mean's variance where N_i of N are drawn without replacement."""
    return (everybody - asked) / max(everybody - 1, 1)


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
    """Return the promise that spends most: what a collection of several questions promises."""
    return max(claims, key=_epsilon)


def _epsilon(claim: Claim) -> float:
    return float(claim.proven.epsilon) if isinstance(claim.proven, PureDP) else float("inf")
