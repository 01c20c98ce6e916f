"""A collection under local privacy: which device answers which question, and what the answers add up to.

values -> Question -> payloads -> tally -> Measurement of one table for every attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim, PureDP, composed
from dpress.core.linear import Array, Marginal, Stack
from dpress.core.measurement import Measurement
from dpress.core.oracle import Mask, Oracle, Payloads, Tally
from dpress.core.rng import Generator
from dpress.estimate.interval import Tail
from dpress.estimate.one_way import OneWay
from dpress.noise.uniform import below

Split = Literal["users", "budget"]
SPLITS: tuple[Split, ...] = ("users", "budget")
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one report answers: one attribute, or several with an oracle for each, side by side in the payload.

    Args:
        axes: the attributes that are asked for.
        oracles: one for every axis.
    """

    axes: tuple[int, ...]
    oracles: tuple[Oracle, ...]

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

    def perturb(self, codes: Codes, *, rng: Generator) -> Payloads:
        """Return a payload for every device; codes has shape (attributes, devices)."""
        pairs = zip(self.axes, self.oracles, strict=True)
        return np.concatenate([oracle.perturb(codes[axis], rng=rng) for axis, oracle in pairs], axis=1)

    def faults(self, payloads: Payloads) -> dict[str, Mask]:
        """Return by reason which payloads the oracles cannot have made."""
        found: dict[str, Mask] = {}
        for oracle, own in zip(self.oracles, self._split(payloads), strict=True):
            for reason, mask in oracle.faults(own).items():
                found[reason] = found[reason] | mask if reason in found else mask
        return found

    def tally(self, payloads: Payloads) -> Tally:
        """Return the oracles' tallies, one after the other, and the number of payloads last."""
        pairs = zip(self.oracles, self._split(payloads), strict=True)
        tallies = [oracle.tally(own) for oracle, own in pairs]
        return np.concatenate([*tallies, np.array([len(payloads)], dtype=np.int64)])

    def estimates(self, tally: Tally, everybody: int) -> list[tuple[Array, Array]]:
        """Return counts and variances of every axis, for all `everybody` users of whom these answered by lot.

        A lot of N_i users out of N stands for all of them: counts times N / N_i, and the variance of the lot,
        N^2 f (1 - f) (1 - N_i / N) / N_i, on top.
        """
        users = int(tally[-1])
        scale = everybody / users
        found = []
        sizes = [oracle.tally(np.zeros((0, oracle.width), dtype=np.uint8)).size for oracle in self.oracles]
        for oracle, own in zip(self.oracles, np.split(tally[:-1], np.cumsum(sizes)[:-1]), strict=True):
            measured = oracle.estimate(own, users)
            share = np.clip(measured.answers / users, 0, 1)
            lot = everybody**2 * share * (1 - share) * (1 - users / everybody) / users
            found.append((measured.answers * scale, np.asarray(measured.variance * scale**2 + lot)))
        return found

    def _split(self, payloads: Payloads) -> list[Payloads]:
        return np.split(payloads, np.cumsum([oracle.width for oracle in self.oracles])[:-1], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """One-way tables from devices that trust nobody.

    Promise: every report keeps the promise of its question, whatever the collector does; proven. With split = "users" a
    device answers one question, drawn by lot, with the whole epsilon; with "budget" it answers all attributes at once,
    each with an equal part of epsilon, which add up.
    Error: the oracle's variance, and that of the lot; see `Question.estimates`.
    Paper: local.

    Args:
        shape: the number of cells of every attribute.
        questions: that cover every attribute once.
        split: what is divided among the attributes.
        users: how many took part; 0 while it is planned.
    """

    shape: tuple[int, ...]
    questions: tuple[Question, ...]
    split: Split
    users: int = 0

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the questions'."""
        return max((_together(question.claims) for question in self.questions), key=_size)

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is: a sum over many independent devices."""
        return "gaussian"

    @property
    def decoder(self) -> OneWay:
        """One table for every attribute."""
        return OneWay(self.shape, self.users)

    def drawn(self, devices: int, *, rng: Generator) -> npt.NDArray[np.int64]:
        """Return the question that each device answers, drawn evenly."""
        return below(len(self.questions), devices, rng=rng)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The length of every question's tally."""
        return tuple(question.tally(question.nothing).size for question in self.questions)

    def split_tally(self, total: Tally) -> list[Tally]:
        """Return every question's tally from all of them, one after the other."""
        return np.split(total, np.cumsum(self.sizes)[:-1])

    def counted(self, tallies: Sequence[Tally]) -> "Collection":
        """Return the collection with the number of users who took part."""
        return replace(self, users=sum(int(tally[-1]) for tally in tallies))

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the estimated tables of all attributes.

        Raises:
            ValueError: a question has no answer.
        """
        empty = [place for place, tally in enumerate(tallies) if not tally[-1]]
        if empty:
            raise ValueError(f"no report answers question {empty[0]}; every attribute needs at least one")
        everybody = sum(int(tally[-1]) for tally in tallies)
        by_axis: dict[int, tuple[Array, Array]] = {}
        for question, tally in zip(self.questions, tallies, strict=True):
            by_axis |= dict(zip(question.axes, question.estimates(tally, everybody), strict=True))
        counts, variances = zip(*(by_axis[axis] for axis in range(len(self.shape))), strict=True)
        return Measurement(map=self.map, answers=np.concatenate(counts), variance=np.concatenate(variances))

    @property
    def map(self) -> Stack:
        """The tables that are estimated, one after the other."""
        return Stack(tuple(Marginal(self.shape, (axis,)) for axis in range(len(self.shape))))

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all cells, were all values equally frequent."""
        asked = users / len(self.questions)
        total = 0.0
        for question in self.questions:
            for axis, oracle in zip(question.axes, question.oracles, strict=True):
                share = 1 / self.shape[axis]
                lot = users**2 * share * (1 - share) * (1 - asked / users) / asked
                total += self.shape[axis] * (_per_user(oracle, share) * asked * (users / asked) ** 2 + lot)
        return total / sum(self.shape)


def _per_user(oracle: Oracle, share: float) -> float:
    """Return the variance that one report adds to a cell's estimate: variances add up over independent reports."""
    return oracle.variance(1 << 30, share) / (1 << 30)


def _together(claims: Sequence[Claim]) -> Claim:
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


def _size(claim: Claim) -> float:
    return float(claim.proven.epsilon) if isinstance(claim.proven, PureDP) else float("inf")
