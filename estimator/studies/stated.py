"""Metrics and claims of a study as data: sections `metrics:` and `claims:` of `study.yaml`."""

from typing import Literal

from netcarlo.schema.record import Record
from netcarlo.studies.selection import Value, Where

Verdict = Literal["held", "undecided", "not held", "not testable"]
"""Verdict on a claim or on a requirement."""


class Measure(Record):
    """Metric as an expression of outcomes, or of other metrics in the same or in other cells.

    An outcome has its SI unit; `goodput_bps[flow=0]`, `utilisation[link=A-B]` and `goodput_bps[class=video]`
    are those of a flow (counted from 0), of a link, and of a class. The result is converted to `unit`, unless
    the expression contains other metrics, which have their own units already. Conditions in brackets name
    another cell: `100 * (goodput / goodput[protocol=newreno] - 1)` compares with the cell that has this
    protocol and is otherwise the same. `known(a, b)` is `a` in replications where it has a value, otherwise
    `b`.
    """

    value: str
    """Expression, such as `goodput_bps` or `retransmitted / sent`."""
    unit: str = ""
    """Unit of the metric. A unit unknown to netcarlo is only a label: no conversion."""
    text: str = ""
    """Definition of the metric on the page."""


class StatedClaim(Record):
    """Claim of the paper, and the rule that decides it by confidence intervals.

    Expressions consist of metrics with conditions in brackets, `goodput[protocol=cubic, loss=1]`, numbers and
    functions. Conditions that are not given select all cells; the result is then a line with a value for each
    cell, and a rule must hold for all of them.

    `max`, `min`, `mean`, `sum`, `first`, `last`, `lowest` and `highest` (the cell with that mean) reduce a
    line to one value; `line(a, b)` joins cells to one. `steps` are the differences of neighbours, `falls` the
    decreases from one cell to the next [%]. `gain(a, b)` is 100 (a / b - 1) in each replication,
    `gain_of_means(a, b)` that of the means, `ratio_of_means(a, b)` their ratio,
    `published(goodput[protocol=cubic])` the number in print.
    """

    text: str
    """Statement of the claim."""
    source: str
    """Section, figure or table of the paper."""
    where: Where = {}
    """Conditions of all cells of the claim, unless an expression gives others."""
    each: dict[str, list[Value]] = {}
    """Conditions with values: the rule must hold for each combination."""
    let: dict[str, str] = {}
    """Names for expressions. `name[hops=4]` is the expression with this condition."""
    rule: str | list[str] = []
    """Rule, or several that must all hold; a claim without a rule is `not testable`. A rule is `A > B` (also
    `>=`, `<`, `<=`, and chains), `A between 1 and 2`, `A within 5 % of B` or `of published` (`within 5 of`
    is an absolute distance), `A rises` or `A falls along hops`, or two of these with `or`."""
    quantity: str = ""
    """Expression that is shown with its interval; by default the one that decides the first rule."""
    label: str = ""
    """Description of the quantity; `{nearest}` is the cell of `each` that is nearest to the bound."""
    unit: str = ""
    """Unit of the quantity; by default that of its metric."""
    published: str = ""
    """Value of the quantity in the paper as text; by default computed if `own` is true."""
    digits: str = ".4g"
    """Format of this computed value."""
    evidence: str
    """Sentence with the numbers: `{goodput[protocol=cubic]:.2f}` is replaced by the mean, or by the means of
    a line; `{goodput:.2f ci}` adds the interval; `{verdicts}` counts the combinations of `each` and names
    those that do not hold."""
    own: bool = False
    """True to apply the rules to the published numbers too, and to show both verdicts."""
    expected: Verdict = "held"
    """Verdict that `--check` requires. Claims without a rule are expected to be `not testable`; those
    expected to be `not held` or `not testable` may fail."""
    fitted: str = ""
    """Parameters that were fitted with the claim in view, so that the claim is not a test of them."""
    changed: str = ""
    """Earlier criterion, and the reason why it was changed after the results were known."""
