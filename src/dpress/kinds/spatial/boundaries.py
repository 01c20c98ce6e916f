"""Named areas of a file that the user gives, GeoJSON (RFC 7946): polygons in the units of the map's columns.

file -> features -> names, rings. A file is public: nothing of the release depends on it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.basics.regular_file import read
from dpress.core.maps.linear import Array
from dpress.kinds.spatial.outlines import Box, on_earth

MOST = 1000  # areas of a page
NAME = "name"
DEGREES = ("CRS84", "EPSG::4326", "EPSG:4326")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Area:
    """A named area: the points that an odd number of its rings are around, so that holes and islands are right.

    Args:
        name: what it is called before people.
        rings: closed lines, each of shape (points, 2), across and up.
    """

    name: str
    rings: tuple[Array, ...]

    @property
    def ends(self) -> Box:
        """How far it reaches."""
        points = np.concatenate(self.rings)
        (left, bottom), (right, top) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        return (left, right), (bottom, top)


def read_boundaries(path: str | Path, box: Box, names: tuple[str, str]) -> tuple[Area, ...]:
    """Return the areas of a file that reach onto a map, in the file's order; features of one name are one area.

    The name is the property `name`, in any case; else the first text that every feature has, each another one.

    Args:
        path: of the file.
        box: the map's bounds.
        names: of its columns, across and up: whether it is one of longitude and latitude.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no GeoJSON, has no polygons or no names, is in other units, or lies beside the map.
    """
    content = _json(path)
    earth = on_earth(box, names)
    if earth:
        _check_units(path, content)
    features = list(_features(path, content))
    rings: dict[str, list[Array]] = {}
    for name, feature in zip(_names(path, features), features, strict=True):
        rings.setdefault(name, []).extend(_rings(path, feature.get("geometry") or {}))
    areas = tuple(Area(name=name, rings=tuple(lines)) for name, lines in rings.items() if lines)
    if not areas:
        raise ValueError(f"{path}: no feature is a Polygon or a MultiPolygon")
    return _on_map(path, areas, box, earth=earth)


def _json(path: str | Path) -> Mapping[str, Any]:
    try:
        content = json.loads(read(path))
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: no GeoJSON: it is not JSON; expected a FeatureCollection of polygons") from None
    if not isinstance(content, dict) or content.get("type") not in ("FeatureCollection", "Feature"):
        raise ValueError(f'{path}: no GeoJSON: expected {{"type": "FeatureCollection", "features": [...]}}')
    return content


def _check_units(path: str | Path, content: Mapping[str, Any]) -> None:
    """Refuse a file that says, as old ones do, that it is not of degrees."""
    system = ((content.get("crs") or {}).get("properties") or {}).get(NAME)
    if system is not None and not str(system).endswith(DEGREES):
        raise ValueError(
            f"{path}: in {system}, and the map is of degrees; expected EPSG:4326 (ogr2ogr -t_srs EPSG:4326)"
        )


def _features(path: str | Path, content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    features = content.get("features", []) if content["type"] == "FeatureCollection" else [content]
    if not isinstance(features, list) or not features:
        raise ValueError(f"{path}: it has no features")
    for place, feature in enumerate(features):
        if not isinstance(feature, dict) or feature.get("type") != "Feature":
            raise ValueError(f"{path}: $.features[{place}]: expected a Feature")
        yield feature


def _names(path: str | Path, features: Sequence[Mapping[str, Any]]) -> list[str]:
    properties = [feature.get("properties") or {} for feature in features]
    keys = list(dict.fromkeys(key for each in properties for key in each))
    distinct = (key for key in keys if len({_text(each.get(key)) for each in properties} - {""}) == len(features)
                and all(isinstance(each[key], str) for each in properties))  # fmt: skip
    key = next((key for key in keys if key.casefold() == NAME), None) or next(distinct, None)
    if key is None:
        there = f"they have {', '.join(keys)}" if keys else "they have no properties"
        raise ValueError(f'{path}: features need a property "{NAME}"; {there}')
    for place, each in enumerate(properties):
        if not _text(each.get(key)):
            raise ValueError(f'{path}: $.features[{place}].properties: expected a text or a number as "{key}"')
    return [_text(each[key]) for each in properties]


def _text(name: object) -> str:
    return str(name).strip() if isinstance(name, str | int) and not isinstance(name, bool) else ""


def _rings(path: str | Path, geometry: Mapping[str, Any]) -> list[Array]:
    """Return the rings of a polygon or of several; none of points and lines."""
    depth = {"Polygon": 1, "MultiPolygon": 2}.get(geometry.get("type", ""))
    if depth is None:
        return []
    rings = geometry.get("coordinates", [])
    try:
        rings = [ring for polygon in rings for ring in polygon] if depth > 1 else rings
        lines = [np.array([point[:2] for point in ring], dtype=np.float64) for ring in rings]
    except (TypeError, ValueError, IndexError):
        lines = [np.zeros(0)]
    if not all(line.ndim == 2 and line.shape[1] == 2 and len(line) > 2 and np.isfinite(line).all() for line in lines):
        raise ValueError(f"{path}: a {geometry['type']} has coordinates that are no rings of [across, up] numbers")
    return lines


def _on_map(path: str | Path, areas: Sequence[Area], box: Box, *, earth: bool) -> tuple[Area, ...]:
    """Return the areas whose extents and the map's overlap."""
    ends = [area.ends for area in areas]
    reaching = tuple(area for area, each in zip(areas, ends, strict=True) if _overlap(each, box))
    if not reaching:
        across, up = ((min(each[k][0] for each in ends), max(each[k][1] for each in ends)) for k in (0, 1))
        exchanged = " Are both exchanged?" if any(_overlap((each[1], each[0]), box) for each in ends) else ""
        units = " Is it in metres?" if earth and max(map(abs, (*across, *up))) > 360 else ""
        raise ValueError(
            f"{path}: no area lies on the map: across {_range(across)}, up {_range(up)}; "
            f"the map has {_range(box[0])} and {_range(box[1])}.{exchanged}{units}"
        )
    if len(reaching) > MOST:
        raise ValueError(f"{path}: {len(reaching):,} areas lie on the map, and a page shows at most {MOST:,}")
    return reaching


def _overlap(first: Box, second: Box) -> bool:
    return all(low[0] < high[1] and high[0] < low[1] for low, high in zip(first, second, strict=True))


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.6g} to {ends[1]:.6g}"
