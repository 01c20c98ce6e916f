"""Who is asked what under local privacy: every oracle, for one attribute a user or for all at once."""

from collections.abc import Iterator
from typing import Any

from dpress import catalog
from dpress.core import check
from dpress.core.claim import PureDP, describe
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card
from dpress.core.oracle import Oracle
from dpress.data.spec import Spec
from dpress.mechanisms.collection import SPLITS, Collection, Question, Split

USERS = 10_000  # who take part, unless the spec says how many
OWN = ("split", "users", "tables", "ways")  # parameters that are not the oracle's
OPTIMAL = "subset_selection"  # no oracle has a smaller total variance


def collections(spec: Spec) -> Iterator[tuple[str, Collection]]:
    """Yield by method every collection that could serve the spec.

    Raises:
        NotSupported: the budget is no epsilon, or the unit is not the row.
        ValueError: a parameter is wrong.
    """
    own = {name: value for name, value in spec.release.parameters.items() if name not in OWN}
    cards = [card for card in catalog.cards().values() if card.oracle is not None and set(own) <= set(card.parameters)]
    if own and not cards:
        raise ValueError(f"$.release.parameters: unknown parameter {min(own)!r} for a local collection")
    for card in cards:
        for split in _splits(spec):
            collection = _collection(spec, card, split, own)
            if collection is not None:
                yield card.name, collection


def expected_users(spec: Spec) -> int:
    """Return how many users the plan is made for."""
    return check.count("$.release.parameters.users", spec.release.parameters.get("users", USERS))


def lower_bound(spec: Spec) -> float:
    """Return the mean variance of a cell that no oracle goes below, in counts squared: that of the optimal one.

    Source: local (subset selection attains the L2 bound; Pan 2026).
    """
    optimal = catalog.card(OPTIMAL)
    found = [_built(spec, lambda size, loss: optimal.method(size=size, loss=loss), split) for split in _splits(spec)]
    return min(one.mean_variance(expected_users(spec)) for one in found if one is not None)


def _splits(spec: Spec) -> tuple[Split, ...]:
    """Return the ways to divide the attributes; one attribute needs none."""
    named = spec.release.parameters.get("split")
    if named is not None and named not in SPLITS:
        raise ValueError(f'$.release.parameters.split: expected "users" or "budget", got {named!r}')
    if len(spec.schema.attributes) == 1:
        return ("users",)
    return SPLITS if named is None else (named,)


def _collection(spec: Spec, card: Card, split: Split, own: dict[str, Any]) -> Collection | None:
    make = card.oracle
    return None if make is None else _built(spec, lambda size, loss: make(size, loss, **own), split)


def _built(spec: Spec, make: Any, split: Split) -> Collection | None:
    """Return the collection with an oracle for every attribute, or None where one does not serve."""
    shape = spec.schema.shape
    loss = share(spec, split)
    oracles: list[Oracle | None] = [make(size, loss) for size in shape]
    found = [oracle for oracle in oracles if oracle is not None]
    if len(found) < len(shape):
        return None
    if split == "budget":
        questions: tuple[Question, ...] = (Question(axes=tuple(range(len(shape))), oracles=tuple(found)),)
    else:
        questions = tuple(Question(axes=(axis,), oracles=(oracle,)) for axis, oracle in enumerate(found))
    return Collection(shape=shape, questions=questions, split=split)


def share(spec: Spec, split: Split) -> PureDP:
    """Return the loss of one attribute's answer."""
    privacy = spec.privacy
    if not isinstance(privacy.loss, PureDP):
        raise NotSupported(f'$.privacy: model = "local" needs `epsilon` alone, got {describe(privacy.loss)}')
    if privacy.unit != "row":
        raise NotSupported('$.privacy.unit: under model = "local" every row is one person; leave out `unit`')
    parts = len(spec.schema.attributes) if split == "budget" else 1
    return PureDP(epsilon=privacy.loss.epsilon / parts)
