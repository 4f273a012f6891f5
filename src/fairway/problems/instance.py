"""The names for 'an instance of any problem' and 'a set of any problem', and how to collect the one into the other."""

from collections.abc import Sequence

from fairway.errors import InvalidInstance
from fairway.problems.tspdl import TSPDL, TSPDLSet, tspdl_set
from fairway.problems.tsptw import TSPTW, TSPTWSet, tsptw_set

Instance = TSPTW | TSPDL
InstanceSet = TSPTWSet | TSPDLSet


def instance_set(instances: Sequence[Instance], name: str = "") -> InstanceSet:
    """A set of the given instances, all of one problem and one size."""
    if not isinstance(instances, Sequence) or not all(isinstance(i, Instance) for i in instances):
        raise InvalidInstance("a set is made of a list of instances; this is something else")
    windows = [instance for instance in instances if isinstance(instance, TSPTW)]
    drafts = [instance for instance in instances if isinstance(instance, TSPDL)]
    if not instances:
        raise InvalidInstance("a set holds at least one instance; none was given")
    if windows and drafts:
        raise InvalidInstance(
            "a set holds instances of one problem; these mix time windows and draft limits"
        )
    return tsptw_set(windows, name) if windows else tspdl_set(drafts, name)
