"""A beginning that a plan must keep."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fairway.errors import InvalidRequest
from fairway.judge.rules import label
from fairway.problems.instance import Instance


def locked(instance: Instance, fixed: Sequence[int]) -> Instance:
    """The same with a beginning that every tour must have: these stops first, in this order.

    A tour of it is a tour of the instance, and worth as much.
    """
    begin = [int(stop) for stop in fixed]
    stops = [node for node in range(1, instance.nodes) if node != instance.end]
    if len(set(begin)) < len(begin) or not set(begin) <= set(stops):
        raise InvalidRequest(
            f"fixed is {tuple(fixed)}; expected different stops of the instance, neither the start nor the end"
        )
    place = {stop: at for at, stop in enumerate(begin)}
    for first, then in (*instance.before, *instance.pairs):
        if then in place and place.get(first, len(begin)) > place[then]:
            raise InvalidRequest(
                f"fixed has stop {label(instance, then)}, which comes only after {label(instance, first)}; "
                "expected that before it"
            )
    if not begin:
        return instance
    prize = np.array(instance.prize)
    prize[begin] = np.inf
    chain = list(pairwise(begin))
    rest = [(begin[-1], stop) for stop in stops if stop not in begin]
    return replace(instance, prize=prize, before=(*instance.before, *chain, *rest))
