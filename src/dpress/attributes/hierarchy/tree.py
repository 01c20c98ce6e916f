"""A public tree of codes, coarse to fine: states, counties, tracts; chapters of an index of diseases and its codes.

Nodes of a level are numbered in the order of the codes along their paths, so that what lies below a node is a run of
every finer level. A region that has none of some level stands in it for itself, alone.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.hierarchy.key_index import KeyIndex
from dpress.core.basics.near import meant
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine

CHOICES = 5  # regions of one name that a message lists
Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Level:
    """The nodes of one level, in order.

    Args:
        name: of the level.
        codes: of its nodes, each once, large strings.
        names: of its nodes for people, null where there is none; None where nobody has one.
    """

    name: str
    codes: pa.Array
    names: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def keys(self) -> tuple[pa.Array, Nodes]:
        """The texts that stand for nodes, and which: the codes, and where all are digits also without leading zeros.

        An integer has no leading zeros, so that the code 01001 is 1001 in a column of integers.
        """
        nodes = np.arange(len(self.codes), dtype=np.int32)
        if not self._digits:
            return self.codes, nodes
        texts, places = [self.codes], [nodes]
        stripped, left = self.codes, pa.array(nodes)
        while len(left):
            zero = pc.and_(pc.starts_with(stripped, "0"), pc.greater(pc.utf8_length(stripped), 1))
            stripped, left = pc.utf8_slice_codeunits(stripped.filter(zero), 1), left.filter(zero)
            texts.append(stripped)
            places.append(np.asarray(left))
        return pa.concat_arrays(texts), np.concatenate(places)

    @property
    def _digits(self) -> bool:
        """Whether all codes are digits, and equally many."""
        lengths = pc.min_max(pc.utf8_length(self.codes)).as_py()
        digits = pc.match_substring_regex(self.codes, "^[0-9]+$")
        return lengths["min"] == lengths["max"] and bool(pc.all(digits).as_py())

    @cached_property
    def index(self) -> KeyIndex:
        """The keys, for columns of texts."""
        return KeyIndex(self.keys[0])

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """How many characters codes have, each number once."""
        return tuple(pc.unique(pc.utf8_length(self.codes)).to_pylist())

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The node of every key."""
        keys, nodes = self.keys
        return dict(zip(keys.to_pylist(), nodes.tolist(), strict=True))

    @cached_property
    def named(self) -> Mapping[str, list[int]]:
        """The nodes of every name."""
        nodes: dict[str, list[int]] = {}
        for node, name in enumerate([] if self.names is None else self.names.to_pylist()):
            if name is not None:
                nodes.setdefault(name, []).append(node)
        return nodes


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouping:
    """Places off the tree, each some of the leaves: districts, cities, delivery areas.

    Args:
        name: what they are called together.
        codes: of the places, each once, large strings, in the order of their bytes.
        of_leaf: the place of every leaf, -1 where it is in none, shape (leaves,).
    """

    name: str
    codes: pa.Array
    of_leaf: Nodes


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """A tree of codes; two of the same content have the same hash.

    Args:
        nodes_of: the levels, coarse to fine.
        spine: its shape; level 0 is everything, level 1 the first of the tree's.
        lon: of every leaf, in degrees, NaN where it is not known, shape (leaves,); None without any.
        lat: of every leaf.
        groupings: of the leaves, beside the levels.
    """

    nodes_of: tuple[Level, ...]
    spine: Spine
    lon: Array | None = None
    lat: Array | None = None
    groupings: tuple[Grouping, ...] = ()

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels, coarse to fine."""
        return tuple(level.name for level in self.nodes_of)

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return self.spine.sizes[-1]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the content as canonical JSON, hexadecimal."""
        content = {
            "levels": [
                {"name": each.name, "codes": each.codes.to_pylist(),
                 "names": None if each.names is None else each.names.to_pylist()}
                for each in self.nodes_of
            ],
            "starts": [starts.tolist() for starts in self.spine.starts],
            "lon": None if self.lon is None else self.lon.tolist(),
            "lat": None if self.lat is None else self.lat.tolist(),
        }  # fmt: skip
        if self.groupings:
            content["groupings"] = [
                {"name": each.name, "codes": each.codes.to_pylist(), "of_leaf": each.of_leaf.tolist()}
                for each in self.groupings
            ]
        return hashlib.sha256(msgspec.json.encode(content)).hexdigest()

    def grouping(self, name: str) -> Grouping:
        """Return the places of a name."""
        return next(each for each in self.groupings if each.name == name)

    def depth_of(self, level: str) -> int:
        """Return the level of the spine that a name stands for, 1 to `spine.depth`.

        Raises:
            ValueError: there is no such level.
        """
        if level not in self.levels:
            hint = meant(level, self.levels)
            raise ValueError(f"there is no level {level!r}; the levels are {', '.join(self.levels)}{hint}")
        return self.levels.index(level) + 1

    def level(self, name: str) -> Level:
        """Return the nodes of a level."""
        return self.nodes_of[self.depth_of(name) - 1]

    def codes(self, level: str) -> list[str]:
        """Return the code of every node of a level."""
        codes: list[str] = self.level(level).codes.to_pylist()
        return codes

    def names(self, level: str) -> list[str]:
        """Return the name of every node of a level; its code where it has none."""
        nodes = self.level(level)
        named: list[str] = (nodes.codes if nodes.names is None else pc.coalesce(nodes.names, nodes.codes)).to_pylist()
        return named

    def place(self, level: str) -> tuple[Array, Array] | None:
        """Return the longitudes and the latitudes of a level's nodes, means of its leaves'; None without any."""
        if self.lon is None or self.lat is None:
            return None
        there, depth = np.isfinite(self.lon) & np.isfinite(self.lat), self.depth_of(level)
        parts = (np.where(there, part, 0.0) for part in (np.ones(len(there)), self.lon, self.lat))
        counts, east, north = (self.spine.up(part)[depth] for part in parts)
        with np.errstate(invalid="ignore"):
            return east / counts, north / counts

    def ancestors(self, level: str) -> Nodes:
        """Return the node of a level above every leaf, shape (leaves,)."""
        return self.above(self.levels[-1], level)

    def above(self, fine: str, coarse: str) -> Nodes:
        """Return the node of a level above every node of a finer one, or of the same."""
        low, high = self.depth_of(fine), self.depth_of(coarse)
        nodes = np.arange(self.spine.sizes[low])
        for depth in range(low, high, -1):
            nodes = self.spine.parents(depth)[nodes]
        return nodes.astype(np.int32)

    def below(self, coarse: str, fine: str) -> Numbers:
        """Return where the nodes of a finer level below every node of a coarse one begin, shape (nodes + 1,)."""
        edges = np.arange(self.spine.sizes[self.depth_of(coarse)] + 1)
        for depth in range(self.depth_of(coarse), self.depth_of(fine)):
            edges = self.spine.starts[depth][edges]
        return edges

    def path(self, level: str, node: int) -> str:
        """Return the names along the path of a node, its own first."""
        names = []
        for depth in range(self.depth_of(level), 0, -1):
            each = self.nodes_of[depth - 1]
            name = None if each.names is None else each.names[node].as_py()
            names.append(name or each.codes[node].as_py())
            node = int(self.spine.parents(depth)[node])
        return ", ".join(dict.fromkeys(names))

    def deepest(self, text: str) -> int:
        """Return the finest level of which some code begins a text, 1 to `spine.depth`; 0 where none does."""
        for depth in range(len(self.nodes_of), 0, -1):
            level = self.nodes_of[depth - 1]
            if any(text[:length] in level.places for length in level.lengths):
                return depth
        return 0

    def nodes(self, level: str, texts: Sequence[str]) -> Numbers:
        """Return the nodes of a level that codes stand for, or names that only one has, shape (texts,).

        A code of digits may be without its leading zeros where all codes of the level are equally long.

        Raises:
            ValueError: a text is none, or a name of several; one line that lists them, with their codes.
        """
        places = self.level(level).places
        nodes = [places[text] if text in places else self._node_named(level, text) for text in texts]
        return np.array(nodes, dtype=np.int64)

    def _node_named(self, level: str, text: str) -> int:
        nodes = self.level(level)
        named = nodes.named.get(text, [])
        if len(named) == 1:
            return named[0]
        if not named:
            hint = meant(text, [*nodes.named]) or meant(text, nodes.codes[:CHOICES].to_pylist())
            some = ", ".join(nodes.codes[:CHOICES].to_pylist()) + (", ..." if len(nodes) > CHOICES else "")
            raise ValueError(f"{level} has no {text!r}; it has {len(nodes):,} codes: {some}{hint}")
        choices = [f"{nodes.codes[node].as_py()} ({self.path(level, node)})" for node in named[:CHOICES]]
        more = f" and {len(named) - CHOICES} more" if len(named) > CHOICES else ""
        raise ValueError(f"{level} = {text!r} is the name of {len(named)}: {', '.join(choices)}{more}; write the code")
