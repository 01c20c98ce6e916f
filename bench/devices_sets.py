"""Sets of values from devices: `privset` against padding and sampling with oue and olh, as published.

sets -> each method's counts, some times -> mean squared error over all values, ratios -> JSON. The truth is what the
cap leaves of every set on average, the same for all methods; its bias is none of theirs.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dpress.attributes.sets.attribute import WORD
from dpress.core.basics import rng as generators
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.oracle.olh import Olh
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.sets.privset import best_groups, grouped
from dpress.noise.whole_weights import sets_of

TIMES, USERS = 16, 20_000
DATA = Path(os.environ.get("DPRESS_DATA", "../shared/data"))


def baskets(values: int, rng: Any) -> Any:
    """Return made sets: value i is held with probability min(0.6, 2 / (i + 1))."""
    shares = np.minimum(0.6, 2 / (1 + np.arange(values)))
    return rng.words(USERS * values).reshape(USERS, values) < (shares * 2.0**63 * 2).astype(np.uint64)


def disabilities(rng: Any) -> Any:
    """Return the people of NLTCS, each with the set of those of 16 things that they cannot do."""
    del rng
    table = pq.read_table(DATA / "nltcs" / "nltcs.parquet")
    return np.stack([np.asarray(table[f"x{i:02}"]).astype(bool) for i in range(16)], axis=1)


def words(own: Any) -> Any:
    """Return the codes of sets, shape (words, users)."""
    wide = np.pad(own, ((0, 0), (0, -own.shape[1] % WORD)))
    return np.packbits(wide, axis=1, bitorder="little").view("<u2").T.astype(np.int32)


def ours(own: Any, cap: int, loss: PureDP, rng: Any) -> Any:
    """Return the counts of `privset`."""
    method = grouped(own.shape[1], cap, loss, best_groups(own.shape[1], cap, loss))
    group = (rng.words(len(own)) % np.uint64(len(method.types))).astype(int)
    codes = words(own)
    tallies = [one.tally(one.perturb(codes[:, group == i], rng=rng)) for i, one in enumerate(method.types)]
    return method.measurement(tallies).answers


def padded(own: Any, cap: int, oracle: Any, rng: Any) -> Any:
    """Return the counts of padding and sampling: one of the set's values and dummies, the estimate times the cap."""
    many = np.count_nonzero(own, axis=1)
    kept = sets_of(own, np.minimum(many, cap), rng=rng)
    dummies = np.arange(cap) < (cap - np.minimum(many, cap))[:, None]
    one = sets_of(np.concatenate([kept, dummies], axis=1), np.ones(len(own), dtype=np.int64), rng=rng)
    reports = oracle.perturb(one.argmax(axis=1).astype(np.int32), rng=rng)
    return cap * oracle.estimate(oracle.tally(reports), len(own)).answers[: own.shape[1]]


def main() -> None:
    """Print the ratios."""
    rng, found = generators.seeded(1), []
    for name, own, cap in (
        ("baskets, 64 values, cap 4", baskets(64, rng), 4),
        ("baskets, 64 values, cap 8", baskets(64, rng), 8),
        ("NLTCS, cap 4", disabilities(rng), 4),
        ("NLTCS, cap 16", disabilities(rng), 16),
    ):
        for epsilon in (1, 2, 4):
            share = np.minimum(1, cap / np.maximum(1, own.sum(axis=1)))
            loss, size = PureDP(epsilon=epsilon), own.shape[1] + cap
            errors: dict[str, float] = {}
            for method in ("privset", "oue", "olh"):
                oracle = {"oue": Oue, "olh": Olh}.get(method)
                made = [
                    ours(own, cap, loss, rng) if oracle is None else padded(own, cap, oracle(size=size, loss=loss), rng)
                    for _ in range(TIMES)
                ]
                errors[method] = float(np.mean((np.array(made) - share @ own) ** 2))
            best = min(errors["oue"], errors["olh"])
            row = {"data": name, "epsilon": epsilon, "ratio": errors["privset"] / best, "mse": errors}
            found.append(row)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
