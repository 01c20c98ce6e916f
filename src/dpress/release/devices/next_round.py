"""The design of the next round of a collection, from what came out of this one.

release of what there is so far -> design of the next round.
"""

from typing import Any

import msgspec

from dpress.attributes.domain import Schema
from dpress.document.design import Design
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.designs import estimator_of, local_ask, promise
from dpress.query.release import Release

NEXT = "next.json"


def next_design(release: Release) -> Design | None:
    """Return the design of the round after the one that a release is of; None after the last, or without rounds.

    It is a function of the release alone, so that whoever has the release can check it.
    """
    collection, design = release.collection, release.design
    if collection is None:
        return None
    following: Any = collection.estimator.following(collection.split_tally(release.kept))
    if following is None:
        return None
    schema = Schema(following.coded(design.schema.tabular))
    grown = Collection(shape=schema.shape, types=following.types, split=collection.split, estimator=following)
    ask = local_ask(grown, schema, first=_first(design))
    return msgspec.structs.replace(
        design, ask=ask, round=following.round, estimator=estimator_of(grown), claim=promise(grown.claim)
    )


def _first(design: Design) -> str:
    """Return the id of the first round's ask."""
    rounds = design.ask.rounds
    return design.id if rounds is None else rounds.collection or design.id


def users_before(release: Release) -> int:
    """Return how many of a release's users answered in earlier rounds."""
    return 0 if release.collection is None else release.collection.estimator.before
