"""Claims that a study states as data, judged by simulated numbers and by those of the paper."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from netcarlo.errors import InputError, prefixed
from netcarlo.schema.document import Location
from netcarlo.studies import rules
from netcarlo.studies.cells import Samples, estimate
from netcarlo.studies.claims import Claim, Verdict, ends, every
from netcarlo.studies.quantities import Scope, conditions, evaluate
from netcarlo.studies.stated import StatedClaim

_FIELD = re.compile(r"\{([^{}]+)\}")
_FORMAT = re.compile(r"(.+):\s*([^:\[\]()]*?)\s*(\bci)?\s*", re.DOTALL)

_FORM = re.compile(r"[-+ ]?,?(\.\d{1,2})?[efg%]?")
"""Pattern of a format that cannot produce a text of any length."""


class ClaimError(InputError):
    """Fault of a claim, with the location of the field in `study.yaml`."""

    at: Location = ()


@dataclass(frozen=True)
class Found:
    """Verdict, evidence and quantity of a claim by one set of numbers."""

    verdict: Verdict
    """Verdict."""
    evidence: str
    """Sentence with the numbers."""
    expression: str
    """Expression of the quantity."""
    label: str
    """Description of the quantity."""
    samples: Samples | None
    """Values of the quantity, one per replication; None without a quantity."""


def claim(name: str, stated: StatedClaim, simulated: Scope, printed: Scope) -> Claim:
    """Return a claim with its verdict. Raises ClaimError."""
    ours = _found(name, stated, simulated)
    theirs = _found(name, stated, printed) if stated.own else None
    published, evidence = stated.published, ours.evidence
    if theirs is not None:
        if theirs.samples is not None and theirs.label == ours.label:
            published = published or f"{float(np.mean(theirs.samples)):{stated.digits}}"
        evidence = f"{evidence}. The paper's own numbers: {theirs.evidence}"
    return Claim(
        id=name,
        text=stated.text,
        where=stated.source,
        verdict=ours.verdict,
        own=theirs.verdict if theirs is not None else None,
        quantity=ours.label,
        unit=stated.unit or _unit(ours.expression, simulated),
        samples=ours.samples,
        published=published,
        evidence=evidence,
        expected=stated.expected if stated.rule else "not testable",
        fitted=stated.fitted,
        changed=stated.changed,
    )


def _found(name: str, stated: StatedClaim, scope: Scope) -> Found:
    """Apply the rules of a claim to one set of numbers."""
    at: Location = ("claims", name)
    scope = replace(scope, where={**scope.where, **stated.where}, names=stated.let)
    texts = [stated.rule] if isinstance(stated.rule, str) else stated.rule
    verdicts = list[Verdict]()
    decisive: list[tuple[str, rules.Judged]] = []
    for inner in _each(stated, scope):
        for k, text in enumerate(texts):
            with _Located((*at, "rule") if isinstance(stated.rule, str) else (*at, "rule", k)):
                judged = rules.judge(text, inner, stated.unit)
            verdicts.append(judged.verdict)
            decisive += [(scope.study.description.name_cell(inner.where), judged)] if k == 0 else []
    nearest, chosen = min(decisive, key=lambda one: one[1].margin, default=("", None))
    expression, samples = (chosen.expression, chosen.samples) if chosen else ("", None)
    if stated.quantity:
        expression = stated.quantity
        with _Located((*at, "quantity")):
            found = evaluate(expression, scope)
            if found.ndim > 1:
                raise InputError(
                    f"'{expression}' has {len(found)} values; give all conditions, or write min(), max(), "
                    "mean(), lowest() or highest()"
                )
        samples = np.atleast_1d(found)
    with _Located((*at, "evidence")):
        evidence = filled(stated.evidence.replace("{verdicts}", counted(decisive)), scope)
    label = stated.label.replace("{nearest}", nearest) or expression
    return Found(every(verdicts) if texts else "not testable", evidence, expression, label, samples)


def counted(judged: Iterable[tuple[str, rules.Judged]]) -> str:
    """Return how many of the named judgements hold, and the others with the means of their quantities."""
    found = list(judged)
    parts = [f"{sum(one.verdict == 'held' for _, one in found)} of {len(found)}"]
    for kind, words in (("not held", "not"), ("undecided", "undecided")):
        those = [f"{name} ({float(np.mean(one.samples)):+.2f})" for name, one in found if one.verdict == kind]
        parts += [f"{words} {', '.join(those)}"] if those else []
    return "; ".join(parts)


def _each(stated: StatedClaim, scope: Scope) -> Iterator[Scope]:
    """Yield a scope for each combination of the conditions of `each`."""
    conditions(", ".join(f"{name}=x" for name in stated.each), scope.study)  # the names exist
    for values in product(*stated.each.values()):
        yield replace(scope, where={**scope.where, **dict(zip(stated.each, values, strict=True))})


def filled(text: str, scope: Scope) -> str:
    """Replace each `{expression:format}` in a sentence by the mean of its values. Raises InputError."""

    def number(match: re.Match[str]) -> str:
        parts = _FORMAT.fullmatch(match[1])
        expression, form, interval = (parts[1], parts[2].strip(), parts[3]) if parts else (match[1], "", None)
        found = evaluate(expression, scope)
        lines = found if found.ndim > 1 else [np.atleast_1d(found)]
        if not _FORM.fullmatch(form):
            raise InputError(f"'{{{match[1]}}}': '{form}' is not a format; write one such as .1f")
        return ", ".join(_written(one, form or ".4g", interval=bool(interval)) for one in lines)

    return _FIELD.sub(number, text)


def _written(values: Samples, form: str, *, interval: bool) -> str:
    """Return the mean of values as text, with its interval if that is wanted and there is one."""
    form = re.sub("^[-+ ]?", r"\g<0>z", form)  # no negative zero
    if not interval:
        mean = 100.0 * np.mean(values) if values.dtype == bool else np.mean(values)
        return f"{float(mean):{form}}"
    found = estimate(values)
    low, high = ends(found)
    return f"{found.mean:{form}}" + (f" [{low:{form}}, {high:{form}}]" if low < high else "")


def _unit(expression: str, scope: Scope) -> str:
    """Return the unit of a metric, or of a sum or difference of metrics with one unit; otherwise empty."""
    terms = re.split(r"\s[-+]\s", re.sub(r"^(rise|fall) of ", "", expression))
    measures = scope.study.description.measures
    units: set[str] = set()
    for term in terms:
        match = re.fullmatch(r"(\w+)\s*(\[[^\[\]]*\])?", term.strip())
        number = re.fullmatch(r"[\d.]+", term.strip())
        measure = measures.get(match[1]) if match else None
        units |= set() if number else {measure.unit if measure else ""}
    return units.pop() if len(units) == 1 else ""


class _Located:
    """Context that adds the location of a field to an InputError."""

    def __init__(self, at: Location) -> None:
        self.at = at

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InputError):
            words = ".".join(map(str, self.at))
            found = ClaimError(*prefixed(error, f"{words}: ").lines)
            found.at = self.at
            raise found from None
