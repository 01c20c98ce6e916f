"""What one replaced record does to the clusters of k-prototypes, from the same first prototypes for both tables."""

import driver
import numpy as np
from microdata_methods import adult

from dpress.attributes.mixed import Column
from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, in_memory
from dpress.mechanisms.microdata import prototypes
from dpress.mechanisms.microdata.prototypes import Labels


def replaced(d: int, k: int, run: int) -> dict[str, float]:
    """Return how many other rows change their cluster when one is replaced, and how far a centre moves.

    A row is replaced by one at the last cells of all attributes. Both clusterings start from the same prototypes, which
    favours the document: what is drawn from the records would differ, too. `times` is the largest move of a cluster's
    mean of a number, in claimed sensitivities, range / size of the cluster.
    """
    codes, kinds = adult(d)
    source = rng.seeded(driver.seed("replaced", d, k, run))
    start = prototypes.start(in_memory(codes), kinds, k, codes.shape[1], rng=source, starts="random")
    one = int(source.words(1)[0] % np.uint64(codes.shape[1]))
    changed = codes.copy()
    changed[:, one] = [kind.size - 1 for kind in kinds]
    labels, again = (prototypes._run(in_memory(own), start).clusters.labels(own) for own in (codes, changed))  # noqa: SLF001
    sizes = np.bincount(labels, minlength=k)
    both = (sizes > 0) & (np.bincount(again, minlength=k) > 0)
    moves = [
        (np.abs(_means(kind, after, again, k) - _means(kind, before, labels, k)) * sizes)[both]
        for kind, before, after in zip(kinds, codes, changed, strict=True)
        if kind.numeric
    ]
    others = int((np.delete(again, one) != np.delete(labels, one)).sum())
    return {"others": others, "moved_others": int(others > 0), "times": float(np.max(moves))}


def _means(kind: Column, own: Codes, labels: Labels, k: int) -> Array:
    """Return every cluster's mean on the scale of the bounds; of an empty one 0, which stands for nothing."""
    sizes = np.bincount(labels, minlength=k)
    return np.asarray(np.bincount(labels, kind.scaled[own], k) / np.maximum(sizes, 1))
