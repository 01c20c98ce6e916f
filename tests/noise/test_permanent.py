"""The permanent response: the documented bytes, the library's own HMAC, exact thresholds, fit, refusals."""

import hashlib
import hmac
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.noise import permanent
from dpress.noise.permanent import Slot

SPEC = bytes(range(16))
P = Fraction(1, 4)


def secrets(devices: int, size: int = 16, seed: int = 1) -> np.ndarray:
    return rng.seeded(seed).words(devices * size // 8).view(np.uint8).reshape(devices, size)


def by_hand(secret: bytes, value: int, size: int, p: Fraction, slot: int) -> list[bool]:
    """The layout of the module's docstring, bit by bit, with the library's HMAC."""
    head = b"dpress permanent" + SPEC + slot.to_bytes(2, "little") + value.to_bytes(4, "little")
    found = []
    for bit in range(size):
        message = head + (bit // 8).to_bytes(4, "little")
        assert len(message) == 42
        block = hmac.new(secret, message, hashlib.sha256).digest()
        word = int.from_bytes(block[4 * (bit % 8) :][:4], "little")
        found.append(word < p * 2**32)
    return found


@pytest.mark.parametrize("length", [16, 32, 64])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 100])
def test_the_bits_are_those_of_the_documented_layout(length: int, size: int) -> None:
    own = secrets(5, length)
    values = np.array([0, 1, 255, 256, 2**31 - 1], dtype=np.int32)
    found = permanent.flips(own, values, size, p=P, slot=Slot(SPEC, 513))
    bits = np.unpackbits(found, axis=1, bitorder="little").astype(bool)
    for secret, value, row in zip(own, values.tolist(), bits, strict=True):
        assert row[:size].tolist() == by_hand(secret.tobytes(), value, size, P, 513)
        assert not row[size:].any()


def test_cohorts_are_those_of_the_documented_layout() -> None:
    own = secrets(50)
    wanted = [
        int.from_bytes(hmac.new(one.tobytes(), b"dpress cohort   " + SPEC, hashlib.sha256).digest()[:8], "little") % 7
        for one in own
    ]
    assert permanent.cohorts(own, 7, collection=SPEC).tolist() == wanted
    assert set(wanted) == set(range(7))


def test_a_response_is_kept_and_another_value_slot_collection_or_secret_has_another() -> None:
    own, values = secrets(3), np.array([4, 4, 4], dtype=np.int32)
    first = permanent.flips(own, values, 64, p=P, slot=Slot(SPEC))
    again = permanent.flips(own, values, 64, p=P, slot=Slot(SPEC))
    assert np.array_equal(first, again)
    others = [
        permanent.flips(own, values + 1, 64, p=P, slot=Slot(SPEC)),
        permanent.flips(own, values, 64, p=P, slot=Slot(SPEC, 1)),
        permanent.flips(own, values, 64, p=P, slot=Slot()),
        permanent.flips(secrets(3, seed=2), values, 64, p=P, slot=Slot(SPEC)),
    ]
    assert all((first != other).any(axis=1).all() for other in others)
    assert (first[0] != first[1]).any()


def test_f_is_rounded_to_the_fairer_side() -> None:
    for f in ("0.1", "0.5", "0.3333", Fraction(1, 3), 1):
        exact, rounded = Fraction(f) / 2, permanent.flip_probability(f)
        assert exact <= rounded < exact + Fraction(1, 2**32)
        assert (rounded * 2**32).denominator == 1


@pytest.mark.parametrize("p", [Fraction(1, 4), Fraction(1, 20), Fraction(3, 7)])
def test_flips_have_their_probability_in_every_place(p: Fraction, chi_square_fits: Callable[..., bool]) -> None:
    devices, size = 4000, 50
    rounded = permanent.flip_probability(2 * p)
    kept = permanent.flips(secrets(devices), np.zeros(devices, np.int32), size, p=rounded, slot=Slot(SPEC))
    fresh = permanent.fresh_flips(devices, size, p=rounded, rng=rng.seeded(3))
    for found in (kept, fresh):
        counts = np.unpackbits(found, axis=1, count=size, bitorder="little").sum(axis=0, dtype=np.int64)
        for observed, expected, fault in ((counts, devices, 1.4), (counts.sum(keepdims=True), devices * size, 1.1)):
            table = np.stack([observed, expected - observed]).ravel()
            for rate, honest in ((float(p), True), (float(p) * fault, False)):
                wanted = np.repeat([expected * rate, expected * (1 - rate)], observed.size)
                assert chi_square_fits(table, wanted) is honest
        assert not np.unpackbits(found, axis=1, bitorder="little")[:, size:].any()


@pytest.mark.parametrize("shape", [(3, 15), (3, 65), (2, 16), (48,)])
def test_bad_secrets_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="secret"):
        permanent.flips(np.zeros(shape, np.uint8), np.zeros(3, np.int32), 4, p=P, slot=Slot(SPEC))


def test_a_collection_of_another_length_is_refused() -> None:
    for call in (
        lambda: Slot(b""),
        lambda: permanent.cohorts(secrets(1), 4, collection=bytes(32)),
    ):
        with pytest.raises(ValueError, match="collection must have 16 bytes"):
            call()


@pytest.mark.parametrize("number", [-1, 2**16, 0.5])
def test_a_slot_that_two_bytes_do_not_hold_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="slot must be"):
        Slot(number=number)
    assert Slot(SPEC, 2).after(2**16 - 3) == Slot(SPEC, 2**16 - 1)
    with pytest.raises(ValueError, match="slot must be below"):
        Slot(SPEC, 2).after(2**16 - 2)
