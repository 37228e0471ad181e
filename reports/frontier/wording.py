"""Wording of the results of a plan of two quantities, for the terminal and the page."""

from netcarlo.planning.designs import Design, Frontier, cheapest
from netcarlo.planning.run import Answer
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.wording import capital
from netcarlo.reports.plan import wording

Row = dict[str, str]


def title(found: Frontier) -> str:
    """The second quantity."""
    assert found.plan.across is not None
    return found.plan.across.name.replace("_", " ")


def beside(found: Frontier, number: float) -> str:
    """A value of the second quantity."""
    assert found.plan.across is not None
    return wording.value_in(found.plan.across.dimension, number)


def price(found: Frontier, number: float) -> str:
    """A cost, in the currency of the plan."""
    return f"{scales.trimmed(number, 4)} {found.plan.spec.currency}".rstrip()


def design(found: Frontier, at: Design) -> str:
    """A design: both quantities with their values."""
    first = f"{wording.title(found.plan)} {wording.value(found.plan, at.value)}"
    return f"{first} and {title(found)} {beside(found, at.beside)}"


def priced(found: Frontier, at: Design) -> str:
    """A design with its cost."""
    return f"{design(found, at)}: {price(found, at.cost)}"


def headline(found: Frontier) -> str:
    """The answer in a few words."""
    plan = found.plan
    if not found.decided:
        return "No answer yet."
    if (best := found.cheapest) is not None:
        cheapest = "Cheapest so far" if found.provisional else "Cheapest"
        return f"{cheapest}: {design(found, best)}, for {price(found, best.cost)}."
    if (best_answer := found.answer) is None or best_answer.holds is None:
        where = f"{title(found)} looked at so far" if found.missing else title(found)
        return f"{capital(wording.title(plan))}: no value is known to meet the requirements, at any {where}."
    limits = [f"{_limit(answer)} at {title(found)} {_beside(found, answer)}" for answer in found.answers]
    return f"{capital(wording.title(plan))}: {', '.join(limits)}."


def _limit(answer: Answer) -> str:
    """Return the last value that is known to hold, and the point estimate while values are undecided."""
    if not answer.undecided or answer.holds is None or answer.likely is None:
        return wording.known(answer)
    about = wording.estimate(answer.plan, answer.likely)
    return f"{wording.value(answer.plan, answer.holds)} (about {about})"


def explanation(found: Frontier) -> str:
    """Return the statements that hold with the confidence of the plan, and what is undecided."""
    plan, n = found.plan, len(found.plan.designs)
    sure = f"With {wording.share(plan.confidence)} confidence"
    text = f"{sure} all verdicts (known to hold, known to fail) are correct, "
    text += f"at all {n} values of {title(found)} together."
    if (least := found.least) is not None and found.cheapest is not None:
        if least.cost >= found.cheapest.cost:
            text += f" No design of these costs less than {price(found, found.cheapest.cost)}."
        else:
            text += f" No design costs less than {price(found, least.cost)} ({design(found, least)}); "
            text += f"those that cost less than {price(found, found.cheapest.cost)} are not all decided."
    elif least is not None:
        text += f" No design costs less than {price(found, least.cost)} ({design(found, least)})."
    for answer in found.answers:
        if answer.undecided:
            text += f" At {title(found)} {_beside(found, answer)}, {wording.undecided(answer, found.stopped)}"
    if found.missing:
        where = listed([beside(found, one.beside.value) for one in found.missing if one.beside])
        text += f" Designs with {title(found)} {where} were not evaluated."
    bumpy = [answer for answer in found.answers if not answer.monotone]
    if bumpy:
        where = f"{title(found)} {_beside(found, bumpy[0])}"
        text += f" At {where} the curve is not monotone: there may be another limit."
    if found.stopped:
        at = f"{len(found.answers)} of {n} values of {title(found)}"
        tried = f"{found.cost['values']} of {scales.count(found.cost['of_values'])} designs were tried"
        text += f" The plan was stopped ({found.stopped}) at {at}: {tried}."
    if plan.of_year:
        text += f" {wording.OF_YEAR}"
    if found.answer is not None and (lost := wording.losses(found.answer)):
        text += f" {lost}"
    return text


def listed(texts: list[str]) -> str:
    """Texts in a line: `20, 40 and 80`."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def rows(found: Frontier) -> list[Row]:
    """A row for each value of the second quantity."""
    plan, table = found.plan, []
    for answer in found.answers:
        row = {
            title(found): _beside(found, answer),
            "known to hold": _value(answer, answer.holds),
            "known to fail": _value(answer, answer.fails),
            "point estimate": "–" if answer.likely is None else wording.estimate(answer.plan, answer.likely),
            "active constraint": answer.binding or "none",
        }
        if plan.spec.cost is not None:
            cheap = cheapest(answer)
            row["cheapest"] = "–" if cheap is None else price(found, cheap.cost)
        row["replications"] = scales.count(answer.cost["replications"])
        table.append(row)
    for one in found.missing:
        assert one.beside is not None
        cells = {**dict.fromkeys(table[0], "–"), title(found): beside(found, one.beside.value)}
        table.append({**cells, "active constraint": "not evaluated", "replications": "0"})
    return table


def _beside(found: Frontier, answer: Answer) -> str:
    assert answer.plan.beside is not None
    return beside(found, answer.plan.beside.value)


def _value(answer: Answer, number: float | None) -> str:
    return "–" if number is None else wording.value(answer.plan, number)
