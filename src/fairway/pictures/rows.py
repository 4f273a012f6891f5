"""What the rows beside the map stand for: the steps of a plan and the stops left out, or all stops by their limits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.judge import Rejection
from fairway.outputs.plan import Plan, Step, has_times
from fairway.problems.instance import Instance

Kind = Literal["stop", "return", "break", "left out"]
Values = Float[np.ndarray, " R"]
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a stop, the return, a break, or a stop that the tour leaves out."""

    kind: Kind
    node: int
    """-1 of a break."""
    windows: tuple[Span, ...]
    """When service, or the break, may start."""
    until: float
    """Until when it may start late, at a price; the last closing where it may not."""
    wrong: bool = False
    step: Step | None = None
    """What the tour does there, where there is one."""

    @property
    def closes(self) -> float:
        """The last closing."""
        return self.windows[-1][1]


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a picture with their labels."""

    rows: tuple[Row, ...]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def wrong(self) -> Bool[np.ndarray, " R"]:
        """The rows in which a limit is broken."""
        return np.array([row.wrong for row in self.rows], bool)

    @property
    def nodes(self) -> Int[np.ndarray, " R"]:
        """The node of each row."""
        return np.array([row.node for row in self.rows], np.int64)

    def amounts(self, name: str) -> Values:
        """What a tour has in each row by the name of a step's field; nan where it has nothing."""
        return np.array(
            [math.nan if row.step is None else getattr(row.step, name) for row in self.rows], float
        )


def _rest(row: Row) -> str:
    return "break" if row.step is None else row.step.name


def rows_of(instance: Instance, plan: Plan | None, labels: Sequence[str]) -> Rows:
    """The rows of a plan in its order, or of an instance by its limits."""
    found = _by_limits(instance) if plan is None else _in_order(instance, plan)
    return Rows(
        tuple(found), [_rest(row) if row.kind == "break" else labels[row.node] for row in found]
    )


def _in_order(instance: Instance, plan: Plan) -> list[Row]:
    violations = plan.judged.violations if isinstance(plan.judged, Rejection) else ()
    wrong = {each.node for each in violations if each.rule != "break"}
    found, taken = [], set()
    for step in plan.steps[1:]:
        if step.kind == "break":
            assert step.number is not None
            taken.add(step.number)
            found.append(_break(instance, step.number, step=step))
        elif step.node or has_times(instance):
            assert step.node is not None
            found.append(_visit(instance, step.node, wrong=step.node in wrong, step=step))
    if any(each.rule == "break" for each in violations):
        missed = [number for number in range(len(instance.breaks)) if number not in taken]
        found += [_break(instance, number, wrong=True) for number in missed]
    left = [_visit(instance, node, wrong=node in wrong) for node in plan.unserved]
    return found + [Row("left out", row.node, row.windows, row.until, row.wrong) for row in left]


def _by_limits(instance: Instance) -> list[Row]:
    """The first to close, or the shallowest, on top; the depot and the breaks below."""
    stops = [_visit(instance, node) for node in range(1, instance.nodes)]
    if has_times(instance):
        stops.sort(key=lambda row: (row.closes, row.windows[0][0]))
        stops.append(_visit(instance, 0))
    else:
        stops.sort(key=lambda row: min(instance.draft[row.node], instance.capacity))
    return stops + [_break(instance, number) for number in range(len(instance.breaks))]


def _visit(instance: Instance, node: int, *, wrong: bool = False, step: Step | None = None) -> Row:
    single = ((float(instance.opens[node]), float(instance.closes[node])),)
    windows = instance.windows.get(node, single)
    soft = math.isfinite(instance.late[node])
    until = float(instance.latest[node]) if soft else windows[-1][1]
    return Row("stop" if node else "return", node, windows, until, wrong, step)


def _break(
    instance: Instance, number: int, *, wrong: bool = False, step: Step | None = None
) -> Row:
    first, last, _ = instance.breaks[number]
    return Row("break", -1, ((first, last),), last, wrong, step)
