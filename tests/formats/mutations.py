"""What somebody might do to a stored document or file: edits of every kind, drawn from a seeded generator."""

import copy
import json

from dpress.core.basics.rng import seeded

NUMBERS = (0, -1, 1, 2, 2**31, 2**40, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, 10**7, 10**12, 10**400, 0.5, 1e308)
TEXTS = (
    *("", "a", "1/1", "1/2", "0/1", "-1/1", "1/0", "1e999999999", "1e-999999999", "99999999999999999999/1"),
    *("1/" + "3" * 900, "9" * 5000 + "/1", "1/" + "9" * 5000, "x" * 10_000),
)
OTHERS = (None, True, False, float("nan"), float("inf"), -float("inf"), [], {}, [[]], {"a": 1}, [0] * 1000)


class Dice:
    """Small choices, the same every day."""

    def __init__(self, seed):
        self.words = iter(seeded(seed).words(20_000).tolist())

    def below(self, number):
        return next(self.words) % number

    def of(self, choices):
        return choices[self.below(len(choices))]


def places(document, place=()):
    """Yield the place of everything in a document but itself."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for name, one in pairs if isinstance(document, (dict, list)) else ():
        yield (*place, name)
        yield from places(one, (*place, name)) if isinstance(one, (dict, list)) else ()


def at(document, place):
    for name in place:
        document = document[name]
    return document


def mutated(document, dice):
    """Return a document with one to three edits: something deleted, moved, repeated, or replaced by what it is not."""
    changed = copy.deepcopy(document)
    for _ in range(1 + dice.below(3)):
        edit(changed, dice)
    return changed


def edit(document, dice):
    known = list(places(document))
    if not known:
        return
    *above, name = dice.of(known)
    parent = at(document, above)
    old, how = parent[name], dice.below(7)
    if how == 0:
        del parent[name]
    elif how == 1:
        parent[name] = copy.deepcopy(at(document, dice.of(known)))
    elif how == 2 and isinstance(old, list):
        parent[name] = old * (2 + dice.below(50))
    elif how <= 4 and type(old) is int:
        parent[name] = dice.of(NUMBERS)
        if how == 4:  # the same number everywhere, so that the document goes on fitting itself
            for place in [place for place in places(document) if place[:-1] and at(document, place) is old]:
                at(document, place[:-1])[place[-1]] = parent[name]
    elif how <= 4 and isinstance(old, str):
        parent[name] = dice.of(TEXTS)
    else:
        parent[name] = copy.deepcopy(dice.of((*NUMBERS, *TEXTS, *OTHERS)))


def damaged(content, dice):
    """Return bytes of which a few were overwritten, or the end was cut off."""
    if dice.below(4) == 0:
        return content[: dice.below(len(content))]
    changed = bytearray(content)
    for _ in range(1 + dice.below(3)):
        changed[dice.below(len(changed))] = dice.below(256)
    return bytes(changed)


def text_of(document):
    """Return a document as JSON; numbers that JSON has no words for as other programs write them."""
    return json.dumps(document)
