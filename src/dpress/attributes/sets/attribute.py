"""An attribute of which everybody holds a set of values; what devices code by, never what a specification says.

set of values -> whether each listed one is in it, a bit each -> words of 16 bits, which are its codes.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from dpress.attributes.listed.attribute import Categorical, with_words
from dpress.attributes.policy import DROPPED, MISSING, OUTSIDE
from dpress.attributes.protocol import Codes
from dpress.attributes.value import BLANKS, read

if TYPE_CHECKING:
    import pyarrow as pa

WORD = 16  # values of a code
MOST_VALUES = 1 << 10
Members = npt.NDArray[np.bool_]
Words = npt.NDArray[np.int32]


class SetMembers(Categorical, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="set"):
    """A public list of values of which everybody holds a set, which may be empty.

    Code i has the values from 16 i on, the first in its lowest bit. A value that is not listed is an other one; where
    `null` is left out, a missing set is empty.

    Args:
        separator: between the values of a set that is one text; spaces around a value do not matter.
    """

    separator: str

    def _fault(self) -> str:
        if self.discovered:
            return "`values` must be listed where people hold sets of them"
        if self.size > MOST_VALUES:
            return f"expected at most {MOST_VALUES:,} values, got {self.size:,}"
        if not self.separator.strip():
            return "`separator` must be more than white space"
        if any(isinstance(value, str) and (self.separator in value or value != value.strip()) for value in self.listed):
            return f"no value may hold the separator {self.separator!r}, or begin or end with a space"
        return ""

    @property
    def held(self) -> Self:
        """The attribute itself."""
        return self

    @property
    def when_missing(self) -> str:
        """What a missing set counts as, where the specification does not say it."""
        return "counted as an empty set" if self.null is None else ""

    def with_words_of(self, listing: Categorical) -> Self:
        """Return the attribute with another's words for people."""
        return with_words(self, listing)

    def codes(self, value: Any) -> tuple[int, ...]:
        """Return the words of a set: a list of values, or a text of them with the separator between."""
        if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
            held = [single for single in value if single is not None]
        elif isinstance(value, (str, bytes)):
            held = self.parts(str(read(value).content))  # type: ignore[union-attr]  # a text is a value
        elif read(value) is not None:
            held = [value]
        elif self.null is None:
            held = []
        else:
            place = self.single.settled(MISSING)
            return (DROPPED,) if place == DROPPED else words([place], self.size)
        cells = [self.single.cell(single) for single in held]
        places = [self.single.settled(OUTSIDE) if cell < 0 else cell for cell in cells]
        return (DROPPED,) if DROPPED in places else words(places, self.size)

    def arrow_codes(self, column: "pa.Array") -> Codes:
        """Return the words of every set of an Arrow column; see `Cells.arrow_codes`."""
        from dpress.attributes.sets import arrow  # noqa: PLC0415  # devices read no columns

        return arrow.words_of(self, column)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many different codes every word may be."""
        return word_sizes(self.size)

    def parts(self, text: str) -> list[str]:
        """Return the values of a set that is one text."""
        return [value for part in text.split(self.separator) if (value := part.strip(BLANKS))]

    @cached_property
    def single(self) -> Categorical:
        """The attribute of a single value of a set."""
        fields = {name: getattr(self, name) for name in ("name", "values", "other", "null")}
        return Categorical(**fields)


ATTRIBUTES = (SetMembers,)


def word_sizes(values: int) -> tuple[int, ...]:
    """Return how many different codes the words of so many values may be.

    >>> word_sizes(18)
    (65536, 4)
    """
    return tuple(1 << min(WORD, values - start) for start in range(0, values, WORD))


def words(places: Sequence[int], values: int) -> tuple[int, ...]:
    """Return the codes of the set of the values at these places.

    >>> words([0, 2, 17], 18)
    (5, 2)
    """
    whole = sum(1 << place for place in set(places))
    return tuple(whole >> start & ((1 << WORD) - 1) for start in range(0, values, WORD))


def members(codes: Words, values: int) -> Members:
    """Return who holds what, shape (users, values), from codes of shape (words, users).

    Raises:
        ValueError: a code is none of its word (it is not shown).
    """
    limits = np.array(word_sizes(values))[:, None]
    if codes.shape[:1] != (len(limits),) or codes.ndim != 2:
        raise ValueError(f"codes of sets of {values} values must have shape ({len(limits)}, users)")
    if codes.dtype.kind not in "iu" or (codes.size and ((codes < 0) | (codes >= limits)).any()):
        raise ValueError("the codes of a set must be words of its values")
    rows = np.ascontiguousarray(codes.T.astype("<u2"))
    flags = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    return np.asarray(flags[:, :values].astype(np.bool_))
