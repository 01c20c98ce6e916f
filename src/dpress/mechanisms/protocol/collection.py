"""A collection under local privacy: which device answers which report type, and what the answers add up to.

codes -> ReportType -> payloads -> tallies -> Estimator -> Measurement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Payloads, Tally
from dpress.inference.interval import Tail
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import ReportType, largest
from dpress.noise import permanent
from dpress.noise.permanent import Secrets, Slot
from dpress.noise.uniform import below

Split = Literal["users", "budget"]
SPLITS: tuple[Split, ...] = ("users", "budget")
TypeNumbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Answers from devices that trust nobody.

    Promise: every report keeps the promise of its type, whatever the collector does; proven. With split = "users" a
    device answers one type, drawn at random, with the whole epsilon; with "budget" it answers all attributes at once,
    each with an equal part of epsilon, which add up.
    Error: the estimator's.
    Paper: local.

    Args:
        shape: the number of cells of every attribute.
        types: what is reported.
        split: what is divided among the attributes.
        estimator: of the answers.
        users: how many took part; 0 while it is planned.
    """

    shape: tuple[int, ...]
    types: tuple[ReportType, ...]
    split: Split
    estimator: Estimator
    users: int = 0

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the types'."""
        return largest([report_type.claim for report_type in self.types])

    @property
    def lifetime(self) -> PureDP | None:
        """The loss of any number of reports of the same values: the largest of the types', or None.

        A device with a secret answers the same type for ever.
        """
        lifetimes = [report_type.lifetime for report_type in self.types]
        bounded = [lifetime for lifetime in lifetimes if lifetime is not None]
        return max(bounded, key=lambda lifetime: lifetime.epsilon) if len(bounded) == len(lifetimes) else None

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is: a sum over many independent devices."""
        return "gaussian"

    @property
    def decoder(self) -> Any:
        """How tables, or the map, are made of a measurement."""
        return self.estimator.decoder(self.users)

    @property
    def weights(self) -> tuple[int, ...]:
        """The sampling weights of the types."""
        return tuple(report_type.weight for report_type in self.types)

    def drawn(self, devices: int, *, rng: Generator, secrets: Secrets | None = None, key: bytes = b"") -> TypeNumbers:
        """Return the type that each device answers, at random; with its secret a device always draws the same.

        Another type at every round would spend another lifetime's loss.

        Args:
            devices: how many.
            rng: a secure generator, for devices without a secret.
            secrets: of the devices.
            key: the 16 bytes that name the collection (`document.design.collection_id`).
        """
        ends = np.cumsum(self.weights)
        total = int(ends[-1])
        drawn = (
            below(total, devices, rng=rng) if secrets is None else permanent.user_groups(secrets, total, collection=key)
        )
        return np.asarray(np.searchsorted(ends, drawn, side="right"), dtype=np.int64)

    def slot(self, number: int, key: bytes) -> Slot:
        """Return where the permanent responses of a type begin: attributes are numbered through all types."""
        return Slot(collection=key, number=sum(len(report_type.axes) for report_type in self.types[:number]))

    def tally(self, number: int, payloads: Payloads) -> Tally:
        """Return what payloads of one type add up to, and their number last."""
        return self.estimator.tally(self.types[number], payloads)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The length of every type's tally."""
        return tuple(self.tally(number, report_type.nothing).size for number, report_type in enumerate(self.types))

    def split_tally(self, total: Tally) -> list[Tally]:
        """Return every type's tally from all of them, one after the other."""
        return np.split(total, np.cumsum(self.sizes)[:-1])

    def tallies_in(self, kept: Tally) -> list[Tally]:
        """Return every type's tally from what a release keeps, which may have more behind them."""
        return self.split_tally(kept[: sum(self.sizes)])

    @property
    def width(self) -> int:
        """The bytes of the largest payload of a report."""
        return max(report_type.width for report_type in self.types)

    @property
    def most_asked(self) -> int:
        """How many attributes a device is asked about at most."""
        return max(len(report_type.axes) for report_type in self.types)

    def counted(self, tallies: Sequence[Tally]) -> "Collection":
        """Return the collection with the number of users who took part, in this round and before."""
        users = self.estimator.before + sum(int(tally[-1]) for tally in tallies)
        return replace(self, users=users, estimator=self.estimator.ended())

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the answers that the tallies give.

        Raises:
            ValueError: a type has no answer that the estimate cannot do without.
        """
        return self.estimator.measurement(tallies)

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all published cells."""
        return self.estimator.mean_variance(users)


def as_collection(mechanism: object) -> Collection | None:
    """Return a mechanism as the collection that it is, None where a curator measures: nothing else asks which it is."""
    return mechanism if isinstance(mechanism, Collection) else None


def method_of(mechanism: object) -> Any:
    """Return what a method's file defines: of a collection its estimator, of a curator's method the mechanism."""
    return mechanism if (collection := as_collection(mechanism)) is None else collection.estimator
