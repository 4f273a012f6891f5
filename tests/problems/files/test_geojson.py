import json

import pytest

import fairway
from fairway.errors import InvalidFile

ROWS = [
    ("Depot", 10.75, 59.91, "07:30", "17:00", None),
    ("Mill", 10.70, 59.93, "08:30", "10:00", 15),
    ("School", 10.79, 59.88, "09:15", "12:00", 90),
]


def stops(**changes):
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [lon, lat]},
            "properties": {
                "name": name,
                "open": opens,
                "close": closes,
                "service": service,
                "Phone": "5",
            },
        }
        for name, lon, lat, opens, closes, service in ROWS
    ]
    features[1] |= changes
    return {"type": "FeatureCollection", "features": features}


@pytest.fixture
def read(tmp_path):
    def read(document, **beside):
        path = tmp_path / "stops.geojson"
        path.write_text(json.dumps(document))
        return fairway.read(path, **({"speed": 40} | beside))

    return read


def test_points_are_read_like_the_rows_of_a_table(read, tmp_path):
    lines = ["name,lon,lat,open,close,service,Phone"]
    lines += [",".join("" if cell is None else str(cell) for cell in (*row, "5")) for row in ROWS]
    (tmp_path / "stops.csv").write_text("\n".join(lines))
    table, points = fairway.read(tmp_path / "stops.csv", speed=40), read(stops())
    assert points.travel.tolist() == table.travel.tolist()
    assert points.opens.tolist() == table.opens.tolist()
    assert points.service.tolist() == table.service.tolist()
    assert points.names == table.names
    assert points.source == table.source


def test_what_is_planned_comes_back_as_geojson(read, tmp_path):
    instance = read(stops())
    fairway.write_plan(instance, fairway.solve(instance), tmp_path / "plan.geojson")
    line = json.loads((tmp_path / "plan.geojson").read_text())["features"][0]
    assert line["geometry"]["coordinates"][1] == [10.70, 59.93]


def test_the_id_of_a_feature_is_an_id_and_repeated_places_are_passed_over(read):
    document = stops()
    for number, feature in enumerate(document["features"]):
        feature["id"] = f"s{number}"
        feature["properties"] |= {"latitude": 0, "longitude": 0}
    instance = read(document)
    assert instance.source.ids == ("s0", "s1", "s2")
    assert instance.coordinates[1].tolist() == [10.70, 59.93]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"geometry": {"type": "LineString", "coordinates": []}}, "feature 2 is a LineString; expected a Point"),
        ({"geometry": None}, "feature 2 is without a geometry"),
        ({"geometry": {"type": "Point", "coordinates": ["a", 2]}}, "feature 2 has no .longitude, latitude."),
        ({"properties": [1]}, "properties of feature 2 are no object"),
        ({"properties": {"name": "Mill", "tags": ["a"]}}, "'tags' of feature 2 holds several values"),
        ({"properties": {"name": "Mill", "open": "soon"}}, "feature 2: .*'soon'"),
        ({"geometry": {"type": "Point", "coordinates": [59, 190]}}, "feature 2: .*no place on earth"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_stop_is_refused_by_its_number(changes, said, read):
    with pytest.raises(InvalidFile, match=said):
        read(stops(**changes))


@pytest.mark.parametrize("features", [None, [], {}])
def test_a_collection_of_nothing_is_refused(features, read):
    with pytest.raises(InvalidFile, match="FeatureCollection"):
        read({"type": "FeatureCollection", "features": features})


def test_a_point_that_is_called_several_is_one(read):
    alone = {"type": "MultiPoint", "coordinates": [[10.70, 59.93]]}
    assert read(stops(geometry=alone)).travel.tolist() == read(stops()).travel.tolist()
    with pytest.raises(InvalidFile, match="feature 2 is a MultiPoint; expected a Point"):
        read(stops(geometry={"type": "MultiPoint", "coordinates": [[1, 2], [3, 4]]}))


def test_places_in_metres_are_refused_by_what_they_are_in(read):
    def crs(name):
        return stops() | {"crs": {"type": "name", "properties": {"name": name}}}

    for name in ("urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326"):
        assert read(crs(name)).nodes == 3
    with pytest.raises(InvalidFile, match="has its places in 'EPSG:3857'; export it in longitude"):
        read(crs("EPSG:3857"))


def test_a_speed_or_a_matrix_is_asked_for(read):
    with pytest.raises(InvalidFile, match="give a speed in km/h"):
        read(stops(), speed=None)
