"""Model of datagrams over one line."""

from typing import Any

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.model import Model
from netcarlo.kernels.toy import engine


def model(address: Address, endpoint: Any, others: Any) -> Model:
    """Return the model of an address."""
    return Model(
        address=address, blocks=endpoint.blocks, make=lambda step: bind(engine.simulate, step),
        scratch=engine.scratch_words, outcomes=engine.outcomes, dimensions=(2, 2, 3, 2, 2),
    )  # fmt: skip
