"""The words over a picture: which instance it is, what the judge says, what the rows show."""

from matplotlib.figure import Figure

from fairway.judge import Rejection, Solution
from fairway.outputs import words
from fairway.outputs.plan import Plan, has_times, name_of
from fairway.pictures.page import Page
from fairway.pictures.sheet import shortened
from fairway.problems.instance import TOLERANCE, Instance
from fairway.problems.table import PROBLEMS


def number(value: float) -> str:
    """A number with the digits a reader wants: all of a whole one, six of any other."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e12 else f"{value:.6g}"


def title(instance: Instance) -> str:
    """Which instance this is."""
    known = PROBLEMS.get(instance.problem)
    what = "tour" if known is None else known.title
    facts = (shortened(instance.name, 60), what, f"{instance.nodes} nodes")
    return "  ·  ".join(fact for fact in facts if fact.strip())


def notes(instance: Instance, plan: Plan | None) -> list[str]:
    """What is asked for where the title does not say it, and what is left out."""
    asked = [] if instance.classic else [f"with {', '.join(instance.constraints)}"]
    left = [] if plan is None else [name_of(instance, node) for node in plan.unserved]
    return asked + ([f"left out: {', '.join(left)}"] if left else [])


def verdict(instance: Instance, plan: Plan | None, known: str) -> str:
    """What the judge says of the tour, in one line."""
    match None if plan is None else plan.judged:
        case None:
            return "no tour"
        case Solution() as solution:
            assert plan is not None
            return f"{known}:  {',  '.join(_facts(instance, plan, solution))}"
        case Rejection(violations=(first, *rest)):
            count = "1 violation" if not rest else f"{len(rest) + 1} violations; first"
            return f"REFUSED: {count}: {first.why}"
    raise AssertionError("a rejection lists at least one violation")


def _facts(instance: Instance, plan: Plan, solution: Solution) -> list[str]:
    """The numbers of a tour that a reader of this instance asks for."""
    facts = [f"cost {number(solution.cost)}"]
    if solution.lateness > TOLERANCE:
        facts.append(f"late by {words.span(instance, solution.lateness)} in all")
    if solution.unserved:
        facts.append(f"{len(solution.unserved)} left out")
    if solution.value not in (solution.cost, solution.makespan, solution.duration):
        facts.append(f"value {number(solution.value)}")
    if not has_times(instance):
        return facts
    clocked = instance.source is not None and instance.source.clock is not None
    ends = f"ends at {words.time(instance, solution.makespan)}"
    facts.append(ends if clocked else f"makespan {number(solution.makespan)}")
    leaves, latest = (words.time(instance, t) for t in (plan.departure, plan.latest_departure))
    facts.append(f"leaves at {leaves}" + (f", at the latest {latest}" if leaves != latest else ""))
    return facts


def over_rows(figure: Figure, page: Page, instance: Instance, plan: Plan | None) -> None:
    """What the rows show, over the first column of them."""
    timed, beside = has_times(instance), len(page.parts) > 1
    first = next(axes for axes in figure.axes if axes.get_label() == "schedule")
    said = ("Drafts, the shallowest port on top", "Load at each port, in tour order downward")
    if timed:
        end = "; the last row is the return" if instance.end == 0 and not beside else ""
        if plan is not None and plan.unserved and not beside:
            end = ""
        said = ("Windows, the first to close on top", f"Schedule, in tour order downward{end}")
    first.set_title(said[plan is not None], fontsize=10, loc="left")
    for axes in figure.axes:
        if axes.get_label() == "load":
            axes.set_title("Load", fontsize=10, loc="left")
            break
