"""Who reports in which round of a collection: every report type of every round has one user group.

secret, or the number of a simulated device -> user group -> report type of this round, or none.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.document.design import Design, collection_id
from dpress.mechanisms.protocol.collection import TypeNumbers
from dpress.mechanisms.protocol.rounds import round_of
from dpress.noise import permanent
from dpress.noise.permanent import Secrets
from dpress.noise.uniform import below

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
    def asked(self) -> TypeNumbers:
        """For every group the report type of this round, or NOBODY."""
        mine = np.array([round_of(self.types, group) == self.number for group in range(self.all)])
        return np.where(mine, np.arange(self.all) - sum(self.types[: self.number]), NOBODY)


def user_groups(design: Design) -> Groups | None:
    """Return the user groups of a collection in rounds; None where there is one round."""
    ask = design.ask.of_devices
    if ask is None or ask.rounds is None:
        return None
    return Groups(types=ask.rounds.types, number=ask.rounds.number, key=collection_id(ask))


def drawing(groups: Groups) -> Callable[[int, Generator], TypeNumbers]:
    """Return how the report types of simulated devices are drawn, so many at a time, in the order of the file.

    The group of a device is a function of its number in the file and of the collection's name: the same in every round,
    so that nobody reports twice, and independent of anybody's values. NOBODY for who reports in another round.
    """
    numbers = generators.seeded(int.from_bytes(groups.key, "big"))  # no noise: anybody may know them
    types = groups.asked

    def draw(devices: int, rng: Generator) -> TypeNumbers:
        del rng  # the same devices must draw the same in another run
        return types[below(groups.all, devices, rng=numbers)]

    return draw


def type_of(groups: Groups, secrets: Secrets) -> int:
    """Return the report type of this round that a device answers; its secret draws its group once for all rounds.

    Raises:
        NotSupported: it reports in another round.
    """
    group = int(permanent.user_groups(secrets, groups.all, collection=groups.key)[0])
    if (drawn := int(groups.asked[group])) == NOBODY:
        wanted = round_of(groups.types, group)
        raise NotSupported(f"this device reports in round {wanted}, not in round {groups.number}: it sends nothing")
    return drawn
