"""The page of a result, whatever it is a result of."""

import os
from pathlib import Path

from netcarlo.comparison.comparison import Comparison
from netcarlo.planning.designs import Frontier
from netcarlo.planning.run import Answer
from netcarlo.reports.comparison.page import comparison_page
from netcarlo.reports.frontier.page import frontier_page
from netcarlo.reports.plan.page import plan_page
from netcarlo.reports.sweep.page import sweep_page
from netcarlo.schema import destination, output
from netcarlo.schema.arguments import checked
from netcarlo.sweeps.store.store import Store


@checked
def report(
    result: str | os.PathLike[str] | Store | Answer | Frontier | Comparison,
    *,
    out: str | os.PathLike[str] | None = None,
) -> str:
    """The HTML of one page that opens offline, written to the file `out` if there is one.

    `result` is the store of a sweep (or its folder or URL), the answer of a plan, or a comparison.  Raises
    InputError.
    """
    if out is not None:
        destination.check_file(Path(out))
    if isinstance(result, Comparison):
        html = comparison_page(result)
    elif isinstance(result, Frontier):
        html = frontier_page(result)
    elif isinstance(result, Answer):
        html = plan_page(result)
    else:
        html = _of_store(result if isinstance(result, Store) else Store.open(result))
    if out is not None:
        output.write_text(Path(out), html)
    return html


def _of_store(store: Store) -> str:
    return sweep_page(
        store.manifest, store.frame(), store=store.url,
        replications=store.replications() if store.sweep["keep_replications"] else None,
        cheap=store.screened() if store.sweep.get("auto") else None, runs=store.runs(),
    )  # fmt: skip
