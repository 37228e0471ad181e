"""Warnings that accompany a result: losses that a delay does not show, and loads above capacity.

Delay, jitter and `late` consider delivered packets only. On an overloaded link with a short queue they look
good however many packets are lost.
"""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.networks import classes
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from netcarlo.simulation.ensemble import build

MAX_LOSS = 0.01
"""Loss ratio above which a result about delay carries a warning."""

ROWS = 32
"""Number of replications over which drawn rates are averaged."""


class HiddenLoss(NamedTuple):
    """Loss of a class of flows whose delays are requested."""

    word: str
    """Name of the class; empty for all flows."""
    loss: str
    """Name of the outcome with the loss ratio of the class."""
    in_time: str
    """Name of the outcome with the share of packets that arrived in time; empty without a limit `late`."""
    repaired: bool
    """True if lost packets are retransmitted, so that they count in the delay."""

    @property
    def name(self) -> str:
        """The class as the subject of a sentence."""
        return self.word or "UDP"

    @property
    def goal(self) -> str:
        """Goal that bounds the loss."""
        return f"{self.in_time} >= 95 %" if self.in_time else f"{self.loss} <= 1 %"


class Overload(NamedTuple):
    """Link whose offered load at constant rates exceeds its capacity, averaged over drawn networks."""

    link: str
    offered_bps: float
    capacity_bps: float

    @property
    def sentence(self) -> str:
        """Sentence that names the link, its load and its capacity."""
        text = f"constant-rate flows offer {rate(self.offered_bps)} to {self.link}, which carries "
        return text + rate(self.capacity_bps)


def hidden_losses(scenario: Scenario, outcomes: Iterable[str], have: Collection[str]) -> list[HiddenLoss]:
    """Return the losses that these outcomes do not show; `have` are all outcomes of the scenario."""
    found: dict[str, HiddenLoss] = {}
    unrepaired = scenario.network.datagrams(scenario)
    for name in outcomes:
        if (word := classes.of_delivered(name)) is None:
            continue
        loss, in_time = (f"{word}_{kind}".lstrip("_") for kind in ("loss_ratio", "in_time"))
        if loss in have:
            in_time = in_time if in_time in have else ""
            found[word] = HiddenLoss(word, loss, in_time, word not in unrepaired)
    return list(found.values())


def overload(scenario: Scenario, replications: int = ROWS) -> Overload | None:
    """Return the link that constant-rate sources overload most; None if there is none."""
    rows = build(scenario, replications=min(replications, scenario.replications)).rows
    offered = scenario.network.offered(rows)
    if offered is None or not offered.load.size:
        return None
    load, capacity = offered.load.mean(axis=0), offered.capacity.mean(axis=0)
    share = load / capacity
    worst = int(np.argmax(share))
    if not share[worst] > 1 + 1e-9:
        return None
    return Overload(offered.names[worst], float(load[worst]), float(capacity[worst]))


def rate(bps: float) -> str:
    """Return a rate as text: `240 Mbit/s`."""
    factor, unit = next((f, u) for f, u in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (0, "")) if bps >= f)
    return f"{bps / (factor or 1):.4g} {unit}bit/s"


def quantity_text(value: float, dimension: units.Dimension) -> str:
    """Return a value of a quantity as text."""
    return rate(value) if dimension is units.RATE else units.show(value, dimension)


def percent(share: float) -> str:
    """Return a share as text: `18.5 %`."""
    return f"{100 * share:.3g} %"


def of_goals(scenario: Scenario, outcomes: Iterable[str], frame: Any) -> list[str]:
    """Return the warnings of an estimate whose goals are about these outcomes; `frame` has the outcomes of
    the runs."""
    asked, found = list(outcomes), []
    for each in hidden_losses(scenario, asked, set(frame)):
        lost = float(frame[each.loss].mean())
        bounded = {each.loss, each.in_time} & {*asked}
        if lost > MAX_LOSS and not each.repaired and not bounded:
            text = f"{each.name} loses {percent(lost)} of its packets, which delays of delivered packets do "
            found.append(f"{text}not show; add --goal '{each.goal}'")
    if (heavy := overload(scenario)) is not None:
        found.append(heavy.sentence)
    return found
