"""Small instances to start from, one of which has no tour."""

from importlib import resources
from typing import Any

from fairway.problems.files import Content, read_content
from fairway.problems.instance import Instance
from fairway.serve.documents import instance_document

TITLES = {
    "serve/samples/couriers.csv": "Twenty parcels, each with its hour",
    "serve/samples/day.csv": "A day of visits: addresses, breaks, a pickup and its delivery",
    "serve/samples/optional.csv": "More calls than hours: which to leave out",
    "examples/feeder.csv": "A ship that grows deeper at every port",
    "serve/samples/collision.csv": "Two windows that collide: no tour, and why",
}
"""The files of the package that are shown, in this order."""


def listed() -> list[dict[str, Any]]:
    """Each example with its name, its title and the instance."""
    found = []
    for path, title in TITLES.items():
        file = resources.files("fairway") / path
        instance = read_content(Content(file.name, file.read_bytes()))
        assert isinstance(instance, Instance)
        name = file.name.partition(".")[0]
        found.append({"name": name, "title": title, "instance": instance_document(instance)})
    return found
