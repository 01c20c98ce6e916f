"""Who is asked what under local privacy: every oracle, for one attribute a user or for all at once."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

from dpress import catalog
from dpress.core.attribute import Listed, Tabular
from dpress.core.claim import PureDP, describe
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card
from dpress.core.oracle import Oracle
from dpress.core.wire import HASH_BYTES
from dpress.data.spec import Spec, as_dict
from dpress.inference import frequencies
from dpress.mechanisms.oracle.subset_selection import design
from dpress.mechanisms.protocol.collection import SPLITS, Collection, Split
from dpress.mechanisms.protocol.report_type import Question, rest

USERS = 10_000  # who take part, unless the spec says how many
OWN = ("split", "users", "round", "tables", "ways")  # parameters that are not the oracle's
PASSING = ("users", "area", "round", "earlier", "nodes")  # parameters that change nothing for devices, or by round
MOST_CELLS = 1 << 26  # of an attribute: an estimate holds all of them
MOST_NAMES = 1 << 16  # cells that are listed as candidate strings
LONGEST = 1 << 16  # bytes of a report
MOST_WORK = 1 << 38  # steps of a collector
WEAK = 20  # an epsilon beyond it hides next to nothing
DENSE = ("rappor", "pcep")  # their estimates take k^3 steps
MOST_DENSE = 1 << 10  # values
PER_REPORT = ("olh",)  # its collector takes k steps for every report


def collections(spec: Spec) -> Iterator[tuple[str, Collection]]:
    """Yield by method every collection that could serve the spec; a slow or bulky one only where it is named.

    Raises:
        NotSupported: the budget is no epsilon, the unit is not the row, or an attribute has too many cells.
        ValueError: a parameter is wrong.
    """
    check_cells(spec)
    own = {name: value for name, value in spec.release.parameters.items() if name not in OWN}
    oracles = {name: card for name, card in catalog.cards().items() if card.oracle is not None}
    cards = [card for card in oracles.values() if set(own) <= set(card.parameters)]
    _check_parameters(own, oracles.get(spec.release.method), cards)
    for card in cards:
        for split in _splits(spec):
            if spec.release.method == card.name or _light(spec, card):
                collection = _collection(spec, card, split, own)
                if collection is not None and (spec.release.method == card.name or _short(collection)):
                    yield card.name, collection


def check_cells(spec: Spec) -> None:
    """Refuse an attribute whose counts nobody could hold, before any report is made.

    Raises:
        NotSupported: it has more than 2^26 cells.
    """
    for name, size in zip(spec.schema.names, spec.schema.shape, strict=True):
        if size > MOST_CELLS:
            raise NotSupported(f"{name!r} has {size:,} cells; at most {MOST_CELLS:,} cells are estimated; use `bins`")


def _check_parameters(own: dict[str, Any], named: Card | None, cards: list[Card]) -> None:
    if own and not cards:
        raise ValueError(f"$.release.parameters: unknown parameter {min(own)!r} for a local collection")
    if named is not None and (unknown := set(own) - set(named.parameters)):
        raise ValueError(f"$.release.parameters: unknown parameter {min(unknown)!r} for {named.name}")


def _light(spec: Spec, card: Card) -> bool:
    """Say whether a collector can do it without being asked to: the size of the domain decides."""
    largest = max(spec.schema.shape)
    if card.name in DENSE:
        return largest <= MOST_DENSE
    return card.name not in PER_REPORT or largest * expected_users(spec) <= MOST_WORK


def _short(collection: Collection) -> bool:
    return max(question.width for question in collection.questions) <= LONGEST


def spec_id(spec: Spec) -> bytes:
    """Return what names the spec in a report: the first 16 bytes of its hash."""
    return bytes.fromhex(spec.hash)[:HASH_BYTES]


def asked_id(spec: Spec) -> bytes:
    """Return what names what devices are asked: the spec's hash but for what changes nothing for them.

    Permanent responses depend on it, so that another number of users, another round or other post-processing is no new
    charge; and so does the lot that says in which round a device reports.
    """
    plain = as_dict(spec)
    plain["release"].pop("postprocess", None)
    kept = {name: value for name, value in spec.release.parameters.items() if name not in PASSING}
    plain["release"]["parameters"] = kept
    canonical = msgspec.json.encode(plain, order="sorted")
    return hashlib.sha256(b"dpress asked" + canonical).digest()[:HASH_BYTES]


def caution(spec: Spec) -> str | None:
    """Return one sentence where a report gives its owner's value away for all practical purposes, else None."""
    loss = spec.privacy.loss
    if spec.privacy.model != "local" or not isinstance(loss, PureDP) or loss.epsilon <= WEAK:
        return None
    return f"epsilon = {float(loss.epsilon):g} hides next to nothing: a report's odds may change by e^{WEAK} and more"


def expected_users(spec: Spec) -> int:
    """Return how many users the plan is made for."""
    users = spec.release.parameters.get("users", USERS)
    if type(users) is not int or users < 1:
        raise ValueError(f"$.release.parameters.users: expected an integer >= 1, got {users!r}")
    return users


def round_number(spec: Spec) -> int:
    """Return the round of the collection that reports must name."""
    number = spec.release.parameters.get("round", 0)
    if type(number) is not int or not 0 <= number < 1 << 16:
        raise ValueError(f"$.release.parameters.round: expected an integer from 0 to 65535, got {number!r}")
    return number


def lower_bound(spec: Spec) -> float:
    """Return the mean variance of a cell that no oracle goes below, in counts squared: that of the optimal one.

    Source: local (subset selection attains the L2 bound; Pan 2026).
    """
    users = expected_users(spec)
    return min(_optimum(spec, split, users) for split in _splits(spec))


def _optimum(spec: Spec, split: Split, users: int) -> float:
    """Return the mean variance of a cell by subset selection, over any number of values, also more than it serves."""
    loss, shape = share(spec, split), spec.schema.shape
    asked = users if split == "budget" else users / len(shape)
    total = 0.0
    for size in shape:
        numbers, frequency = design(size, loss.epsilon), 1 / size
        one = float(frequencies.variances(1, np.asarray(frequency), numbers.p, numbers.q))
        lot = users**2 * frequency * (1 - frequency) * rest(users, asked) / asked
        total += size * (one * users**2 / asked + lot)
    return total / sum(shape)


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
    if make is None:
        return None

    def oracle(attribute: Tabular, loss: PureDP) -> Oracle | None:
        names = {"candidates": _names(attribute)} if "candidates" in card.parameters else {}
        return make(attribute.size, loss, **{**names, **own})

    return _built(spec, oracle, split)


def _names(attribute: Tabular) -> tuple[str, ...]:
    """Return the cells' names, where there are not too many to list."""
    if attribute.size > MOST_NAMES:
        return ()
    return attribute.labels if isinstance(attribute, Listed) else tuple(attribute.labels_between(0, attribute.size))


def _built(spec: Spec, make: Callable[[Tabular, PureDP], Oracle | None], split: Split) -> Collection | None:
    """Return the collection with an oracle for every attribute, or None where one does not serve."""
    shape = spec.schema.shape
    loss = share(spec, split)
    oracles = [make(attribute, loss) for attribute in spec.schema.tabular]
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
