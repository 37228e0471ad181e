"""Blocks of parameters: one layout, and no effect on models that do not declare them."""

from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.parameters import BLOCKS, MobileP, P, SctpP, TcpP, UdpP
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.kernels.wireless.layout import Radio, WifiRows
from tests import covering
from tests.kernels.beside_twin import run_as_python
from tests.tiers import parameters
from tests.twins.rows import rows_of

ROWS, SEED = 2, 4343
WRONG = 1_234_567_891
"""Value of a column that no model may read."""


def spoilt(name: str, rows: Any) -> Any:
    """Return rows in which all columns of blocks that the model does not declare are wrong."""
    read = {int(column) for block in models.model(name).blocks for column in block}
    others = [int(column) for block in BLOCKS for column in block if int(column) not in read]
    table = rows.parameters.copy()
    table[:, others] = WRONG
    rows = rows._replace(parameters=table)
    if isinstance(rows, SharedRows):
        flows = rows.flows.copy()
        flows[:, :, others] = WRONG
        rows = rows._replace(flows=flows)
    if isinstance(rows, WifiRows) and "mixed" in name and "fluid" not in name:
        network = rows.network.copy()
        for row, (at, count) in enumerate(table[:, [Radio.TRANSPORTS_AT, Radio.FLOWS]].tolist()):
            network[row, at : at + count * len(P)].reshape(count, len(P))[:, others] = WRONG
        rows = rows._replace(network=network)
    return rows


def test_columns_are_numbered_from_0_through_all_blocks() -> None:
    columns = [column for block in BLOCKS for column in block]
    assert [int(column) for column in columns] == [*range(len(P))]
    assert [column.name for column in columns] == [column.name for column in P]
    assert len({column.name for column in columns}) == len(columns)


@pytest.mark.parametrize(
    "name",
    parameters(
        covering.chosen(),
        full=[name for name in covering.chosen() if name not in ("tcp_newreno", "sctp", "udp", "fluid")],
    ),
)
def test_a_model_reads_no_block_that_it_does_not_declare(name: str) -> None:
    rows = rows_of(name, ROWS, seed=SEED)
    with np.errstate(over="ignore"):
        known, found = (run_as_python(name, each) for each in (rows, spoilt(name, rows)))
    np.testing.assert_array_equal(found, known)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("tcp_newreno", TcpP.INITIAL_WINDOW), ("sctp", SctpP.INITIAL_CWND), ("udp", UdpP.INTERVAL),
        ("tcp_newreno_mobile", MobileP.OUTAGE),
    ],
)  # fmt: skip
def test_a_model_reads_the_blocks_that_it_declares(name: str, column: IntEnum) -> None:
    """Check that each declared block is read; otherwise a model could declare every block."""
    assert type(column) in models.model(name).blocks
    rows = rows_of(name, ROWS, seed=SEED)
    table = rows.parameters.copy()
    table[:, column] *= 2
    with np.errstate(over="ignore"):
        known, found = (run_as_python(name, each) for each in (rows, rows._replace(parameters=table)))
    assert (found != known).any()
