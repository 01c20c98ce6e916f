"""The only maker of generators: AES-256-CTR words, secure by default, seeded only where nothing is private."""

import hashlib
import operator
import os

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

_BLOCK = 1 << 20
_ZEROS = bytes(_BLOCK)
_FORKS: list[None] = []  # one entry for every fork between this process and the first
os.register_at_fork(after_in_child=lambda: _FORKS.append(None))


class Generator:
    """A stream of uniform 64-bit words: the AES-256 keystream in counter mode.

    Make one with `secure()`; `seeded(seed)` repeats itself and so protects nobody.
    A secure stream takes a fresh key in a forked child, so that parent and child never share noise;
    a seeded one refuses to go on there.
    """

    __slots__ = ("_encryptor", "_private", "_process")

    def __init__(self, key: bytes, *, private: bool) -> None:
        self._private = private
        self._restart(key)

    def _restart(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415  # only to draw

        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
        self._process = _process()

    @property
    def private(self) -> bool:
        """Whether what it draws may protect anybody."""
        return self._private

    def _check_fork(self) -> None:
        if self._process == _process():
            return
        if not self.private:
            raise RuntimeError("a seeded generator was used after a fork; spawn one for each process before forking")
        self._restart(os.urandom(32))

    def fill(self, out: Words) -> None:
        """Overwrite the contiguous array `out` with independent uniform 64-bit words.

        For loops over blocks: touching fresh memory can cost several times the keystream itself.
        """
        self._check_fork()
        view = out.data.cast("B") if out.size else memoryview(b"")
        for start in range(0, len(view), _BLOCK):
            part = view[start : start + _BLOCK]
            self._encryptor.update_into(_ZEROS[: len(part)], part)

    def words(self, size: int) -> Words:
        """Return `size` independent uniform 64-bit words."""
        out = np.empty(size, dtype=np.uint64)
        self.fill(out)
        return out

    def spawn(self) -> "Generator":
        """Return an independent generator, keyed from this one's stream; never reuse a seed instead."""
        return Generator(self.words(4).tobytes(), private=self.private)

    def __getstate__(self) -> object:
        raise TypeError("a generator cannot be pickled: two copies would draw the same noise; use spawn()")


def _process() -> tuple[int, int]:
    """Return what differs between a parent and its forks, even where both have the same number in their containers."""
    return os.getpid(), len(_FORKS)


def secure() -> Generator:
    """Return a generator keyed by the operating system; the only kind a release may use."""
    return of_key(new_key())


def new_key() -> bytes:
    """Return a key of the operating system's for a secure generator: as private as the rows that its noise hides."""
    return os.urandom(32)


def of_key(key: bytes) -> Generator:
    """Return the generator of such a key: it draws the same noise again, where a release is finished."""
    return Generator(key, private=True)


def or_secure(rng: Generator | None) -> Generator:
    """Return a generator that a caller may have stated; left out, a secure one.

    Raises:
        ValueError: it is of another library, or a seed.
    """
    if rng is None:
        return secure()
    if not isinstance(rng, Generator):
        raise ValueError(
            "rng must be a generator of dpress.core.basics.rng, as secure(), got "
            f"{type(rng).__module__}.{type(rng).__qualname__}"
        )
    return rng


def seeded(seed: int) -> Generator:
    """Return a repeatable generator for tests and simulations; what it draws protects nobody.

    Raises:
        ValueError: the seed is no integer.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        raise ValueError(f"seed must be an integer, such as seeded(1), got {type(seed).__name__}") from None
    return Generator(hashlib.sha256(b"dpress seeded generator %d" % number).digest(), private=False)
