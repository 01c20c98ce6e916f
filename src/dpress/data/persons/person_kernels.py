"""The loops over persons that numba compiles; imported by those who are about to run them, for it takes a second.

hashes of words or bytes -> numbers of persons, by comparison -> the `cap` smallest draws of each, in a heap -> bits.
"""

from typing import Any

import numpy as np

from dpress.core.basics.compiled import compiled

FIRST_ROOM, GROWTH = 8, 4  # entries of a person's first heap, and by what a full one grows
BEGIN, SIZE, ROOM, WORST = range(4)  # columns of the heaps: where in the pool, entries, space, the largest draw
FIELDS = 4
NONE, ONE = np.uint64(0), np.uint64(1)
TOUCHED = 2048  # rows whose persons' bytes are fetched before they are compared


def _scramble(word: Any) -> Any:
    """Return a bijection of 64-bit words that spreads every bit: the finalizer of splitmix64."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


scramble = compiled(_scramble)


def _hash_words(words: Any, key: Any, out: Any) -> None:
    """Write a bijection of every word: equal hashes are equal words."""
    for row in range(words.size):
        out[row] = scramble(scramble(words[row] ^ key) + key)


def _hash_bytes(content: Any, ends: Any, key: Any, out: Any) -> None:
    """Write a hash of every row's bytes; different bytes may have one."""
    for row in range(ends.size - 1):
        state = key
        for place in range(ends[row], ends[row + 1]):
            state = (state ^ np.uint64(content[place])) * np.uint64(0x100000001B3)
        out[row] = scramble(state ^ (ends[row + 1] - ends[row]))


def _same(rows: Any, row: Any, stored: Any, person: Any) -> Any:
    """Return whether a row's bytes are a person's; all are unsigned, which numba indexes without a check of signs."""
    (_, content, ends), (_, text, starts) = rows, stored
    begin, start = ends[row], starts[person]
    length = ends[row + ONE] - begin
    if starts[person + ONE] - start != length:
        return False
    step = NONE
    while step < length and content[begin + step] == text[start + step]:
        step += ONE
    return step == length


def _enter(place: Any, rows: Any, row: Any, stored: Any, persons: Any) -> Any:
    """Put a new person into a free slot, with the row's bytes if there are any; return how many persons there are."""
    (hashes, content, ends), (slots, text, starts) = rows, stored
    slots[place, 0], slots[place, 1] = hashes[row], np.uint64(persons + 1)
    if ends.size > 0:
        length = ends[row + 1] - ends[row]
        starts[persons + 1] = starts[persons] + length
        for step in range(length):
            text[starts[persons] + step] = content[ends[row] + step]
    return persons + 1


same, enter = compiled(_same), compiled(_enter)


def _find(rows: Any, between: Any, stored: Any, persons: Any, out: Any) -> Any:
    """Write the first person with every row's hash, -1 outside the range; return how many persons are known now."""
    hashes, (low, high), slots = rows[0], between, stored[0]
    last = np.uint64(len(slots) - 1)
    for row in range(hashes.size):
        digest = hashes[row]
        if not low <= digest >> np.uint64(32) < high:
            out[row] = -1
            continue
        place = digest & last
        while slots[place, 1] != 0 and slots[place, 0] != digest:
            place = (place + ONE) & last
        if slots[place, 1] == 0:
            persons = enter(place, rows, row, stored, persons)
        out[row] = np.int64(slots[place, 1]) - 1
    return persons


def _touch(stored: Any, numbers: Any, touched: Any) -> None:
    """Read a byte of every row's person: short steps, so that the waits for memory overlap."""
    _, text, starts = stored
    for row in range(numbers.size):
        if numbers[row] >= 0:
            touched[row] = text[starts[np.uint64(numbers[row])]]


touch = compiled(_touch)


def _compare(rows: Any, stored: Any, persons: Any, out: Any) -> Any:
    """Look on where a row's bytes are not those of the person with its hash; return how many persons are known now."""
    hashes, slots = rows[0], stored[0]
    last, touched = np.uint64(len(slots) - 1), np.empty(TOUCHED, dtype=np.uint8)
    for row in range(hashes.size):
        if row % TOUCHED == 0:
            touch(stored, out[row : row + TOUCHED], touched)
        this = np.uint64(row)
        if out[row] < 0 or same(rows, this, stored, np.uint64(out[row])):
            continue
        place = hashes[row] & last
        while slots[place, 1] != 0 and not (
            slots[place, 0] == hashes[row] and same(rows, this, stored, slots[place, 1] - ONE)
        ):
            place = (place + ONE) & last
        if slots[place, 1] == 0:
            persons = enter(place, rows, row, stored, persons)
        out[row] = np.int64(slots[place, 1]) - 1
    return persons


def _rehash(slots: Any, larger: Any) -> None:
    """Move all persons into more slots."""
    last = np.uint64(len(larger) - 1)
    for old in range(len(slots)):
        if slots[old, 1] != 0:
            place = slots[old, 0] & last
            while larger[place, 1] != 0:
                place = (place + ONE) & last
            larger[place, 0], larger[place, 1] = slots[old, 0], slots[old, 1]


def _replace_largest(heap: Any, begin: Any, size: Any, draw: Any, place: Any) -> None:
    """Put a row in the place of the heap's root: the largest draw, of equal ones the last row's."""
    draws, places = heap
    hole = 0
    while 2 * hole + 1 < size:
        child = begin + 2 * hole + 1
        if 2 * hole + 2 < size and (draws[child + 1], places[child + 1]) > (draws[child], places[child]):
            child += 1
        if draws[child] <= draw:  # an equal one stands earlier in the table
            break
        draws[begin + hole], places[begin + hole] = draws[child], places[child]
        hole = child - begin
    draws[begin + hole], places[begin + hole] = draw, place


def _append(heap: Any, begin: Any, size: Any, draw: Any, place: Any) -> None:
    """Put a row, later than all others, into a heap that has space."""
    draws, places = heap
    hole = size
    while hole > 0 and draws[begin + (hole - 1) // 2] <= draw:
        above = (hole - 1) // 2
        draws[begin + hole], places[begin + hole] = draws[begin + above], places[begin + above]
        hole = above
    draws[begin + hole], places[begin + hole] = draw, place


replace_largest, append = compiled(_replace_largest), compiled(_append)


def _offer(rows: Any, cap: Any, pool: Any, top: Any, start: Any) -> Any:
    """Offer rows, from `start` on, to their persons' heaps; return where it stopped for want of space, and the top."""
    (numbers, drawn, first), (heaps, draws, places) = rows, pool
    for row in range(start, numbers.size):
        person = numbers[row]
        if person < 0:
            continue
        size, begin = heaps[person, SIZE], heaps[person, BEGIN]
        if size == cap:
            if drawn[row] < heaps[person, WORST]:  # of equal ones the earlier row stays
                replace_largest((draws, places), begin, size, drawn[row], first + row)
                heaps[person, WORST] = draws[begin]
            continue
        if size == heaps[person, ROOM]:
            room = min(cap, max(FIRST_ROOM, GROWTH * size))
            if top + room > draws.size:
                return row, top
            for step in range(size):
                draws[top + step], places[top + step] = draws[begin + step], places[begin + step]
            begin = top
            heaps[person, BEGIN], heaps[person, ROOM] = begin, room
            top += room
        append((draws, places), begin, size, drawn[row], first + row)
        heaps[person, SIZE] = size + 1
        heaps[person, WORST] = draws[begin]
    return numbers.size, top


def _mark(heaps: Any, places: Any, bits: Any) -> None:
    """Set the bits of all rows in the heaps."""
    for person in range(len(heaps)):
        begin = heaps[person, BEGIN]
        for entry in range(begin, begin + heaps[person, SIZE]):
            bits[places[entry] >> 3] |= np.uint8(1 << (places[entry] & 7))


hash_words = compiled(_hash_words)
hash_bytes = compiled(_hash_bytes)
find = compiled(_find)
compare = compiled(_compare)
rehash = compiled(_rehash)
offer = compiled(_offer)
mark = compiled(_mark)
