"""Strings from devices: F1 of the most frequent 32 and 100, ours, PEM and TreeHist as published, as JSON.

python bench/devices_strings.py [TEXT] > devices_strings.json

USERS people have a word each: of 10^5 made-up words whose frequencies are those of Zipf (1 / rank), and, where a TEXT
file is named, of its words in lower case, by their frequencies; of up to LONGEST bytes. F1 is 2 |found and true| /
(|found| + k) over the top k, the mean of RUNS.

`pem` runs report by report, with `kept` = 128: "seconds" are those of all rounds, of devices and collector, in one
process. What it releases is found, at most the k largest counts. The peers' counts are drawn instead of their reports:
the true count of a group plus normal noise of the oracle's variance, independent for each candidate, as hashes are.
PEM (Wang, Li, Jha 2018): groups of equal size, each of prefixes longer by 20 - log2 k bits, so that 2^20 candidates
are evaluated in each; local hashing with the whole epsilon; the k largest of every group go on, those of the last are
found. TreeHist (Bassily, Nissim, Stemmer, Thakurta 2017): half of epsilon for one bit level, drawn at random, half for
the whole string; one bit of a Hadamard row each; of the 2 k largest nodes of each level, those of the last are ranked
by the counts of whole strings.
"""

import json
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cases import say
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.text.attribute import StringCandidates, padded
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.mechanisms.strings.pem import CANDIDATES, Pem, pem
from machine import facts

USERS, LONGEST, RUNS, KEPT = 10**6, 12, 3, 128
EPSILONS, TOPS = (2, 4), (32, 100)
WORD = Categorical(name="word", values="discover")
Random = np.random.Generator  # noqa: TID251  # of the people and the peers' noise
Counts = npt.NDArray[Any]


def made_up(number: int, random: Random) -> list[str]:
    """Return words of syllables, the frequent ones shorter, as in a language."""
    syllables = [a + b + c for a in "bcdfghklmnprstvwz" for b in "aeiou" for c in ("", "", "l", "n", "r", "s", "t")]
    found = dict[str, None]()
    while len(found) < number:
        size = 1 + random.binomial(4, min(0.9, 0.2 + 0.06 * math.log(len(found) + 1)))
        found["".join(random.choice(syllables, size))[:LONGEST]] = None
    return list(found)


def zipf(random: Random) -> dict[str, float]:
    """Return 10^5 words with the shares of people who have them."""
    words = made_up(10**5, random)
    weights = 1 / np.arange(1, len(words) + 1)
    return dict(zip(words, (weights / weights.sum()).tolist(), strict=True))


def of_text(path: Path) -> dict[str, float]:
    """Return the words of a text with their frequencies, the most frequent first."""
    found = re.findall(r"[a-z]+", path.read_text(encoding="utf-8").lower())
    counts = Counter(one for one in found if len(one) <= LONGEST).most_common()
    total = sum(count for _, count in counts)
    return {word: count / total for word, count in counts}


def f1(found: Sequence[str | None], words: Sequence[str], k: int) -> float:
    """Return the F1 of what was found against the k most frequent words."""
    own = found[:k]
    return 2 * len(set(words[:k]).intersection(own)) / (len(own) + k)


def ours(words: list[str], people: Counts, epsilon: int, seed: int) -> tuple[list[str], float]:
    """Return the released strings, the most frequent first, and the seconds of all rounds."""
    rows = padded([one.encode() for one in words], LONGEST)
    generator, started = seeded(seed), time.perf_counter()
    own: Pem | None = pem(LONGEST, KEPT, PureDP(epsilon=epsilon))
    assert own is not None
    groups = (generator.words(len(people)) % np.uint64(len(own.rounds))).astype(np.int8)
    while own is not None:
        (asked,), (candidates,) = own.types, own.coded((WORD,))
        assert isinstance(candidates, StringCandidates)
        codes = candidates.cells(rows[people[groups == own.round]])
        tallies = [asked.tally(asked.perturb(codes[None], rng=generator))]
        last, own = own, own.following(tallies)
    found = last.found(tallies)
    order = [one for one in np.argsort(-found.counts).tolist() if found.released[one]]
    return [found.strings[one] for one in order], time.perf_counter() - started


class Peer:
    """The words as numbers of 8 LONGEST bits, and noisy counts of their prefixes by groups of people."""

    def __init__(self, words: list[str], people: Counts, random: Random) -> None:
        self.words, self.people, self.random, self.total = words, people, random, 8 * LONGEST
        self.codes = [int.from_bytes(one.encode().ljust(LONGEST, b"\0"), "big") for one in words]
        self.named = dict(zip(self.codes, words, strict=True))

    def held(self, mine: Counts, bits: int, known: int, prefixes: set[int]) -> Counter[int]:
        """Return how many of these people hold each prefix of so many bits that goes on from a kept one."""
        found = Counter[int]()
        counts = np.bincount(mine, minlength=len(self.words))
        for place in np.flatnonzero(counts).tolist():
            if self.codes[place] >> (self.total - known) in prefixes:
                found[self.codes[place] >> (self.total - bits)] += int(counts[place])
        return found

    def noise(self, number: int, deviation: float, most: int) -> Counts:
        """Return the largest noises of so many candidates that nobody holds."""
        drawn = self.random.standard_normal(max(number, 0)) * deviation
        return np.sort(np.partition(drawn, -most)[-most:])[::-1] if drawn.size > most else drawn

    def pem(self, epsilon: float, k: int) -> list[str | None]:
        """Return the k strings that PEM finds."""
        one = 4 * math.exp(epsilon) / (math.exp(epsilon) - 1) ** 2
        step = CANDIDATES - (k - 1).bit_length()
        ends = [*range(min(CANDIDATES, self.total), self.total, step), self.total]
        groups = np.array_split(self.random.permutation(self.people), len(ends))
        kept, known = [0], 0
        for bits, mine in zip(ends, groups, strict=True):
            held, deviation = self.held(mine, bits, known, set(kept)), math.sqrt(one * mine.size)
            found = [(count + self.random.normal() * deviation, own) for own, count in held.items()]
            empty = self.noise((len(kept) << (bits - known)) - len(held), deviation, k)
            found += [(count, -1 - place) for place, count in enumerate(empty.tolist())]  # prefixes of nobody
            kept, known = [own for _, own in sorted(found, reverse=True)[:k]], bits
        return [self.named.get(own) for own in kept]

    def treehist(self, epsilon: float, k: int) -> list[str | None]:
        """Return the k strings that TreeHist finds."""
        one = ((math.exp(epsilon / 2) + 1) / (math.exp(epsilon / 2) - 1)) ** 2
        kept = [0]
        for level, mine in enumerate(np.array_split(self.random.permutation(self.people), self.total)):
            held, deviation = self.held(mine, level + 1, level, set(kept)), math.sqrt(one * mine.size)
            both = [2 * own + bit for own in kept for bit in (0, 1)]
            ranked = [(held.get(own, 0) + self.random.normal() * deviation, own) for own in both]
            kept = list(dict.fromkeys(own for _, own in sorted(ranked, reverse=True)))[: 2 * k]
        counts, deviation = np.bincount(self.people, minlength=len(self.words)), math.sqrt(one * self.people.size)
        by_code = dict(zip(self.codes, counts.tolist(), strict=True))
        last = sorted(((by_code.get(own, 0) + self.random.normal() * deviation, own) for own in kept), reverse=True)
        return [self.named.get(own) for _, own in last[:k]]


def measured(name: str, shares: dict[str, float]) -> list[dict[str, Any]]:
    """Return a row for every epsilon and k."""
    words, rows = list(shares), []
    for epsilon in EPSILONS:
        found: dict[str, list[float]] = {}
        for run in range(RUNS):
            random = np.random.default_rng(run)  # noqa: TID251  # see above
            people = random.choice(len(words), USERS, p=list(shares.values()))
            released, seconds = ours(words, people, epsilon, run)
            peer = Peer(words, people, random)
            found.setdefault("seconds", []).append(seconds)
            found.setdefault("released", []).append(len(released))
            found.setdefault("nobody's", []).append(sum(one not in shares for one in released))
            for k in TOPS:
                for method, own in (
                    ("ours", released),
                    ("PEM", peer.pem(epsilon, k)),
                    ("TreeHist", peer.treehist(epsilon, k)),
                ):
                    found.setdefault(f"{method}, top {k}", []).append(f1(own, words, k))
        row = {own: round(float(np.mean(values)), 3) for own, values in found.items()}
        say(f"{name}, epsilon {epsilon}: {row}")
        rows.append({"words": name, "epsilon": epsilon, **row})
    return rows


def main() -> int:
    """Print the figures."""
    cases = {"zipf": zipf(np.random.default_rng(1))}  # noqa: TID251  # public words
    if len(sys.argv) > 1:
        cases["text"] = of_text(Path(sys.argv[1]))
    rows = [row for name, shares in cases.items() for row in measured(name, shares)]
    print(json.dumps({"machine": facts(), "users": USERS, "longest": LONGEST, "rows": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
