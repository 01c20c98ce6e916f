"""A collection under local privacy: which device answers which question, and what the answers add up to.

values -> Question -> payloads -> tally -> Measurement of one table for every attribute.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim, PureDP
from dpress.core.linear import Array, Marginal, Stack
from dpress.core.measurement import Measurement
from dpress.core.oracle import Oracle, Payloads, Tally
from dpress.core.rng import Generator
from dpress.inference.interval import Tail
from dpress.mechanisms.protocol.report_type import Question, largest, per_user, rest, together
from dpress.mechanisms.protocol.rounds import in_rounds
from dpress.noise import permanent
from dpress.noise.permanent import Secrets
from dpress.noise.uniform import below

if TYPE_CHECKING:  # what estimates the answers; a device asks and perturbs without it
    from dpress.inference.joint.contrast import Contrast
    from dpress.inference.joint.factors import Joint
    from dpress.inference.separate_tables import Separate
    from dpress.mechanisms.spatial.map_decoder import MapCollector, MapDecoder

Split = Literal["users", "budget"]
SPLITS: tuple[Split, ...] = ("users", "budget")
Drawn = npt.NDArray[np.int64]


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

    def fit(self, tallies: Sequence[Tally], payloads: Callable[[], Iterable[Payloads]]) -> "Joint":
        """Return the joint distribution that is fitted to the tallies, or to the reports if they are needed again."""
        ...

    def contrasts(self, tallies: Sequence[Tally]) -> "tuple[Contrast, ...]":
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
        spatial: of a map, whose two attributes are the places across and up; None for tables.
        weights: how many lots of all each question has; empty where all have one.
    """

    shape: tuple[int, ...]
    questions: tuple[Question, ...]
    split: Split
    users: int = 0
    estimator: Estimator | None = None
    spatial: "MapCollector | None" = None
    weights: tuple[int, ...] = ()

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the questions'."""
        return largest([together(question.claims) for question in self.questions])

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
    def decoder(self) -> "Separate | MapDecoder":
        """One table for every attribute, or the estimator's; or a map."""
        from dpress.inference.separate_tables import Separate  # noqa: PLC0415  # a device estimates nothing
        from dpress.mechanisms.spatial.map_decoder import MapDecoder  # noqa: PLC0415

        if self.spatial is not None:
            return MapDecoder(self.spatial, self.users)
        if self.estimator is not None:
            own = getattr(self.estimator, "inflation", ())  # most say nothing
            return Separate(self.shape, self.estimator.tables, self.users, own)
        by_axis = {axis: oracle for question in self.questions for axis, oracle in question.pairs}
        axes = range(len(self.shape))
        inflation = tuple(_inflation(by_axis[axis]) for axis in axes)  # type: ignore[arg-type]  # oracles are frozen
        return Separate(self.shape, tuple((axis,) for axis in axes), self.users, inflation)

    def drawn(self, devices: int, *, rng: Generator, secrets: Secrets | None = None, spec: bytes = b"") -> Drawn:
        """Return the question that each device answers, by lot; with its secret a device always draws the same.

        Another question at every round would spend another lifetime's loss.
        """
        ends = np.cumsum(self.weights or (1,) * len(self.questions))
        lots = int(ends[-1])
        drawn = below(lots, devices, rng=rng) if secrets is None else permanent.questions(secrets, lots, spec=spec)
        return np.searchsorted(ends, drawn, side="right") if self.weights else drawn

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
        """Return the collection with the number of users who took part, in this round and before."""
        users = sum(int(tally[-1]) for tally in tallies)
        if (own := in_rounds(self.spatial)) is not None:
            return replace(self, users=users + own.before, spatial=own.ended())
        return replace(self, users=users)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the estimated tables of all attributes.

        Raises:
            ValueError: a question has no answer.
        """
        if self.spatial is not None:
            return self.spatial.estimate(tallies)
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
        if self.spatial is not None:
            return self.spatial.mean_variance(users)
        if self.estimator is not None:
            return self.estimator.mean_variance(users)
        asked = users / len(self.questions)
        total = 0.0
        for question in self.questions:
            for axis, oracle in zip(question.axes, question.oracles, strict=True):
                share = 1 / self.shape[axis]
                lot = users**2 * share * (1 - share) * rest(users, asked) / asked
                total += self.shape[axis] * (per_user(oracle, share) * asked * (users / asked) ** 2 + lot)
        return total / sum(self.shape)


@functools.lru_cache(maxsize=64)
def _inflation(oracle: Oracle) -> float:
    """Return by how much sums of an oracle's counts may vary more than the sum of their variances; most say nothing."""
    return float(getattr(oracle, "inflation", 1.0))
