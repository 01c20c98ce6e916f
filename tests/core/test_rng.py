"""The generator: the keystream is AES-CTR, forks and spawns never share noise, copies are refused."""

import copy
import hashlib
import os
import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dpress.core.basics import rng

PINNED = [1154893703495983819, 17925336354009161868, 1224072806588150576]


def keystream(key: bytes, blocks: int) -> bytes:
    """AES-CTR from AES-ECB of the big-endian counter, by the standard's own definition."""
    counters = b"".join(block.to_bytes(16, "big") for block in range(blocks))
    return Cipher(algorithms.AES256(key), modes.ECB()).encryptor().update(counters)  # noqa: S305  # counter blocks


def in_child(action: object) -> bytes:
    """Run `action` in a forked child and return what it says."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(write, action())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as pipe:
        return pipe.read()


def test_first_words_of_a_seed_are_pinned() -> None:
    assert rng.seeded(1).words(3).tolist() == PINNED


def test_keystream_is_aes_ctr_across_call_boundaries() -> None:
    key = hashlib.sha256(b"dpress seeded generator 7").digest()
    generator = rng.seeded(7)
    parts = [generator.words(size) for size in (1, 3, 0, 200_000, 5)]
    words = np.concatenate(parts)
    assert words.tobytes() == keystream(key, len(words) // 2 + 1)[: 8 * len(words)]


def test_fill_equals_words() -> None:
    out = np.empty((3, 70_000), dtype=np.uint64)
    rng.seeded(2).fill(out)
    assert (out.ravel() == rng.seeded(2).words(210_000)).all()
    rng.seeded(2).fill(out[:0])


def test_fill_refuses_an_array_it_could_not_fill_in_place() -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        rng.seeded(2).fill(np.empty((4, 4), dtype=np.uint64)[:, :2])


def test_seeded_repeats_itself_and_secure_never_does() -> None:
    assert (rng.seeded(3).words(8) == rng.seeded(3).words(8)).all()
    assert (rng.seeded(3).words(8) != rng.seeded(4).words(8)).all()
    assert (rng.secure().words(8) != rng.secure().words(8)).all()
    assert rng.secure().private
    assert not rng.seeded(3).private


def test_secure_parent_and_child_draw_different_words() -> None:
    generator = rng.secure()
    generator.words(5)
    child = in_child(lambda: generator.words(64).tobytes())
    parent = generator.words(64).tobytes()
    assert len(child) == len(parent) == 512
    assert child != parent


def test_two_children_draw_different_words() -> None:
    generator = rng.secure()
    assert in_child(lambda: generator.words(8).tobytes()) != in_child(lambda: generator.words(8).tobytes())


def test_fill_and_spawn_take_a_fresh_key_in_a_child_too() -> None:
    generator = rng.secure()

    def filled() -> bytes:
        out = np.empty(8, dtype=np.uint64)
        generator.fill(out)
        return out.tobytes()

    children = {in_child(filled), in_child(lambda: generator.spawn().words(8).tobytes())}
    assert len(children | {generator.words(8).tobytes()}) == 3


def test_seeded_refuses_to_go_on_after_a_fork() -> None:
    generator = rng.seeded(1)

    def attempt() -> bytes:
        try:
            generator.words(1)
        except RuntimeError as error:
            return str(error).encode()
        return b"drew"

    assert b"after a fork" in in_child(attempt)
    assert generator.words(3).tolist() == PINNED


def test_spawned_streams_differ_from_the_parent_and_each_other_and_repeat() -> None:
    parent = rng.seeded(1)
    children = [parent.spawn() for _ in range(3)]
    streams = [generator.words(64).tobytes() for generator in (*children, parent)]
    assert len(set(streams)) == 4
    assert rng.seeded(1).spawn().words(64).tobytes() == streams[0]


def test_spawn_is_as_private_as_its_parent() -> None:
    assert rng.secure().spawn().private
    assert not rng.seeded(1).spawn().private


def test_spawned_stream_is_uncorrelated_bit_by_bit() -> None:
    parent = rng.seeded(9)
    child = parent.spawn()
    agree = np.bitwise_count(~(parent.words(10_000) ^ child.words(10_000))).sum()
    assert abs(int(agree) - 320_000) < 5 * 400  # standard deviation 400; false alarm 6e-7
    same = rng.seeded(9).words(10_000) ^ rng.seeded(9).words(10_000)
    assert int(np.bitwise_count(~same).sum()) == 640_000  # the control: a reused seed


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copies_are_refused(copier: object) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        copier(rng.secure())


def test_bits_are_balanced() -> None:
    words = rng.seeded(11).words(50_000)
    ones = [(int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) - 25_000) / 111.8 for bit in range(64)]
    assert max(map(abs, ones)) < 6  # 64 bits, false alarm 1.3e-7


def test_a_fork_with_the_same_process_number_takes_a_fresh_key_too(monkeypatch):
    """In a container of its own a child may have its parent's number."""
    generator = rng.secure()
    monkeypatch.setattr(rng.os, "getpid", lambda: 1)
    generator.words(1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, generator.words(4).tobytes())
        os._exit(0)
    own = generator.words(4).tobytes()
    os.waitpid(child, 0)
    assert os.read(reader, 64) != own


def test_whether_a_generator_is_private_cannot_be_set():
    with pytest.raises(AttributeError):
        rng.seeded(1).private = True


@pytest.mark.parametrize("seed", ["a", 1.0, None])
def test_a_seed_is_an_integer(seed: object) -> None:
    with pytest.raises(ValueError, match="seed must be an integer, such as seeded"):
        rng.seeded(seed)  # type: ignore[arg-type]
