"""What the audits of all selections of names share: released names of neighbouring tables, many copies in one call.

two tables of a few names -> disjoint copies -> the selection as it runs -> of every copy which names, by which counts.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpress.audit import sampled
from dpress.audit.bounds import Floats
from dpress.audit.checks import claimed_of, delta_check, relation_of, sampled_check
from dpress.audit.exact import ExactDelta
from dpress.audit.outcomes import Labels, Outcomes
from dpress.audit.verdict import Check, Kind
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card, NameMechanism
from dpress.core.methods.name_counts import CountNames, Integers, NameCounts, NoisyNames
from dpress.mechanisms.selection.above_threshold import EVEN, TOTAL_SHARE

DELTA = Fraction(1, 20)
"""At which selections are made for samples: events as rare as a real delta are never drawn."""
COPIES = 1 << 14
LEVELS = 8  # of the noisy count of a name, the first of which is that it is hidden
PARTS = 3  # of a standard deviation

Select = Callable[[NameCounts, Generator], NoisyNames]
Example = Callable[[Card, Loss, Unit], Any]


def beside_total(card: Card, loss: Loss, unit: Unit) -> Any:
    """Return the instance that releases a noisy total, too."""
    made: Any = card.example
    return made(loss, unit, loss.amount * TOTAL_SHARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesAudit:
    """What an audit needs of one selection of names.

    Args:
        kind: of its exact check.
        name: of what it looks at.
        loss: the largest delta at the claimed epsilon.
        example: the instance that is looked at.
        coarse: the same on a lattice whose sums of noise can be added up.
    """

    kind: Kind
    name: str
    loss: Callable[[Any, ApproxDP], ExactDelta]
    example: Example = beside_total
    coarse: Callable[[Any], Any] = lambda made: made
    WITH_DELTA: ClassVar[bool] = True

    def instance(self, card: Card, loss: Loss, unit: Unit) -> Any:
        """Return the instance that is checked exactly."""
        return self.coarse(self.example(card, loss, unit))

    def few(self, card: Card, loss: Loss, unit: Unit) -> Any:
        """Return the one whose names samples can tell of: for a large delta."""
        return self.instance(card, ApproxDP(epsilon=loss.amount, delta=DELTA), unit)

    def exact(self, made: Any) -> Iterator[Check]:
        """Yield the exact check of names, beside their total."""
        yield delta_check(self.kind, self.name, made, self.loss(made, claimed_of(made)))

    def sampled(self, made: Any, samples: int, *, rng: Generator) -> Iterator[Check]:
        """Yield the sampled checks of names, and of their total."""
        yield from selected(made, lambda names, rng: made.find(names, alone(made, names), rng=rng), samples, rng=rng)


def alone(mechanism: NameMechanism, names: NameCounts) -> CountNames:
    """Return what counts names again where every unit has one name."""
    before = mechanism.weights[0] if mechanism.weights else 1
    places = {name: place for place, name in enumerate(names.names)}

    def again(weights: Sequence[int] | None, among: Sequence[str] | None) -> NameCounts:
        left = names.names if among is None else tuple(among)
        units = names.counts[[places[name] for name in left]] // before
        return NameCounts(names=left, counts=units * (weights[0] if weights else 1), unnamed=0)

    return again


def selected(made: Any, select: Select, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of what releases names: of a name, and of the total."""
    claimed, relation, alpha = claimed_of(made), relation_of(made.unit), sampled.ALPHA / (3 * len(Relation))
    for name, source in of_names(made, select, rng=rng):
        low = sampled.epsilon_of_outcomes(source, samples, alpha=alpha, delta=float(claimed.delta))
        yield sampled_check(name, relation, claimed, low, samples=samples, alpha=alpha)
    if made.total:
        fewer = max(sampled.FEWEST, samples // 8)  # one call draws one total
        source = of_total(select, rows=made.unit.rows, rng=rng)
        low = sampled.epsilon_of_outcomes(source, fewer, alpha=alpha)
        yield sampled_check("the total", relation, PureDP(epsilon=made.total), low, samples=fewer, alpha=alpha)


def of_names(mechanism: NameMechanism, select: Select, *, rng: Generator) -> Iterator[tuple[str, Outcomes]]:
    """Yield the outcomes of a table with a unit's name and of one without: one nobody else has, and a frequent one.

    Where a unit is replaced, one name is the first unit's and another the second's.

    Args:
        mechanism: that selects; its threshold only says which tables tell most.
        select: the code as it runs.
        rng: a secure generator.
    """
    weight = mechanism.weights[0] if mechanism.weights else 1
    replaced = mechanism.claim.unit.relation is Relation.REPLACE_ONE
    change = np.array([[0, weight], [weight, 0]] if replaced else [[0], [weight]], dtype=np.int64)
    for name, others in (("a name that nobody else has", 0), ("a name that others have", mechanism.count_for(EVEN))):
        yield name, _outcomes(mechanism, select, change + others, rng)


def of_total(select: Select, *, rows: int, rng: Generator) -> Outcomes:
    """Return the noisy totals of a table, and of one with a unit's rows more: below, between, above the true ones."""
    totals = (100, 100 + rows)

    def draw(value: int, size: int) -> Labels:
        table = NameCounts(names=("a",), counts=np.array([1], dtype=np.int64), unnamed=totals[value] - 1)
        drawn = np.array([int(select(table, rng).answers[0]) for _ in range(size)])
        return np.searchsorted(np.array(totals), drawn, side="left").astype(np.int64)

    return Outcomes(values=2, labels=3, draw=draw, stated=lambda x, y: (x - y) * np.array([-1.0, 0.0, 1.0]))


def _outcomes(mechanism: Any, select: Select, tables: Integers, rng: Generator) -> Outcomes:
    names = tables.shape[1]
    step = max(1, math.ceil(math.sqrt(mechanism.variance) / PARTS))

    def labels(value: int, copies: int) -> Labels:
        counts = np.tile(tables[value], copies)
        present = np.flatnonzero(counts)
        texts = tuple(f"{place:08d}" for place in present.tolist())
        drawn = select(NameCounts(names=texts, counts=counts[present], unnamed=0), rng)
        levels = np.zeros(counts.size, dtype=np.int64)
        answers = drawn.answers[drawn.answers.size - len(drawn.names) :] - mechanism.threshold
        levels[np.array(drawn.names, dtype=np.int64)] = np.clip(1 + answers // step, 1, LEVELS - 1)
        return np.asarray(levels.reshape(copies, names) @ LEVELS ** np.arange(names), dtype=np.int64)

    def draw(value: int, size: int) -> Labels:
        return np.concatenate([labels(value, min(COPIES, size - start)) for start in range(0, size, COPIES)])

    def stated(value: int, other: int) -> Floats:
        """Released or not, of the names that one table has more of: what is seen tells better."""
        more = tables[value] > tables[other]
        released_names = np.arange(LEVELS**names)[:, None] // LEVELS ** np.arange(names) % LEVELS > 0
        return np.asarray((released_names * np.where(more, 1.0, -1.0)).sum(axis=1))

    return Outcomes(values=2, labels=LEVELS**names, draw=draw, stated=stated)
