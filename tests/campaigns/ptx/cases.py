"""Cases of PTX: the models of the covering set, and further rows and compilers."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from netcarlo.kernels.senders import NEWRENO, UDP
from netcarlo.kernels.shared.layout import MAX_FLOWS, MAX_LINKS
from tests import covering
from tests.twins.rows import rows_of

ROWS = 300
"""Random scenarios of a case."""

MS = 1_000_000


class Case(NamedTuple):
    """A model, a compiler, and the rows for which its PTX must give the CPU's outcomes."""

    model: str
    rows: Callable[[], Any]
    """Make the rows."""
    compiler: str = "numba_cuda"


def outages() -> Any:
    """Return rows of shared links that fail, with backup routes."""
    from tests.twins.shared.scenarios import backed_rows, failing_rows

    return backed_rows(failing_rows(rows_of("shared_newreno", 60, seed=7), seed=7), seed=7)


def sold_hops() -> Any:
    """Return rows of paths with framing, shapers and correlated loss."""
    from tests.twins.path.scenarios import with_sold

    return with_sold(rows_of("tcp_newreno", ROWS, seed=7), seed=7)


def sold_links() -> Any:
    """Return rows of shared links with framing, shapers and correlated loss, and with limits in bytes."""
    from tests.twins.shared.scenarios import byte_limited_rows, sold_rows

    return sold_rows(byte_limited_rows(rows_of("shared_newreno", 60, seed=7), seed=7), seed=7)


def rfc9260() -> Any:
    """Return rows of SCTP by RFC 9260 with potentially failed paths and concurrent multipath transfer."""
    from tests.twins.sctp.scenarios import with_rfc9260

    return with_rfc9260(rows_of("sctp", ROWS, seed=7), seed=7)


def many() -> Any:
    """Return networks of 200, 7 and the largest number of flows over 100, 40 and the largest number of
    links.
    """
    from netcarlo.kernels.base.rows import concatenate
    from tests.kernels.shared.test_many import ring

    kinds = [UDP, NEWRENO, NEWRENO]
    sizes = (200, 100), (7, 40), (MAX_FLOWS, MAX_LINKS)
    return concatenate([ring(*size, end=400 * MS, kinds=kinds) for size in sizes])


def large() -> Any:
    """Return ad hoc networks of up to 256 nodes, and some small ones."""
    from tests.twins.adhoc.scenarios import large_manet_rows, manet_rows, stack

    return stack([large_manet_rows(40, seed=7), manet_rows(40, seed=7)])


def random_rows(model: str) -> Callable[[], Any]:
    """Return the function that draws random scenarios for a model."""
    return lambda: rows_of(model, ROWS, seed=7)


@functools.cache
def cases() -> Mapping[str, Case]:
    """Return all cases by name: the name of the model, or another one."""
    more = {f"{model} by numba-cuda-mlir": model for model in ("tcp_newreno", "fluid_newreno", "wifi_udp")}
    return {
        **{model: Case(model, random_rows(model)) for model in covering.chosen()},
        "shared_newreno_varying with outages": Case("shared_newreno_varying", outages),
        "tcp_newreno_varying as sold": Case("tcp_newreno_varying", sold_hops),
        "shared_newreno_aqm_varying as sold": Case("shared_newreno_aqm_varying", sold_links),
        "sctp with RFC 9260": Case("sctp", rfc9260),
        **{model: Case(model, large) for model in ("manet_newreno_large", "fluid_manet_newreno_large")},
        "shared_newreno with many flows": Case("shared_newreno", many),
        **{name: Case(model, random_rows(model), "numba_cuda_mlir") for name, model in more.items()},
    }
