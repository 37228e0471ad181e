"""Expressions over metrics of named cells, such as `goodput[protocol=cubic] / goodput[protocol=newreno]`.

A metric followed by conditions in brackets has the values of the cell with these conditions, one per
replication: [n]. If several cells match, it is a *line*, [cells, n], in the order of the values in the
brackets (`hops=1|2|4`), otherwise ascending.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, Protocol

import numpy as np

from netcarlo.errors import InputError, suggest
from netcarlo.schema import expressions
from netcarlo.studies.cells import Cell, Cells, Samples
from netcarlo.studies.published import Published
from netcarlo.studies.selection import Value, Where, matches, several, value
from netcarlo.studies.study import Study

PARTS = ("flow", "link", "class")
"""Words in brackets that select a part of an outcome."""

WORD = re.compile(
    r"(?<![\w.])(?:(?P<published>published)\s*\(\s*)?"
    r"(?P<name>[A-Za-z_]\w*)\s*(?:\[(?P<inside>[^\[\]]*)\])?(?P<after>\s*[()])?"
)
"""Pattern of a name, with its brackets and the parenthesis after it."""

OPERATORS = frozenset(("and", "or", "not", "if", "else"))
"""Words of expressions that are not names."""


class Source(Protocol):
    """Numbers that expressions are about: simulated or published ones."""

    def rows(self, metric: str, where: Where) -> list[tuple[Mapping[str, Value], Any]]:
        """Return the conditions of each row that has the metric and matches, with the row."""

    def samples(self, metric: str, row: Any) -> Samples:
        """Return the values of a metric in a row, one per replication."""


@dataclass(frozen=True)
class Simulated:
    """Simulated cells as a source."""

    cells: Cells
    """Cells of the study, or of one of its variations."""

    def rows(self, metric: str, where: Where) -> list[tuple[Mapping[str, Value], Any]]:
        """Return the cells that match; those of a variation if one of its conditions is given."""
        cells, added = self.cells, cells_of(self.cells.study)
        varied = {added[name] for name in where if name in added}
        if len(varied) > 1:
            raise InputError(f"conditions of two variations ({', '.join(sorted(varied))}); give one of them")
        if varied:
            cells = cells.varied(varied.pop())
        return [(cell.conditions, (cells, cell)) for cell in cells.all if matches(cell.conditions, where)]

    def samples(self, metric: str, row: Any) -> Samples:
        """Return the values of a metric in a cell, one per replication."""
        cells, cell = row
        return np.asarray(cells.samples(metric, cell))


def cells_of(study: Study) -> dict[str, str]:
    """Return the conditions that variations of a study add, with the names of the variations."""
    return study.description.added()


@dataclass(frozen=True)
class InPrint:
    """Numbers of the paper as a source."""

    study: Study
    """Study with the numbers."""

    def rows(self, metric: str, where: Where) -> list[tuple[Mapping[str, Value], Any]]:
        """Return the printed numbers of a metric that match; the first one if several have the same
        conditions."""
        found: dict[tuple[Any, ...], tuple[Mapping[str, Value], Published]] = {}
        for _, number in self.study.readable[0]:
            if number.metric == metric and matches(number.conditions, where):
                found.setdefault(tuple(number.conditions.items()), (number.conditions, number))
        return list(found.values())

    def samples(self, metric: str, row: Any) -> Samples:
        """Return the printed number, [1]."""
        return np.array([row.value])


@dataclass(frozen=True)
class Scope:
    """Meanings of the names in an expression."""

    study: Study
    """Study whose metrics and conditions may be used."""
    source: Source
    """Simulated or published numbers."""
    known: frozenset[str]
    """Metrics that have values in single cells."""
    where: Where = field(default_factory=dict)
    """Conditions that apply unless an expression gives others."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Expressions by name."""
    inside: tuple[str, ...] = ()
    """Names whose expressions are being evaluated, to detect cycles."""
    differing: set[str] = field(default_factory=set)
    """Conditions that differ between the cells of lines (filled by `evaluate`)."""


def with_conditions(scope: Scope, where: Mapping[str, Value], name: str) -> Scope:
    """Return the scope inside the expression of a metric, in the cell with some conditions."""
    return replace(scope, where=dict(where), inside=(*scope.inside, name))


def evaluate(text: str, scope: Scope) -> Samples:
    """Return the values of an expression: [n], or [cells, n] for a line. Raises InputError.

    A metric that is a share of replications (bool) alone remains bool; in a longer expression it is 0 or 100.
    """
    words: dict[str, Any] = {}
    written: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        name, inside, after = match["name"], match["inside"], match["after"] or ""
        if match["published"] is None and inside is None and (name in OPERATORS or after.strip() == "("):
            return match[0]  # a function or an operator
        if match["published"] and after.strip() != ")":
            raise InputError(f"'{text}': published() takes one metric; write published(goodput)")
        key = f"_{len(words)}"
        of = replace(scope, source=InPrint(scope.study)) if match["published"] else scope
        written[key] = match[0] if match["published"] else match[0].removesuffix(after)
        words[key] = _reference(name, inside, of)
        return key if match["published"] else key + after

    rewritten = WORD.sub(replaced, text)
    if rewritten.strip() in words:
        return np.asarray(words[rewritten.strip()])
    values = {key: 100.0 * found if found.dtype == bool else found for key, found in words.items()}
    try:
        found = np.asarray(expressions.evaluate(rewritten, values, FUNCTIONS))
    except InputError as error:
        raise _as_written(error, written) from None
    if found.dtype.kind not in "biuf" or found.ndim > 2:
        raise InputError(f"'{text}' is not a number; write an expression of metrics")
    return found if found.dtype == bool or found.ndim == 0 else found.astype(np.float64)


def _reference(name: str, inside: str | None, scope: Scope) -> Samples:
    """Return the values of a name with the conditions in its brackets."""
    where = {**scope.where, **conditions(inside or "", scope.study)}
    description = scope.study.description
    expression = scope.names.get(name)
    local = expression is not None and name not in scope.inside
    if not local:
        expression = None
        if name not in scope.known and name in description.measures:
            expression = description.measures[name].value
    if expression is not None:
        if name in scope.inside:
            raise InputError(f"'{name}' refers to itself; use other names in its expression")
        printed = isinstance(scope.source, InPrint) and not local and scope.source.rows(name, where)
        if not printed:
            names = scope.names if local else {}
            return evaluate(
                expression, replace(scope, where=where, names=names, inside=(*scope.inside, name))
            )
    if name not in scope.known and name not in description.metrics:
        raise InputError(
            f"'{name}' is not a metric of the study; {suggest(name, {*description.metrics, *scope.names})}"
        )
    rows = _ordered(scope.source.rows(name, where), where, scope.study)
    if not rows:
        raise InputError(f"'{name}[{shown(where)}]': {_missing(name, where, scope)}")
    names_ = [key for key in rows[0][0] if len({str(at.get(key)) for at, _ in rows}) > 1]
    scope.differing.update(names_)
    found = [scope.source.samples(name, row) for _, row in rows]
    if len({len(one) for one in found}) > 1:
        raise InputError(f"'{name}[{shown(where)}]': cells have different numbers of replications; fix one")
    return found[0] if len(found) == 1 else np.array(found)


def conditions(text: str, study: Study) -> Where:
    """Return the conditions in brackets: `protocol=cubic, hops=1|2`, or the name of a selection. Raises
    InputError."""
    description, found = study.description, Where()
    known = {**description.conditions}
    for name, variation in description.variations.items():
        known |= variation.added(name)
    for part in filter(None, map(str.strip, text.split(","))):
        key, equals, wanted = (piece.strip() for piece in part.partition("="))
        if not equals:
            if key not in description.selections:
                remedy = suggest(key, description.selections) if description.selections else "none is defined"
                raise InputError(
                    f"'[{text}]': '{key}' is not in selections ({remedy}); write condition=value"
                )
            found |= description.selections[key]
        elif key not in known:
            raise InputError(f"'[{text}]': '{key}' is not a condition; {suggest(key, known)}")
        else:
            unit = known[key].unit
            values = [value(one.strip().strip("'\"").removesuffix(unit).strip()) for one in wanted.split("|")]
            found[key] = values[0] if len(values) == 1 else values
    return found


def shown(where: Where) -> str:
    """Return conditions as they are written in brackets."""
    return ", ".join(
        f"{name}={'|'.join(f'{one:g}' if isinstance(one, float) else str(one) for one in several(wanted))}"
        for name, wanted in where.items()
    )


def _missing(name: str, where: Where, scope: Scope) -> str:
    """Return the reason why no row matches."""
    what = "published number" if isinstance(scope.source, InPrint) else "cell"
    for key in where:
        others = scope.source.rows(name, {key: where[key]})
        if not others:
            every = scope.source.rows(name, {})
            have = {
                str(f"{at[key]:g}" if isinstance(at[key], float) else at[key]) for at, _ in every if key in at
            }
            return f"no {what} has {shown({key: where[key]})}; known: {', '.join(sorted(have)) or 'none'}"
    return f"no {what} has all of these conditions; change one, or add the cell under cells:"


def _ordered(
    rows: list[tuple[Mapping[str, Value], Any]], where: Where, study: Study
) -> list[tuple[Mapping[str, Value], Any]]:
    """Return rows by their conditions: in the order given in `where`, otherwise ascending or as declared."""
    names = dict.fromkeys(name for at, _ in rows for name in at)
    ranks: dict[str, list[Value]] = {}
    for name in names:
        wanted = where.get(name)
        have = list(dict.fromkeys(at[name] for at, _ in rows if name in at))
        if isinstance(wanted, list):
            ranks[name] = wanted
        else:
            ranks[name] = sorted(have) if all(isinstance(one, float) for one in have) else have
    return sorted(rows, key=lambda row: [ranks[name].index(row[0][name]) for name in names if name in row[0]])


def _over(reduced: Callable[..., Any], pair: Callable[[Any, Any], Any], first: Any, *others: Any) -> Any:
    """Return the extreme over the cells of a line, or of several values."""
    if others:
        return reduce(pair, others, first)
    return reduced(first, axis=0) if np.ndim(first) > 1 else first


def _line(reduced: Callable[[Any], Any], line: Any) -> Any:
    """Return a function of the cells of a line; of a single cell, its values."""
    return reduced(np.asarray(line)) if np.ndim(line) > 1 else line


def _neighbours(line: Any) -> tuple[Any, Any]:
    """Return the cells of a line without the last, and without the first."""
    if np.ndim(line) < 2:
        raise ValueError("it needs several cells; leave out a condition, or write values such as hops=1|2")
    return line[:-1], line[1:]


def _steps(line: Any) -> Any:
    """Return the difference of each cell of a line to the one before."""
    before, after = _neighbours(line)
    return after - before


def _falls(line: Any) -> Any:
    """Return by how much each cell of a line is below the one before [%]."""
    before, after = _neighbours(line)
    return 100 * (1 - after / before)


def _known(a: Any, b: Any) -> Any:
    """Return `a` where it has a value, otherwise `b`."""
    return np.where(np.isnan(a), b, a)


def gain(ours: Any, other: Any) -> Any:
    """Return by how much `ours` exceeds `other` in each replication [%]."""
    return 100 * (ours / other - 1)


def ratio_of_means(a: Any, b: Any) -> Any:
    """Return the ratio of the means of `a` and `b` as samples with its mean and its standard deviation.

    `a` and `b` are paired. Each sample is the ratio plus its linearised change by one pair (delta method).
    """
    base = np.mean(b, axis=-1, keepdims=True)
    found = np.mean(a, axis=-1, keepdims=True) / base
    return np.asarray(found + (a - found * b) / base)


def gain_of_means(a: Any, b: Any) -> Any:
    """Return by how much the mean of `a` exceeds that of `b` [%], as samples of paired replications."""
    return 100 * (ratio_of_means(a, b) - 1)


def _extreme(pick: Callable[[Any], Any], line: Any) -> Any:
    """Return the cell of a line whose mean is the smallest or largest."""
    return line[int(pick(np.mean(line, axis=-1)))] if np.ndim(line) > 1 else line


def _stacked(*cells: Any) -> Any:
    """Return a line of the given cells and lines."""
    return np.concatenate([np.atleast_2d(cell) for cell in cells])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "max": partial(_over, np.max, np.maximum),
    "min": partial(_over, np.min, np.minimum),
    "mean": partial(_line, partial(np.mean, axis=0)),
    "sum": partial(_line, partial(np.sum, axis=0)),
    "first": partial(_line, lambda line: line[0]),
    "last": partial(_line, lambda line: line[-1]),
    "lowest": partial(_extreme, np.argmin),
    "highest": partial(_extreme, np.argmax),
    "line": _stacked,
    "steps": _steps,
    "falls": _falls,
    "known": _known,
    "gain": gain,
    "ratio_of_means": ratio_of_means,
    "gain_of_means": gain_of_means,
}
"""Functions of expressions in studies: `max` to `highest` reduce a line to one value per replication."""

_IN_A_CELL = ("max", "min", "known")
"""Functions that expressions of a single cell may contain."""


def check_syntax(text: str) -> None:
    """Raise InputError unless an expression of outcomes and metrics of one cell can be evaluated."""
    words: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        after = match["after"] or ""
        if match["name"] in OPERATORS or after.strip() == "(":
            return match[0]
        key = f"_{len(words)}"
        words[key] = match[0].removesuffix(after)
        return key + after

    rewritten = WORD.sub(replaced, text)
    try:
        expressions.evaluate(rewritten, dict.fromkeys(words, expressions.SAMPLE), FUNCTIONS)
    except InputError as error:
        raise _as_written(error, words) from None


def _as_written(error: InputError, words: Mapping[str, str]) -> InputError:
    """Return an error about an expression with the names as the user wrote them."""
    return InputError(*(re.sub(r"\b_\d+\b", lambda m: words.get(m[0], m[0]), line) for line in error.lines))


def is_derived(name: str, study: Study, known: frozenset[str] = frozenset()) -> bool:
    """Return True if a metric depends on several cells or on published numbers."""
    measures = study.description.measures

    def depends(text: str, inside: tuple[str, ...]) -> bool:
        for match in WORD.finditer(text):
            word, brackets = match["name"], match["inside"]
            if match["published"]:
                return True
            if word in inside or (word not in measures and word not in known):
                continue
            if brackets is not None or (word in measures and depends(measures[word].value, (*inside, word))):
                return True
        return any(f"{name}(" in text.replace(" ", "") for name in FUNCTIONS if name not in _IN_A_CELL)

    return name in measures and depends(measures[name].value, (name,))


def outcomes_in(name: str, study: Study, known: frozenset[str] = frozenset()) -> list[str]:
    """Return the outcomes in the expression of a metric, those of classes by their full names."""
    measures = study.description.measures
    found = []
    for match in WORD.finditer(measures[name].value):
        word, after = match["name"], match["after"] or ""
        other = word != name and (word in measures or word in known)
        if word not in OPERATORS and after.strip() != "(" and not other:
            found.append(of_class(word, match["inside"]))
    return found


def of_class(word: str, inside: str | None) -> str:
    """Return the full name of an outcome: `video_goodput_bps` for `goodput_bps[class=video]`."""
    key, _, wanted = (inside or "").partition("=")
    return f"{wanted.strip()}_{word}" if key.strip() == "class" else word


def outcome(word: str, inside: str | None, cell: Cell) -> Samples:
    """Return an outcome of a cell, or of one of its flows, links or classes. Raises InputError."""
    name = of_class(word, inside)
    key, equals, wanted = (piece.strip() for piece in (inside or "").partition("="))
    if inside is not None and (not equals or key not in PARTS):
        raise InputError(f"'{word}[{inside}]': write {word}[flow=0], [link=NAME] or [class=NAME]")
    if inside is None or key == "class":
        if name not in cell.frame:
            known = [str(column) for column in cell.frame]
            raise InputError(f"'{name}' is neither an outcome nor a metric; {suggest(name, known)}")
        return cell.outcome(name)
    return cell.part(word, f"{key}s", wanted)
