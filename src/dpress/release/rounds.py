"""A collection in rounds: who reports in which one, and the design of the next.

design of a round -> reports -> release of what there is so far -> design of the next round.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import numpy as np

from dpress.core import rng as generators
from dpress.core.design import Design, LocalAsk, collection_id
from dpress.core.errors import NotSupported
from dpress.core.rng import Generator
from dpress.mechanisms.protocol.collection import Collection, Drawn
from dpress.mechanisms.protocol.rounds import in_rounds, round_of
from dpress.noise import permanent
from dpress.noise.permanent import Secrets
from dpress.noise.uniform import below
from dpress.release.designs import estimator_of, local_ask, promise
from dpress.release.release import Release

NEXT = "next.json"
NOBODY = -1  # the report type of a device that reports in another round


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The user groups of all rounds of a collection: every report type of every round has one.

    Args:
        types: how many report types every round has.
        number: of this round, from 0.
        key: the 16 bytes that name the collection in all rounds.
    """

    types: tuple[int, ...]
    number: int
    key: bytes

    @property
    def all(self) -> int:
        """How many there are."""
        return sum(self.types)

    @property
    def asked(self) -> Drawn:
        """For every group the report type of this round, or NOBODY."""
        mine = np.array([round_of(self.types, group) == self.number for group in range(self.all)])
        return np.where(mine, np.arange(self.all) - sum(self.types[: self.number]), NOBODY)


def groups(design: Design) -> Groups | None:
    """Return the user groups of a collection in rounds; None where there is one round."""
    ask = design.ask
    if not isinstance(ask, LocalAsk) or ask.rounds is None:
        return None
    return Groups(types=ask.rounds.types, number=ask.rounds.number, key=collection_id(ask))


def drawing(own: Groups) -> Callable[[int, Generator], Drawn]:
    """Return how the report types of simulated devices are drawn, so many at a time, in the order of the file.

    The group of a device is a function of its number in the file and of the collection's name: the same in every round,
    so that nobody reports twice, and independent of anybody's values. NOBODY for who reports in another round.
    """
    numbers = generators.seeded(int.from_bytes(own.key, "big"))  # no noise: anybody may know them
    asked = own.asked

    def draw(devices: int, rng: Generator) -> Drawn:
        del rng  # the same devices must draw the same in another run
        return asked[below(own.all, devices, rng=numbers)]

    return draw


def type_of(own: Groups, secrets: Secrets) -> int:
    """Return the report type of this round that a device answers; its secret draws its group once for all rounds.

    Raises:
        NotSupported: it reports in another round.
    """
    group = int(permanent.questions(secrets, own.all, spec=own.key)[0])
    if (found := int(own.asked[group])) == NOBODY:
        wanted = round_of(own.types, group)
        raise NotSupported(f"this device reports in round {wanted}, not in round {own.number}: it sends nothing")
    return found


def next_design(release: Release) -> Design | None:
    """Return the design of the round after the one that a release is of; None after the last, or without rounds.

    It is a function of the release alone, so that whoever has the release can check it.
    """
    collection, design = release.mechanism, release.design
    own = in_rounds(collection.estimator) if isinstance(collection, Collection) else None
    if own is None or not isinstance(collection, Collection) or not isinstance(design.ask, LocalAsk):
        return None
    following = own.following(collection.split_tally(release.kept))
    if following is None:
        return None
    grown = Collection(shape=collection.shape, types=following.types, split=collection.split, estimator=following)
    ask = local_ask(grown, design.schema, first=collection_id_hex(design))
    return msgspec.structs.replace(
        design, ask=ask, round=following.round, estimator=estimator_of(grown), claim=promise(grown.claim)
    )


def collection_id_hex(design: Design) -> str:
    """Return the id of the first round's ask."""
    ask = design.ask
    first = ask.rounds.collection if isinstance(ask, LocalAsk) and ask.rounds is not None else ""
    return first or design.id


def users_before(release: Release) -> int:
    """Return how many of a release's users answered in earlier rounds."""
    collection = release.mechanism
    own = in_rounds(collection.estimator) if isinstance(collection, Collection) else None
    return 0 if own is None else own.before
