"""What a release keeps where its integers, noisy answers or tallies, and the design say all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Mechanism
from dpress.core.reports.oracle import Tally
from dpress.core.reports.pieces import PayloadPieces, no_payloads
from dpress.mechanisms.protocol.collection import Collection, as_collection
from dpress.query.answers import KeptAnswers
from dpress.query.release import Release


def predicted(mechanism: Mechanism, workload: object) -> float | None:
    """Return the mean variance of a count, in counts squared, that the method states for the number of users."""
    del workload
    collection = as_collection(mechanism)
    return None if collection is None else collection.mean_variance(collection.users)


def collected(collection: Collection, tallies: list[Tally], payloads: PayloadPieces) -> KeptAnswers:
    """Return the tallies of all report types, one after the other; the reports are not needed again."""
    del collection, payloads
    return KeptAnswers(answers=np.concatenate(tallies))


def live(collection: Collection, tallies: list[Tally]) -> KeptAnswers:
    """Return the same while reports arrive."""
    return collected(collection, tallies, no_payloads)


def measured(mechanism: object, drawn: Measurement, schema: object, *, rng: object) -> KeptAnswers:
    """Return the noisy answers."""
    del mechanism, schema, rng
    return KeptAnswers(answers=drawn.answers)


def restored(release: Release, description: Mapping[str, Any], folder: Path) -> None:
    """Return nothing: what is kept says it all."""
    del release, description, folder
