"""A collection under local privacy: which device answers which question, and what the answers add up to.

values -> Question -> payloads -> tally -> Measurement of one table for every attribute.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim, PureDP, composed
from dpress.core.errors import NotSupported
from dpress.core.linear import Array, Marginal, Stack
from dpress.core.measurement import Measurement
from dpress.core.oracle import Mask, Oracle, Payloads, Tally
from dpress.core.rng import Generator
from dpress.estimate.contrast import Contrast
from dpress.estimate.interval import Tail
from dpress.estimate.joint import Joint
from dpress.estimate.separate import Separate
from dpress.noise import permanent
from dpress.noise.permanent import Secrets
from dpress.noise.uniform import below

Split = Literal["users", "budget"]
SPLITS: tuple[Split, ...] = ("users", "budget")
Codes = npt.NDArray[np.int32]
Drawn = npt.NDArray[np.int64]


@runtime_checkable
class Longitudinal(Protocol):
    """An oracle with a permanent response, which a device derives from its secret."""

    @property
    def lifetime(self) -> PureDP:
        """The loss of any number of reports of one value."""
        ...

    def perturb(self, values: Codes, *, rng: Generator, secrets: Secrets | None = None) -> Payloads:
        """Return one report for every value."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one report answers: one attribute, or several with an oracle for each, side by side in the payload.

    Args:
        axes: the attributes that are asked for.
        oracles: one for every axis; or a single one for all of them together, which takes their codes as rows.
    """

    axes: tuple[int, ...]
    oracles: tuple[Oracle, ...]

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

        None where an oracle has no permanent response, or none for its attribute.
        """
        longitudinal = [oracle for oracle in self.oracles if isinstance(oracle, Longitudinal)]
        if len(longitudinal) < len(self.oracles) or not (self.together or all(map(_has_own, self.pairs))):
            return None
        return PureDP(epsilon=sum(Fraction(oracle.lifetime.epsilon) for oracle in longitudinal))

    def perturb(self, codes: Codes, *, rng: Generator, secrets: Secrets | None = None) -> Payloads:
        """Return a payload for every device.

        Args:
            codes: shape (attributes, devices).
            rng: a secure generator.
            secrets: of the devices, for permanent responses; an oracle without one has no use for them.

        Raises:
            ValueError: a value is not one of its attribute's (it is not shown), or secrets of a wrong shape.
            NotSupported: an oracle would flip the same bits for two attributes.
        """
        if self.together:
            own, oracle = codes[list(self.axes)], self.oracles[0]
            if secrets is not None and isinstance(oracle, Longitudinal):
                return oracle.perturb(own, rng=rng, secrets=secrets)
            return oracle.perturb(own, rng=rng)
        parts = [self._perturb_one(place, codes, rng, secrets) for place in range(len(self.axes))]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _perturb_one(self, place: int, codes: Codes, rng: Generator, secrets: Secrets | None) -> Payloads:
        axis, oracle = self.axes[place], self.oracles[place]
        if secrets is None or not isinstance(oracle, Longitudinal):
            return oracle.perturb(codes[axis], rng=rng)
        if not _has_own((axis, oracle)):
            raise NotSupported("this method has no permanent response for a second attribute; name one attribute")
        return oracle.perturb(codes[axis], rng=rng, secrets=secrets)

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


def _has_own(pair: tuple[int, Oracle]) -> bool:
    """Say whether an oracle has coins of its attribute's own: two attributes' would be the same otherwise."""
    axis, oracle = pair
    return not axis or getattr(oracle, "question", None) == axis


class Estimator(Protocol):
    """How a collection about more than single attributes is estimated."""

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The axes of every published table."""
        ...

    def estimate(self, tallies: Sequence[Tally]) -> tuple[list[Array], list[Array]]:
        """Return the unbiased counts of every table, flat, and their variances."""
        ...

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell of these tables, averaged over all of them."""
        ...

    def fit(self, tallies: Sequence[Tally], payloads: Callable[[], Iterable[Payloads]]) -> Joint:
        """Return the joint distribution that is fitted to the tallies, or to the reports if they are needed again."""
        ...

    def contrasts(self, tallies: Sequence[Tally]) -> tuple[Contrast, ...]:
        """Return for every pair of attributes what its table says beyond independence, with the noise of that."""
        ...

    @property
    def from_tallies(self) -> bool:
        """Whether the tallies alone are fitted, so that who has them need not keep the fit."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Tables from devices that trust nobody: of single attributes, or what an estimator makes of the answers.

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
        estimator: of a joint distribution; None for one table for every attribute.
    """

    shape: tuple[int, ...]
    questions: tuple[Question, ...]
    split: Split
    users: int = 0
    estimator: Estimator | None = None

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the questions'."""
        return max((_together(question.claims) for question in self.questions), key=_size)

    @property
    def lifetime(self) -> PureDP | None:
        """The loss of any number of reports of the same values: the largest of the questions', or None.

        A device with a secret answers the same question for ever.
        """
        found = [question.lifetime for question in self.questions]
        known = [one for one in found if one is not None]
        return max(known, key=lambda one: one.epsilon) if len(known) == len(found) else None

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is: a sum over many independent devices."""
        return "gaussian"

    @property
    def decoder(self) -> Separate:
        """One table for every attribute, or the estimator's."""
        if self.estimator is not None:
            return Separate(self.shape, self.estimator.tables, self.users)
        by_axis = {axis: oracle for question in self.questions for axis, oracle in question.pairs}
        axes = range(len(self.shape))
        inflation = tuple(_inflation(by_axis[axis]) for axis in axes)  # type: ignore[arg-type]  # oracles are frozen
        return Separate(self.shape, tuple((axis,) for axis in axes), self.users, inflation)

    def drawn(self, devices: int, *, rng: Generator, secrets: Secrets | None = None, spec: bytes = b"") -> Drawn:
        """Return the question that each device answers, drawn evenly; with its secret a device always draws the same.

        Another question at every round would spend another lifetime's loss.
        """
        if secrets is None:
            return below(len(self.questions), devices, rng=rng)
        return permanent.questions(secrets, len(self.questions), spec=spec)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The length of every question's tally."""
        return tuple(question.tally(question.nothing).size for question in self.questions)

    def split_tally(self, total: Tally) -> list[Tally]:
        """Return every question's tally from all of them, one after the other."""
        return np.split(total, np.cumsum(self.sizes)[:-1])

    def unanswered(self, tallies: Sequence[Tally]) -> tuple[int, ...]:
        """Return the attributes of the questions that nobody answered."""
        pairs = zip(self.questions, tallies, strict=True)
        return tuple(sorted({axis for question, tally in pairs if not tally[-1] for axis in question.axes}))

    def counted(self, tallies: Sequence[Tally]) -> "Collection":
        """Return the collection with the number of users who took part."""
        return replace(self, users=sum(int(tally[-1]) for tally in tallies))

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the estimated tables of all attributes.

        Raises:
            ValueError: a question has no answer.
        """
        if self.estimator is None and (empty := self.unanswered(tallies)):
            raise ValueError(f"no report answers a question about attributes {list(empty)}; each needs at least one")
        if self.estimator is not None:
            counts, variances = self.estimator.estimate(tallies)
            return Measurement(map=self.map, answers=np.concatenate(counts), variance=np.concatenate(variances))
        everybody = sum(int(tally[-1]) for tally in tallies)
        by_axis: dict[int, tuple[Array, Array]] = {}
        for question, tally in zip(self.questions, tallies, strict=True):
            by_axis |= dict(zip(question.axes, question.estimates(tally, everybody), strict=True))
        answers, spread = zip(*(by_axis[axis] for axis in range(len(self.shape))), strict=True)
        return Measurement(map=self.map, answers=np.concatenate(answers), variance=np.concatenate(spread))

    @property
    def map(self) -> Stack:
        """The tables that are estimated, one after the other."""
        return Stack(tuple(Marginal(self.shape, axes) for axes in self.decoder.tables))

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all cells, were all values equally frequent."""
        if self.estimator is not None:
            return self.estimator.mean_variance(users)
        asked = users / len(self.questions)
        total = 0.0
        for question in self.questions:
            for axis, oracle in zip(question.axes, question.oracles, strict=True):
                share = 1 / self.shape[axis]
                lot = users**2 * share * (1 - share) * rest(users, asked) / asked
                total += self.shape[axis] * (_per_user(oracle, share) * asked * (users / asked) ** 2 + lot)
        return total / sum(self.shape)


@functools.lru_cache(maxsize=64)
def _inflation(oracle: Oracle) -> float:
    """Return by how much sums of an oracle's counts may vary more than the sum of their variances; most say nothing."""
    return float(getattr(oracle, "inflation", 1.0))


def rest(everybody: int, asked: float) -> float:
    """Return (N - N_i) / (N - 1): what remains of a mean's variance where N_i of N are drawn without replacement."""
    return (everybody - asked) / max(everybody - 1, 1)


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
