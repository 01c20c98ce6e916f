"""Attributes whose values are codes with levels; each node of a level is a cell.

value -> its text -> a leaf of the tree -> the node of the level above it -> a cell. The attribute names its tree by a
hash (`trees`), so that specifications and designs of a country stay small.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from dpress.attributes.hierarchy import trees
from dpress.attributes.hierarchy.places import Places
from dpress.attributes.named import WORDLESS
from dpress.attributes.policy import DROP, MISSING, OUTSIDE, REJECT, unnamed
from dpress.attributes.protocol import Cells, Codes, Policies
from dpress.attributes.spread import falling
from dpress.attributes.value import Value, text_of
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.near import meant
from dpress.core.basics.rng import Generator
from dpress.core.maps.runs import Runs, of_codes
from dpress.core.maps.spine import Spine

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from dpress.attributes.hierarchy.tree import Level, Tree
    from dpress.attributes.sql.engine_column import Column


class Hierarchy(Cells, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="hierarchy"):
    """Codes of a public tree; the nodes of one level are the cells.

    Args:
        levels: their names, coarse to fine: the columns of the file.
        column: of the rows, with codes of the finest level; the name unless stated.
        file: of the tree, CSV or Parquet, a row a leaf, a column a level; perhaps `name`, `<level>_name`, `lon`, `lat`.
        prefix: instead, how many characters of a code name its node at every level; then `values` lists all codes, or
            `file` has them in a column that is named as the last level.
        values: the codes of all leaves, with `prefix`.
        places: further columns of the file, with places off the tree that leaves are in, such as districts.
        tree: its SHA-256, once it was read.
        level: whose nodes are the cells; the finest unless stated.
        other: the name of the cell for what is no code of the tree, or "reject" or "drop".
        null: the name of the cell for missing values, or "reject" or "drop"; left out, a missing value is an `other`.
    """

    beside: ClassVar[str] = "other"
    kept_as: ClassVar[str] = "tree"
    no_device: ClassVar[str] = "devices hold no tree of codes"
    for_devices: ClassVar[str] = 'list the codes of a level as `values` of a categorical, or set model = "central"'
    levels: tuple[str, ...]
    column: str = ""
    file: str | UnsetType = UNSET
    prefix: tuple[int, ...] | UnsetType = UNSET
    values: tuple[str, ...] | UnsetType = UNSET
    places: tuple[str, ...] | UnsetType = UNSET
    tree: str = ""
    level: str = ""
    other: str = REJECT
    null: str | None = None

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if not self.levels or not all(self.levels) or len({*self.levels}) < len(self.levels):
            wanted = "`levels` must be different names, coarse to fine"
            raise ValueError(f"attribute {self.name}: {wanted}, got {[*self.levels]}")
        msgspec.structs.force_setattr(self, "column", self.column or self.name)
        msgspec.structs.force_setattr(self, "level", self.level or self.levels[-1])
        if fault := self._fault():
            raise ValueError(f"attribute {self.name}: {fault}")

    def _fault(self) -> str:  # noqa: PLR0911  # one return for each fault
        """Return what else is wrong; empty where nothing is."""
        if self.level not in self.levels:
            return (
                f"`level` must be one of {', '.join(self.levels)}, got {self.level!r}{meant(self.level, self.levels)}"
            )
        if self._places and not isinstance(self.prefix, UnsetType):
            return "`places` are columns of a file that has a column for every level, not `prefix`"
        if not isinstance(self.prefix, UnsetType):
            if [*self.prefix] != sorted({*self.prefix}) or len(self.prefix) != len(self.levels) or self.prefix[0] < 1:
                return f"`prefix` must be {len(self.levels)} rising numbers of characters, got {[*self.prefix]}"
        elif not isinstance(self.values, UnsetType):
            return "`values` need `prefix`, which says how they begin at every level"
        if not self.tree and isinstance(self.file, UnsetType) == isinstance(self.values, UnsetType):
            return "expected the public tree in `file`, or `prefix` and `values`"
        if not self.tree or not trees.is_at_hand(self.tree):
            return ""
        codes = [each.places for each in self.spine_tree.nodes_of] if self.extra else []
        taken = [name for name in self.extra if any(name in places for places in codes)]
        return f"`other` and `null` must name no code, got {taken[0]!r}" if taken else ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Take the tree along to another process, as Spark's workers are."""
        return _arrived, (trees.tree_of(self.tree) if self.tree else None, msgspec.to_builtins(self))

    def with_files(self, folder: Path) -> Self:
        """Return the attribute with its tree read; see `Named.with_files`."""
        from dpress.attributes.hierarchy import tree_file  # noqa: PLC0415  # Arrow takes a while to import

        if self.tree and trees.is_at_hand(self.tree):
            return self
        table, name = None, self.name
        if not isinstance(self.file, UnsetType):
            name = self.file
            places = (folder / name, Path(name))
            place = next((place for place in places if place.exists()), places[0])
            if self.tree and not place.exists():
                trees.tree_of(self.tree)  # which says where it is looked for
            table = tree_file.read(place, name)
        try:
            tree = self._tree(table)
        except ValueError as error:
            raise SchemaMismatch(f"{name}: {error}") from None
        if self.tree not in ("", tree.hash):
            raise SchemaMismatch(f"{name}: another tree than the one that was planned, {self.tree[:12]}...")
        return msgspec.structs.replace(self, tree=trees.remember(tree))

    def _tree(self, table: "pa.Table | None") -> "Tree":
        from dpress.attributes.hierarchy import tree_file  # noqa: PLC0415  # Arrow takes a while to import

        if isinstance(self.prefix, UnsetType):
            return tree_file.of_table(table, self.levels, self._places)
        codes = self.values if table is None else tree_file.leaf_codes(table, self.levels[-1])
        return tree_file.of_prefixes(codes, self.levels, self.prefix)

    @property
    def spine_tree(self) -> "Tree":
        """The tree.

        Raises:
            SchemaMismatch: it was not read.
        """
        return trees.tree_of(self.tree)

    @property
    def few_values(self) -> bool:
        """Codes of a tree occur again and again."""
        return True

    @property
    def spine(self) -> "Spine":
        """The tree down to the attribute's level; see `Cells.spine`."""
        return Spine(starts=self.spine_tree.spine.starts[: self.levels.index(self.level) + 1])

    def kept(self) -> "pa.Table":
        """Return the tree as a table, which a release holds."""
        from dpress.attributes.hierarchy import tree_file  # noqa: PLC0415  # Arrow takes a while to import

        return tree_file.as_table(self.spine_tree)

    def restored(self, read: "Callable[[], pa.Table]") -> None:
        """Read the tree that a release holds, unless it is known."""
        from dpress.attributes.hierarchy import tree_file  # noqa: PLC0415  # Arrow takes a while to import

        if (
            not trees.is_at_hand(self.tree)
            and trees.remember(tree_file.of_table(read(), self.levels, self._places)) != self.tree
        ):
            raise SchemaMismatch(f"attribute {self.name}: the tree of the release is not the one of its design")

    @property
    def tree_levels(self) -> tuple[str, ...]:
        """The names of all levels, coarse to fine, and of places off the tree beside them."""
        return (*self.levels, *self._places)

    @property
    def _places(self) -> tuple[str, ...]:
        return () if isinstance(self.places, UnsetType) else self.places

    @property
    def columns(self) -> tuple[str, ...]:
        """The column it reads."""
        return (self.column,)

    @property
    def reads(self) -> Literal["text"]:
        """What its column holds: texts, so that files keep leading zeros."""
        return "text"

    @property
    def size(self) -> int:
        """The number of nodes of the level, and of cells beside them."""
        return len(self._level) + len(self.extra)

    @property
    def _level(self) -> "Level":
        return self.spine_tree.level(self.level)

    @property
    def extra(self) -> tuple[str, ...]:
        """The cells beside the nodes: `other`, then `null`, where they are named."""
        return tuple(dict.fromkeys(name for name in self.policies if name not in (REJECT, DROP)))

    @property
    def policies(self) -> Policies:
        """What becomes of a value that is no code, and of a missing one."""
        return Policies(self.other, self.other if self.null is None else self.null)

    def labels_between(self, start: int, stop: int) -> list[str]:
        """Return the codes of the cells start..stop-1."""
        nodes = len(self._level)
        return [
            *self._level.codes[start : min(stop, nodes)].to_pylist(),
            *self.extra[max(start - nodes, 0) : max(stop - nodes, 0)],
        ]

    @property
    def labelled(self) -> bool:
        """Whether nodes of the level have names."""
        return self._level.names is not None

    @cached_property
    def captions(self) -> tuple[str, ...]:
        """The name of every cell, with its code where several have it; the code where it has none."""
        named = self._level.named
        pairs = zip(self.labels_between(0, len(self._level)), self.spine_tree.names(self.level), strict=True)
        return (*(f"{name} ({code})" if len(named.get(name, ())) > 1 else name for code, name in pairs), *self.extra)

    def code(self, label: str) -> int | None:
        """Return the cell of a code, or of a name that only one region has; None where there is none."""
        if label in self.extra:
            return len(self._level) + self.extra.index(label)
        try:
            return int(self.spine_tree.nodes(self.level, [label])[0])
        except ValueError:
            return None

    def cells_named(self, text: str) -> Sequence[int]:
        """Return the cell that a text names; see `Cells.cells_named`."""
        if text in self.extra:
            return [len(self._level) + self.extra.index(text)]
        return [int(node) for node in self.spine_tree.nodes(self.level, [text])]

    def at(self, level: str) -> Self:
        """Return the attribute with the nodes of another level as its cells; see `Named.at`."""
        return msgspec.structs.replace(self, level=level)

    def for_script(self, longest: int) -> dict[str, Any] | None:
        """Return the attribute as the script of a page reads it, with the levels above; see `Cells.for_script`."""
        if (plain := super().for_script(longest)) is None:
            return None
        above = self.levels[: self.levels.index(self.level) + 1]
        return plain | self.words_for_script | {"levels": [self._level_for_script(level) for level in above]}

    @property
    def words_for_script(self) -> dict[str, Any]:
        """What the script needs of a level beside its codes: names, and how many digits all codes have."""
        digits = len(self._level.codes[0].as_py()) if len(self._level.keys[0]) > len(self._level) else 0
        missing = {"missing": self.null} if self.missing_cell is not None else {}
        return missing | {"labels": self.captions, "digits": digits}

    def _level_for_script(self, level: str) -> dict[str, Any]:
        """Return a level as the script reads it: its nodes, and where they begin among the cells."""
        edges, coarse = self.spine_tree.below(level, self.level).tolist(), self.at(level)
        starts = [*edges, *(edges[-1] + 1 + place for place in range(len(self.extra)))]
        words = {"name": level, "size": coarse.size, "names": coarse.labels}
        return words | coarse.words_for_script | {"starts": starts}

    def remedy(self, texts: Mapping[str, int]) -> str:
        """Return at which level codes stop being in the tree, as far as they begin with the codes above them."""
        depths: Counter[int] = Counter()
        for text, rows in texts.items():
            depths[self.spine_tree.deepest(text)] += rows
        names = ("", *self.levels)
        depths_in_words = [
            f"{rows:,} begin like a {names[depth]} and name no {self.levels[min(depth, len(self.levels) - 1)]}"
            if depth
            else f"{rows:,} begin like no {self.levels[0]}"
            for depth, rows in sorted(depths.items())
        ]
        return f"of codes that are not in the tree {', '.join(depths_in_words)}" if depths_in_words else ""

    @property
    def levels_of_groups(self) -> Sequence[Sequence[str]]:
        """The codes along the path of every node of the level, its own first; see `Cells.levels_of_groups`."""
        paths = [self.spine_tree.level(above).codes.take(self.spine_tree.above(self.level, above)).to_pylist()
                 for above in reversed(self.levels[: self.levels.index(self.level) + 1])]  # fmt: skip
        return [(*path, "*") for path in zip(*paths, strict=True)]

    def coarsened(self, level: str) -> Cells:
        """Return the attribute with the nodes of a level at or above its own as cells; see `Cells.coarsened`."""
        if level in self._places:
            if self.level != self.levels[-1]:
                raise ValueError(f"{level} are places of the finest level, and {self.name} is released by {self.level}")
            codes = self.spine_tree.grouping(level).codes.to_pylist()
            return Places(name=self.name, level=level, values=tuple(codes))
        above = self.levels[: self.levels.index(self.level) + 1]
        if level not in above:
            raise ValueError(f"{self.name} is released by {self.level}: its levels are {', '.join(above)}, got {level}")
        return self.at(level)

    def coarser(self, cuts: frozenset[int]) -> Sequence[Self]:
        """Return the attribute at the levels above its own at whose borders all cuts lie; see `Named.coarser`."""
        return [self.at(level) for level in self.levels[: self.levels.index(self.level)] if cuts <= self._edges(level)]

    def _edges(self, level: str) -> frozenset[int]:
        """Return where the nodes of a level above begin and end among the cells, and those beside them."""
        return frozenset((*self.spine_tree.below(level, self.level).tolist(), *range(len(self._level), self.size + 1)))

    def widened(self, level: str, cells: Runs) -> Runs:
        """Return the nodes below those of a coarser level, or in places off the tree; see `Cells.widened`."""
        if level in self._places:
            wanted = np.concatenate([np.arange(first, last + 1) for first, last in cells])
            inside = np.isin(self.spine_tree.grouping(level).of_leaf, wanted)
            return of_codes(np.flatnonzero(inside).tolist())
        edges = self.spine_tree.below(level, self.level)
        edges = np.append(edges, edges[-1] + 1 + np.arange(len(self.extra)))
        return tuple((int(edges[first]), int(edges[last + 1]) - 1) for first, last in cells)

    @property
    def plain(self) -> Self:
        """The attribute with only what decides the code of a value; see `Cells.plain`."""
        null = None if self.null in (None, self.other) else self.null
        named = {"other": unnamed(self.other, "other"), "null": null and unnamed(null, "null")}
        return msgspec.structs.replace(
            self, **{**WORDLESS, "column": self.column}, **named, file=UNSET, prefix=UNSET, values=UNSET
        )

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return codes of leaves, the earlier the more often."""
        places = falling(rows, self.spine_tree.leaves, rng)
        return {self.column: np.array(self.spine_tree.nodes_of[-1].codes.take(places).to_pylist(), dtype=object)}

    @cached_property
    def key_cells(self) -> npt.NDArray[np.int32]:
        """The cell of every key of the leaves (`Level.keys`), shape (keys,)."""
        return self.spine_tree.ancestors(self.level)[self.spine_tree.nodes_of[-1].keys[1]]

    def cell_of(self, value: Value) -> int:
        """Return the node of a code; OUTSIDE where it is none of the tree's, MISSING where it is no text or integer."""
        text = text_of(value)
        if text is None:
            return MISSING
        leaf = self.spine_tree.nodes_of[-1].places.get(text)
        return OUTSIDE if leaf is None else int(self._above[leaf])

    @cached_property
    def _above(self) -> Codes:
        return self.spine_tree.ancestors(self.level)

    def arrow_cells(self, column: "pa.Array") -> Codes:
        """Return the cell of every value of an Arrow column; see `Cells.arrow_cells`."""
        from dpress.attributes.hierarchy import arrow  # noqa: PLC0415  # devices read no columns

        return arrow.cells(self, column)

    def sql_cell(self, column: "Column", otherwise: "exp.Expr") -> "exp.Expr | None":
        """Return the SQL of the cell of a code; None where there are too many. See `Cells.sql_cell`."""
        from dpress.attributes.hierarchy import sql  # noqa: PLC0415  # sqlglot takes a while to import

        return sql.cell(self, column, otherwise)


def _arrived(tree: "Tree | None", plain: dict[str, Any]) -> Hierarchy:
    """Return an attribute in the process that it was sent to, whose tree is then known there."""
    if tree is not None:
        trees.remember(tree)
    return msgspec.convert(plain, Hierarchy)


ATTRIBUTES = (Hierarchy,)
PLACE = 5
