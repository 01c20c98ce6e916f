"""What the room of a kind says of what its releases keep; where it says nothing, the integers and the design say all.

tallies, or what a mechanism drew -> `KeptAnswers` -> release -> `ReleaseAnswers`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.rng import Generator
from dpress.core.maps.workload import Areas, Workload
from dpress.core.methods.mechanism import Mechanism
from dpress.core.reports.oracle import Tally
from dpress.core.reports.pieces import PayloadPieces
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.answers import KeptAnswers, ReleaseAnswers
from dpress.query.release import Release

Own_co = TypeVar("Own_co", bound=ReleaseAnswers, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(Generic[Own_co]):
    """How a kind answers: `ANSWERING` of its `answers.py`.

    Args:
        answers: makes the answers of a `release`, called by that name.
        predicted: the exact error of a mechanism over a workload; None where only a plan predicts it.
        supposed: whether that depends on how people are supposed to lie: other versions may suppose otherwise.
        typical: where a release states the error of its own answers instead.
        tallied: what is kept of a collection's tallies alone, also while reports arrive: nothing that takes long.
        fitted: what is kept where reports are read again, and so many records may be drawn.
        measured: what is kept of what a mechanism drew of a table; it may draw what is not private.
        restored: what a folder holds beside the kept integers, from its description.
    """

    answers: Callable[..., Own_co]
    predicted: Callable[[Mechanism, Workload | Areas], float | None] = lambda *_: None
    supposed: Callable[[Mechanism], bool] = lambda _: False
    typical: Callable[[Release], float] | None = None
    tallied: Callable[[Collection, list[Tally]], KeptAnswers] = lambda _, tallies: all_tallies(tallies)
    fitted: Callable[[Collection, list[Tally], PayloadPieces, int], KeptAnswers] | None = None
    measured: Callable[[Mechanism, Any, Schema, Generator], KeptAnswers] = lambda _, drawn, *__: KeptAnswers(
        answers=drawn.answers
    )
    restored: Callable[[Release, Mapping[str, Any], Path], Any] = lambda *_: None

    def of(self, release: Release) -> Own_co:
        """Return the answers of a release of this kind; they are made once."""
        answers: Any = release.answers
        return answers  # type: ignore[no-any-return]  # made by `answers`

    def collected(
        self, collection: Collection, tallies: list[Tally], payloads: PayloadPieces, records: int = 0
    ) -> KeptAnswers:
        """Return what is kept of a collection, of which all reports are there."""
        if self.fitted is None:
            return self.tallied(collection, tallies)
        return self.fitted(collection, tallies, payloads, records)


def all_tallies(tallies: list[Tally]) -> KeptAnswers:
    """Return the tallies of all report types, one after the other."""
    return KeptAnswers(answers=np.concatenate(tallies))
