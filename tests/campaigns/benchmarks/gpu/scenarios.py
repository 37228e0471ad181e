"""What is compared and timed: rows of each model, and what its packets are."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut, ManetRows
from netcarlo.kernels.base.layout import Out, P, Rows
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.kernels.wireless.layout import WifiOut, WifiRows
from tests.campaigns.benchmarks import lossy_hop

CHECKED = 300
"""Random scenarios of each model, and replications of the benchmark, that must be equal."""

HOP: dict[str, Any] = {"window": 64, "loss": 0.001}
KINDS = {"path": Rows, "wireless": WifiRows, "adhoc": ManetRows, "shared": SharedRows}


class Size(NamedTuple):
    """Replications of a benchmark."""

    text: str
    rows: int
    seconds: float
    """Of a path; networks have their own."""

    @classmethod
    def read(cls, text: str) -> "Size":
        """Rows and seconds: 1e5x10."""
        rows, seconds = text.split("x")
        return cls(text, int(float(rows)), float(seconds))


def network(name: str) -> bool:
    """Whether the model reads a network rather than a path."""
    return models.model(name).address.family != "path"


def kind_of(name: str) -> Any:
    """The class of a model's rows."""
    return KINDS[models.model(name).address.family]


def count(name: str, size: Size) -> int:
    """The replications of a size for a model: networks, whose packets cost more, have a tenth."""
    return size.rows // 10 if network(name) else size.rows


def sizes_of(name: str, sizes: list[Size]) -> list[Size]:
    """The sizes that differ for a model."""
    if not network(name):
        return sizes
    return list({size.rows: size for size in reversed(sizes)}.values())[::-1]


def benchmark(name: str, scenarios: Any, rows: int, seconds: float) -> Any:
    """Replications to time: of a lossy hop, or of the first of some networks."""
    if not network(name):
        return lossy_hop.rows(rows, **HOP, duration_s=seconds)
    first = {field: np.repeat(getattr(scenarios, field)[:1], rows, axis=0) for field in scenarios._fields[:4]}
    first["parameters"][:, P.REPLICATION] = np.arange(rows)
    return scenarios._replace(**first)


def outcomes_of(name: str, seconds: float) -> str:
    """Where the CPU's outcomes of the benchmark are stored."""
    return "network" if network(name) else f"hop_{seconds:g}"


def packets(name: str, out: Any) -> int:
    """Packets of a path; of a network, frames on the air or events."""
    column = ManetOut.EXCHANGES if models.model(name).address.family == "adhoc" else WifiOut.EVENTS
    return int(out[:, column if network(name) else Out.SENT].sum())
