"""A collection in rounds: who reports in which one, and the specification of the next.

specification of a round -> reports -> release of what there is so far -> specification of the next round.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from dpress.core import rng as generators
from dpress.core.errors import NotSupported
from dpress.core.rng import Generator
from dpress.data.spec import Spec
from dpress.data.toml import as_toml
from dpress.mechanisms.protocol.collection import Collection, Drawn
from dpress.mechanisms.protocol.rounds import InRounds, in_rounds
from dpress.noise import permanent
from dpress.noise.permanent import Secrets
from dpress.noise.uniform import below
from dpress.release.artifact import Release
from dpress.release.local_plan import asked_id, round_number

NEXT = "next.toml"
NOBODY = -1  # the question of a device that reports in another round


def turns(collection: Collection, spec: Spec, method: str) -> InRounds | None:
    """Return the rounds of a collection, or None where it has none.

    Raises:
        ValueError: the specification's `round` is not the one that follows the rounds it holds.
    """
    own = in_rounds(collection.spatial)
    if own is None:
        return None
    if (number := round_number(spec)) != own.round:
        raise ValueError(f"$.release.parameters.round: {method} is in round {own.round} after `earlier`, got {number}")
    return own


def collection_id(spec: Spec, method: str, own: InRounds) -> bytes:
    """Return what names all rounds of a collection alike: what is asked, but for what changes from round to round."""
    fixed = {name: own.parameters[name] for name in ("height", "rounds")}
    release = msgspec.structs.replace(spec.release, method=method, parameters={**spec.release.parameters, **fixed})
    return asked_id(msgspec.structs.replace(spec, release=release))


def drawing(own: InRounds, name: bytes) -> Callable[[int, Generator], Drawn]:
    """Return how the questions of simulated devices are drawn, so many devices at a time, in the order of the file.

    The lot of a device is a function of its number in the file and of the collection's name: the same in every round,
    so that nobody reports twice, and independent of anybody's values. NOBODY for who reports in another round.
    """
    lots = generators.seeded(int.from_bytes(name, "big"))  # no noise: anybody may know them
    asked = _asked(own)

    def draw(devices: int, rng: Generator) -> Drawn:
        del rng  # the same devices must draw the same in another run
        return asked[below(own.lots, devices, rng=lots)]

    return draw


def question_of(own: InRounds, secrets: Secrets, name: bytes) -> int:
    """Return the question of this round that a device answers, by a lot that its secret draws once for all rounds.

    Raises:
        NotSupported: it reports in another round.
    """
    lot = int(permanent.questions(secrets, own.lots, collection=name)[0])
    if (question := int(_asked(own)[lot])) == NOBODY:
        wanted = own.turn_of(lot)
        raise NotSupported(f"this device reports in round {wanted}, not in round {own.round}: it sends nothing")
    return question


def _asked(own: InRounds) -> Drawn:
    """Return for every lot the question of this round, or NOBODY."""
    mine = np.array([own.turn_of(lot) == own.round for lot in range(own.lots)])
    return np.where(mine, np.arange(own.lots) - own.first, NOBODY)


def next_spec(release: Release) -> Spec | None:
    """Return the specification of the round after the one that a release is of; None after the last, or without rounds.

    It is a function of the release alone, so that whoever has the release can check it.
    """
    collection = release.planned.chosen.mechanism
    own = in_rounds(collection.spatial) if isinstance(collection, Collection) else None
    if not isinstance(collection, Collection) or own is None or release.kept is None:
        return None
    following = own.following(collection.split_tally(release.kept))
    if following is None:
        return None
    spec = release.spec
    parameters = {**spec.release.parameters, **following.parameters}
    asked = msgspec.structs.replace(spec.release, method=release.planned.chosen.method, parameters=parameters)
    return msgspec.structs.replace(spec, data=None, release=asked)


def users_before(release: Release) -> int:
    """Return how many of a release's users answered in earlier rounds."""
    collection = release.planned.chosen.mechanism
    own = in_rounds(collection.spatial) if isinstance(collection, Collection) else None
    return 0 if own is None else own.before


def write_next(release: Release, folder: str | Path) -> Path | None:
    """Write the next round's specification beside a release and return its path; None where there is none."""
    spec = next_spec(release)
    if spec is None:
        return None
    path = Path(folder) / NEXT
    path.write_text(as_toml(spec), encoding="utf-8")
    return path
