"""Stops as GeoJSON: a point per stop, its properties the columns of a table of stops."""

import re
from typing import Any

from fairway.problems.distances import Distances
from fairway.problems.files.columns import CANONICAL, header_of, plain
from fairway.problems.files.legs import Beside
from fairway.problems.files.rows import Table
from fairway.problems.files.sheet import cell_text
from fairway.problems.files.stops import instance_of
from fairway.problems.files.text import Unreadable, check_size, shortened
from fairway.problems.files.values import loaded
from fairway.problems.instance import Instance

COLLECTION = re.compile(r'"type"\s*:\s*"FeatureCollection"')
DEGREES = re.compile(r"CRS:?84|4326|WGS ?84$", re.IGNORECASE)
"""What places in longitude and latitude are said to be in."""
PLACES = ("x", "y", "lat", "lon", "coordinates")
"""Properties that say again where a point is; the geometry counts."""


def recognises(text: str) -> bool:
    """Whether it is a JSON object that calls itself a collection of features."""
    return text.lstrip()[:1] == "{" and COLLECTION.search(text) is not None


def parse(
    text: str, name: str, distances: Distances | None, beside: Beside | None = None
) -> Instance:
    """The instance of a collection of points in longitude and latitude, the depot first or marked."""
    document = loaded(text)
    features = document.get("features")
    if document.get("type") != "FeatureCollection" or not isinstance(features, list):
        raise Unreadable("is GeoJSON without a list of 'features'; expected a FeatureCollection")
    if not features:
        raise Unreadable(
            "the FeatureCollection is empty; expected a point per stop, the depot first"
        )
    check_size(len(features))
    _check_reference(document.get("crs"))
    places = [_place(feature, number) for number, feature in enumerate(features, 1)]
    said = [_properties(feature, number) for number, feature in enumerate(features, 1)]
    columns = list(dict.fromkeys(column for each in said for column in each))
    rows = [
        [*map(repr, place), *(cell_text(each.get(column)) for column in columns)]
        for place, each in zip(places, said, strict=True)
    ]
    try:
        table = Table(header_of(["lon", "lat", *columns], 0), rows, list(range(1, len(rows) + 1)))
        return instance_of(table, name, beside or Beside(distances))
    except Unreadable as error:  # which counts features, not lines
        where = f"feature {error.line}: " if error.line else ""
        raise Unreadable(f"{where}{error.message}") from error


def _place(feature: Any, number: int) -> tuple[float, float]:  # noqa: ANN401
    """Longitude and latitude of a feature, an altitude left out."""
    geometry = feature.get("geometry") if isinstance(feature, dict) else None
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    found = geometry.get("coordinates") if isinstance(geometry, dict) else None
    if kind == "MultiPoint" and isinstance(found, list) and len(found) == 1:  # as QGIS exports them
        kind, found = "Point", found[0]
    if kind != "Point":
        raise Unreadable(f"feature {number} is {_called(kind)}; expected a Point, one per stop")
    if (
        not isinstance(found, list)
        or len(found) < 2
        or not all(isinstance(each, int | float) and not isinstance(each, bool) for each in found)
    ):
        raise Unreadable(f"feature {number} has no [longitude, latitude]; expected two numbers")
    return float(found[0]), float(found[1])


def _check_reference(given: object) -> None:
    """Refuse places in anything but degrees, where the collection says in what they are."""
    said = given.get("properties") if isinstance(given, dict) else None
    name = said.get("name") if isinstance(said, dict) else None
    if isinstance(name, str) and not DEGREES.search(name):
        raise Unreadable(
            f"has its places in {shortened(name, 40)}; export it in longitude and latitude (EPSG:4326, WGS 84)"
        )


def _called(kind: object) -> str:
    return f"a {kind[:20]}" if isinstance(kind, str) else "without a geometry"


def _properties(feature: dict[str, Any], number: int) -> dict[str, Any]:
    """The properties of a feature, its id among them, without those that say where it is."""
    given = feature.get("properties") or {}
    if not isinstance(given, dict):
        raise Unreadable(
            f"the properties of feature {number} are no object; expected columns by name"
        )
    for column, value in given.items():
        if isinstance(value, list | dict):
            raise Unreadable(
                f"property {column[:40]!r} of feature {number} holds several values; expected one"
            )
    kept = {key: value for key, value in given.items() if CANONICAL.get(plain(key)) not in PLACES}
    named = {CANONICAL.get(plain(key)) for key in kept}
    return kept if "id" in named or "id" not in feature else {"id": feature["id"], **kept}
