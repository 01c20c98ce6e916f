"""Words that are found at equal epsilon and delta in two sets of texts that no method was tuned on.

(cd $DPRESS_UNSEEN && apt-get download fortunes manpages-dev)
python bench/unseen_names.py [--runs 8] > unseen_names.json

A person is a saying of Debian's `fortunes`, or a paragraph of its `manpages-dev`; the person's names are up to k of its
different words, drawn at random. `flat` is the better selection by counts of 1 (`partition_selection`,
`gaussian_threshold`) with the whole budget, `weighted` is `weighted_threshold`, `rounds` is `weighted_rounds`: the mean
number of words that are released, by the code of a release, and its standard error; `times` is that of `rounds` over
that of `weighted`.
"""

import argparse
import gzip
import io
import json
import os
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.name_counts import NameCounts
from dpress.mechanisms.selection import weighted_rounds, weighted_threshold
from dpress.mechanisms.selection.best_selection import selections
from machine import facts

LOSSES, NAMES = ((1.0, 1e-6), (0.25, 1e-8), (3.0, 1e-6)), (1, 3, 10, 30, 100)
WORD = re.compile(r"[a-z]+")


def files(package: Path, folder: str) -> Iterator[bytes]:
    """Yield the files of a Debian package below a folder, in its order."""
    content, place = package.read_bytes(), 8
    while place < len(content):
        name, size = content[place : place + 16].decode().strip(), int(content[place + 48 : place + 58])
        if name.startswith("data.tar"):
            with tarfile.open(fileobj=io.BytesIO(content[place + 60 : place + 60 + size])) as archive:
                members = [member for member in archive if member.isfile() and folder in member.name]
                yield from (archive.extractfile(member).read() for member in members)
        place += 60 + size + size % 2


def texts(folder: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield both sets: of every person, the different words."""
    sayings = b"\n%\n".join(files(next(folder.glob("fortunes_*.deb")), "/games/fortunes/")).decode("utf-8", "ignore")
    yield "fortunes", _words(re.split(r"\n%\n", sayings))
    pages = (gzip.decompress(page) for page in files(next(folder.glob("manpages-dev_*.deb")), "/man/"))
    yield "manpages", _words(re.split(r"\n\.[A-Z]{2}", b"\n.PP".join(pages).decode("utf-8", "ignore")))


def _words(parts: list[str]) -> list[list[str]]:
    found = (sorted({*WORD.findall(part.lower())}) for part in parts)
    return [words for words in found if words]


def counted(persons: list[list[str]], weights: Any, among: Any = None) -> NameCounts:
    """Return the sums of weights by word, as rows are counted."""
    sums, left = Counter[str](), None if among is None else {*among}
    for words in persons:
        kept = words if left is None else [word for word in words if word in left]
        if kept:
            sums.update(dict.fromkeys(kept, 1 if weights is None else weights[len(kept) - 1]))
    names = tuple(sorted(sums))
    return NameCounts(names=names, counts=np.array([sums[name] for name in names], dtype=np.int64), unnamed=0)


def found(made: Any, persons: list[list[str]], runs: int) -> dict[str, float]:
    """Return the mean number of words that are released, and its standard error."""
    names = counted(persons, made.weights)
    rng = generators.secure()
    sizes = np.array([len(made.find(names, lambda *left: counted(persons, *left), rng=rng).names) for _ in range(runs)])
    return {"mean": round(float(sizes.mean()), 2), "standard_error": round(float(sizes.std(ddof=1) / runs**0.5), 2)}


def figures(everybody: list[list[str]], names: int, loss: ApproxDP, runs: int) -> dict[str, Any]:
    """Return what every method finds."""
    draw = np.random.default_rng(names)  # noqa: TID251  # a sample, no noise
    persons = [words if len(words) <= names else draw.permutation(words)[:names].tolist() for words in everybody]
    unit = Unit(column="person", rows=names)
    ways = {
        "flat": next(iter(selections(loss, unit).values())),
        "weighted": weighted_threshold.calibrated(loss, unit),
        "rounds": weighted_rounds.calibrated(loss, unit),
    }
    made: dict[str, Any] = {name: found(way, persons, runs) for name, way in ways.items()}
    return made | {"times": round(made["rounds"]["mean"] / max(made["weighted"]["mean"], 1e-9), 3)}


def main() -> int:
    """Print all figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    runs, folder = parser.parse_args().runs, Path(os.environ.get("DPRESS_UNSEEN", ""))
    if not os.environ.get("DPRESS_UNSEEN") or not [*folder.glob("fortunes_*.deb")]:
        sys.stderr.write("skipped: $DPRESS_UNSEEN holds no fortunes and manpages-dev; see the first lines\n")
        return 0
    made = [
        {"texts": name, "persons": len(persons), "names": names, "epsilon": epsilon, "delta": delta, "runs": runs}
        | figures(persons, names, ApproxDP(epsilon=epsilon, delta=delta), runs)
        for name, persons in texts(folder)
        for epsilon, delta in LOSSES
        for names in NAMES
    ]
    sys.stdout.write(json.dumps({"machine": facts(), "figures": made}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
