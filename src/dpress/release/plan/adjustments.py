"""By which counts a release answers: adjusted ones that add up and agree, unless the specification says otherwise."""

import math
from typing import Any

import msgspec

from dpress import catalog
from dpress.core.basics.extras import has_scipy
from dpress.core.methods.mechanism import Mechanism
from dpress.data.specification.spec import Spec
from dpress.inference.postprocess import CONSISTENT
from dpress.mechanisms.protocol.collection import as_collection
from dpress.query.published_tables import ADJUSTED

MOST_CELLS, MOST_TABLES = 1 << 20, 300  # that are adjusted within seconds


def adjustments(spec: Spec, mechanism: Mechanism) -> tuple[str, ...]:
    """Return the adjustments by name: those that the specification names, else those of the kind.

    Several tables are made to agree again. Periods, of which each has one cell of time, would no longer add up; there,
    and where there are more or larger tables, counts stay as they are estimated.

    Args:
        spec: what is asked for.
        mechanism: that was chosen.
    """
    kind = catalog.kind(spec.release.kind)
    names = kind.adjusts if spec.privacy.model == "central" else kind.adjusts_of_devices
    if spec.release.postprocess is not msgspec.UNSET or not names:
        return spec.release.adjustments
    measuring: Any = mechanism
    if spec.periods is not msgspec.UNSET or _repeated(spec, mechanism) or not has_scipy():
        return ()
    if not getattr(measuring.decoder, "additive", True):  # what cells add up to is far from what ranges are
        return ()
    tables, shape = measuring.decoder.tables, measuring.decoder.shape
    cells = sum(math.prod(shape[axis] for axis in axes) for axes in tables)
    if ADJUSTED in spec.schema.names or cells > MOST_CELLS or len(tables) > MOST_TABLES:
        return ()
    if len(tables) == 1:
        return names
    return (*names, CONSISTENT) if spec.privacy.model == "central" else ()


def _repeated(spec: Spec, mechanism: Mechanism) -> bool:
    """Return whether a table is one of several in time: of a period, or of a collection in rounds."""
    collection = as_collection(mechanism)
    if collection is not None:
        return bool(collection.estimator.rounds)
    return any(column.calendar is not None and column.size == 1 for column in spec.schema.tabular)
