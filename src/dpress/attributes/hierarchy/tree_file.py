"""Trees from tables and files, a row a leaf, and back: codes in a column a level -> sorted paths -> levels, spine.

A column of texts for every level, and if it has them `name` (of the leaf), `<level>_name`, `lon` and `lat`. Vectorised:
220,000 leaves take a fraction of a second.
"""

import errno
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.hierarchy.tree import Grouping, Level, Tree
from dpress.core.basics import regular_file
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine

TEXT = pa.large_string()
NAME, LON, LAT = "name", "lon", "lat"
Firsts = npt.NDArray[np.bool_]


def read(path: Path, name: str) -> pa.Table:
    """Return the columns of a CSV or Parquet file as texts.

    Args:
        path: of the file.
        name: of the file, as the specification has it.

    Raises:
        OSError: it cannot be read.
        SchemaMismatch: it is neither CSV in UTF-8 nor Parquet.
    """
    regular_file.check(path)
    if not path.exists():  # Arrow has words of its own for it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    try:
        return _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    except pa.ArrowInvalid:
        raise SchemaMismatch(f"{name}: expected a tree of codes, this is neither CSV in UTF-8 nor Parquet") from None


def _parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq  # noqa: PLC0415  # only where a tree is read

    with pq.ParquetFile(path) as file:
        return file.read()


def _csv(path: Path) -> pa.Table:
    from pyarrow import csv  # noqa: PLC0415  # only where a tree is read

    texts = dict.fromkeys(csv.open_csv(path).schema.names, pa.string())
    options = csv.ConvertOptions(column_types=texts, strings_can_be_null=True, null_values=[""])
    return csv.read_csv(path, convert_options=options)


def of_prefixes(codes: Sequence[str] | pa.Array, levels: Sequence[str], lengths: Sequence[int]) -> Tree:
    """Return the tree of codes that begin with those above them.

    Args:
        codes: of the leaves; a code that is shorter than some level's stands in it for itself.
        levels: coarse to fine.
        lengths: of the codes of every level, in characters.

    Raises:
        ValueError: a code is longer than the last level's, or stands twice.
    """
    leaves = pa.array(codes, TEXT)
    if len(leaves) and pc.max(pc.utf8_length(leaves)).as_py() > lengths[-1]:
        raise ValueError(f"a code is longer than the {lengths[-1]} characters of {levels[-1]}, the last level")
    columns = {level: pc.utf8_slice_codeunits(leaves, 0, length) for level, length in zip(levels, lengths, strict=True)}
    return of_table(pa.table(columns), levels)


def leaf_codes(table: pa.Table, level: str) -> pa.Array:
    """Return the codes of the leaves from a table of one column, or from that of their level.

    Raises:
        ValueError: there is no such column, or a code is missing.
    """
    name = table.column_names[0] if table.num_columns == 1 else level
    if name not in table.column_names:
        raise ValueError(f"there is no column {name!r} with the codes; the columns are {', '.join(table.column_names)}")
    codes = _texts(table, name)
    if codes.null_count:
        raise ValueError(f"row {pc.index(pc.is_null(codes), True).as_py() + 1:,} has no code")
    return codes


def of_table(table: pa.Table, levels: Sequence[str], places: Sequence[str] = ()) -> Tree:
    """Return the tree of a table, a row a leaf; columns that say nothing of it are left out.

    Args:
        table: with a column for every level, null or empty where a region has none of it.
        levels: coarse to fine.
        places: further columns, with the place off the tree that each leaf is in, null or empty where it is in none.

    Raises:
        ValueError: a column is missing, or the rows are no tree; one line with the first fault.
    """
    if missing := [name for name in (*levels, *places) if name not in table.column_names]:
        raise ValueError(f"there is no column {missing[0]!r}; the columns are {', '.join(table.column_names)}")
    if not table.num_rows:
        raise ValueError("there are no rows; expected one for every leaf")
    raw = [_texts(table, level) for level in levels]
    titles = [_titles(table, level, levels) for level in levels]
    codes, titles = _alone(raw, titles)
    ranks = [_ranks(column) for column in codes]
    order = np.lexsort(ranks[::-1])
    firsts = _firsts([rank[order] for rank in ranks])
    codes, titles = ([column.take(pa.array(order)) for column in columns] for columns in (codes, titles))
    _check(levels, codes, firsts)
    _check_alone(levels, codes, [np.asarray(column.is_null())[order] for column in raw], firsts)
    nodes = tuple(
        Level(name=level, codes=column.filter(pa.array(first)), names=_names(level, column, title, first))
        for level, column, title, first in zip(levels, codes, titles, firsts, strict=True)
    )
    lon, lat = (_numbers(table, name, levels, order) for name in (LON, LAT))
    groupings = tuple(_grouping(table, name, order) for name in places)
    return Tree(nodes_of=nodes, spine=_spine(firsts), lon=lon, lat=lat, groupings=groupings)


def as_table(tree: Tree) -> pa.Table:
    """Return the table that `of_table` makes the same tree of."""
    columns: dict[str, Any] = {}
    for level in tree.nodes_of:
        above = pa.array(tree.ancestors(level.name))
        columns[level.name] = level.codes.take(above)
        if level.names is not None:
            columns[f"{level.name}_name"] = level.names.take(above)
    for each in tree.groupings:
        columns[each.name] = each.codes.take(pa.array(each.of_leaf, mask=each.of_leaf < 0))
    if tree.lon is not None and tree.lat is not None:
        columns |= {LON: tree.lon, LAT: tree.lat}
    return pa.table(columns)


def _grouping(table: pa.Table, name: str, order: Numbers) -> Grouping:
    """Return the places that a column has; `order` is that of the leaves."""
    places = _texts(table, name).take(pa.array(order))
    codes = pc.drop_null(pc.unique(places))
    codes = codes.take(pc.sort_indices(codes))
    if not len(codes):
        raise ValueError(f"the column {name!r} names no place")
    of_leaf = pc.fill_null(pc.index_in(places, value_set=codes), -1)
    return Grouping(name=name, codes=codes, of_leaf=np.asarray(of_leaf, dtype=np.int32))


def _texts(table: pa.Table, name: str) -> pa.Array:
    """Return a column as texts, null where it is empty."""
    column = table[name]
    try:
        texts = column.cast(TEXT).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"the column {name!r} holds no texts but {column.type}") from None
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, TEXT), texts)


def _titles(table: pa.Table, level: str, levels: Sequence[str]) -> pa.Array:
    """Return the names of a level's nodes for people, null where there are none."""
    wanted = (f"{level}_name", *((NAME,) if level == levels[-1] else ()))
    there = [name for name in wanted if name in table.column_names and name not in levels]
    return _texts(table, there[0]) if there else pa.nulls(table.num_rows, TEXT)


def _numbers(table: pa.Table, name: str, levels: Sequence[str], order: Numbers) -> Array | None:
    if name not in table.column_names or name in levels:
        return None
    try:
        column = table[name].cast(pa.float64()).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"the column {name!r} holds what is no number of degrees") from None
    return np.asarray(pc.fill_null(column, np.nan))[order]


def _alone(raw: list[pa.Array], titles: list[pa.Array]) -> tuple[list[pa.Array], list[pa.Array]]:
    """Return codes and names with those of a region itself at the levels of which it has none."""
    codes, names = [*raw], [*titles]
    count = len(raw)
    for place, beside in (*((place, place + 1) for place in range(count - 2, -1, -1)),
                          *((place, place - 1) for place in range(1, count))):  # fmt: skip
        absent = pc.is_null(codes[place])
        codes[place] = pc.if_else(absent, codes[beside], codes[place])
        names[place] = pc.if_else(absent, names[beside], names[place])
    if codes[0].null_count:
        raise ValueError(f"row {pc.index(pc.is_null(codes[0]), True).as_py() + 1:,} has no code at any level")
    return codes, names


def _ranks(column: pa.Array) -> Numbers:
    """Return the place of every text among the different ones, in the order of their bytes."""
    encoded = column.dictionary_encode()
    ranks = np.empty(len(encoded.dictionary), dtype=np.int64)
    ranks[np.asarray(pc.sort_indices(encoded.dictionary))] = np.arange(len(ranks))
    return np.asarray(ranks[np.asarray(encoded.indices)])


def _firsts(ranks: list[Numbers]) -> list[Firsts]:
    """Return for every level which of the sorted leaves is the first below its node."""
    first = np.zeros(len(ranks[0]), dtype=np.bool_)
    first[0] = True
    firsts = []
    for rank in ranks:
        first = first.copy()
        first[1:] |= rank[1:] != rank[:-1]
        firsts.append(first)
    return firsts


def _check(levels: Sequence[str], codes: list[pa.Array], firsts: list[Firsts]) -> None:
    """Refuse a code in several places, and a leaf that has several rows."""
    for depth, (level, column, first) in enumerate(zip(levels, codes, firsts, strict=True)):
        nodes = column.filter(pa.array(first))
        counts = pc.value_counts(nodes)
        if len(counts) < len(nodes):
            code = counts.field(0).filter(pc.greater(counts.field(1), 1))[0].as_py()
            where = pa.array(first & np.asarray(pc.equal(column, code)))
            parents = " and ".join(map(repr, codes[depth - 1].filter(where)[:2].to_pylist()))
            raise ValueError(f"the {level} {code!r} lies in both {parents} of {levels[depth - 1]}")
    if not firsts[-1].all():
        code = codes[-1][int(np.flatnonzero(~firsts[-1])[0])].as_py()
        raise ValueError(f"the {levels[-1]} {code!r} stands in several rows; expected one row a leaf")


def _check_alone(levels: Sequence[str], codes: list[pa.Array], absent: list[Firsts], firsts: list[Firsts]) -> None:
    """Refuse a region without a level whose code some region of that level has."""
    for level, column, alone, first in zip(levels, codes, absent, firsts, strict=True):
        if (differs := alone != alone[first][np.cumsum(first) - 1]).any():
            code = column[int(np.flatnonzero(differs)[0])].as_py()
            raise ValueError(f"the {level} {code!r} has the code of a region that lies in no {level}")


def _names(level: str, codes: pa.Array, titles: pa.Array, first: Firsts) -> pa.Array | None:
    """Return the names of a level's nodes; None where there are none.

    Raises:
        ValueError: a node has two.
    """
    if titles.null_count == len(titles):
        return None
    names = titles.filter(pa.array(first))
    named = pc.fill_null(names.take(pa.array(np.cumsum(first) - 1)), "")
    if (differs := np.asarray(pc.not_equal(named, pc.fill_null(titles, "")))).any():
        place = int(np.flatnonzero(differs)[0])
        both = f"{named[place].as_py()!r} and {titles[place].as_py()!r}"
        raise ValueError(f"the {level} {codes[place].as_py()!r} has two names, {both}")
    return names


def _spine(firsts: list[Firsts]) -> Spine:
    starts = [np.array([0, int(firsts[0].sum())])]
    for first, finer in itertools.pairwise(firsts):
        node = np.cumsum(finer) - 1
        starts.append(np.append(node[first], node[-1] + 1))
    return Spine(starts=tuple(starts))
