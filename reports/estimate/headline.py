"""The headline outcomes of a scenario: a few lines with units, 95 % intervals and remarks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.kernels.senders import NAMES
from netcarlo.networks.causes import given
from netcarlo.networks.outcome import POSITIVE, SHARE, Outcome
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import values
from netcarlo.scenario import Scenario
from netcarlo.schema.readable import counted, quantity, trimmed
from netcarlo.simulation import ensemble, measurable
from netcarlo.simulation.outcomes import declarations, of_classes
from netcarlo.transport.spelling import spelt

MOST_FEATURES = 1000
"""Replications whose bottleneck rates are computed."""

NEARLY = 0.99
"""Share of the losses from which on they are nearly all of one kind."""


class Line(NamedTuple):
    """A headline outcome in words."""

    name: str
    value: str
    """Mean with its unit; empty if nothing was measured."""
    interval: str = ""
    """Ends of its 95 % interval in the same unit; empty without one."""
    remark: str = ""

    @property
    def sentence(self) -> str:
        """The line as a clause: `goodput 9.59 Mbit/s (95 % CI 9.58 to 9.59), 96 % of the bottleneck`."""
        interval = f" (95 % CI {self.interval})" if self.interval else ""
        return ", ".join(filter(None, [f"{self.name} {self.value}".rstrip() + interval, self.remark]))


class Found(NamedTuple):
    """Replications of a scenario and the table of their means."""

    scenario: Scenario
    frame: pd.DataFrame
    """A row per replication, see `Outcomes.frame`."""
    table: pd.DataFrame
    """A row per outcome, see `Estimate.table`."""

    @property
    def n(self) -> int:
        """Number of replications."""
        return len(self.frame)

    def has(self, name: str) -> bool:
        """Return whether an outcome has a value in one replication at least."""
        return name in self.table.index and int(self.table["n"][name]) > 0

    def measures(self, name: str) -> bool:
        """Return whether the outcome is in the table, if only as what did not happen."""
        return name in self.table.index

    def mean(self, name: str) -> float:
        """Return the mean of an outcome."""
        return float(self.table["mean"][name])

    def line(self, label: str, name: str, remark: str = "") -> Line:
        """Return the line of an outcome that has a value."""
        return _line(label, name, values.row(self.table, name), remark)


def headline(found: Found) -> list[Line]:
    """Return the headline outcomes of a scenario, the most important ones first."""
    lines = [*_completion(found), *_messages(found)]
    lines += [*_goodput(found), *_flows(found), *_classes(found), *_delay(found)]
    lines += [*_losses(found), *_timeouts(found), *_interruptions(found), *_wireless(found), *_routes(found)]
    return lines


def _line(label: str, name: str, mean: Mean, remark: str = "") -> Line:
    shown = values.shown(name, mean)
    if not shown.interval and not remark and mean.n > 1:
        remark = "the same in every replication"
    return Line(label, shown.value, shown.interval, remark)


def _in(found: Found, replications: int) -> str:
    """Return in how many replications something happened."""
    if found.n == 1:
        return ""
    if replications in (0, found.n):
        return f"in {'every' if replications else 'no'} replication"
    return f"in {replications:,} of {counted(found.n, 'replication')}"


# Transfers and messages.


def _completion(found: Found) -> Iterator[Line]:
    if found.has("completion_mean_s"):
        share = found.has("completed_share") and found.mean("completed_share") < 1
        remark = f"{_percent(found.mean('completed_share'))} of the transfers completed" if share else ""
        yield found.line("Completion time", "completion_mean_s", remark)
        yield found.line("95 % quantile", "completion_p95_s", "of completion times")
        return
    for name, label in (("transfer_s", "Transfer time"), ("completion_s", "Completion time")):
        if not found.measures(name) or name not in measurable.outcomes(found.scenario):
            continue
        if found.has(name):
            completed = int(found.frame[name].notna().sum())
            yield found.line(
                label, name, "" if completed == found.n else f"completed {_in(found, completed)}"
            )
        else:
            what = "the transfer did not complete" if found.n == 1 else "no replication completed"
            yield Line(label, "none", remark=f"{what} in {quantity(found.scenario.duration, 's')}")
        return


def _messages(found: Found) -> Iterator[Line]:
    if found.has("message_mean_s"):
        yield found.line("Message time", "message_mean_s", "")
    if found.has("message_p95_s"):
        yield found.line("95 % quantile", "message_p95_s", "of message times")


# Goodput.


def _goodput(found: Found) -> Iterator[Line]:
    if not found.has("goodput_bps"):
        return
    if (found.frame["goodput_bps"] == 0).all():
        yield Line("Goodput", "0 bit/s", remark="nothing was delivered")
        return
    yield found.line("Goodput", "goodput_bps", _share_of_bottleneck(found))


def _share_of_bottleneck(found: Found) -> str:
    """Return the share of the lowest rate of a path, or of the busiest link, that is used."""
    if found.has("utilisation"):
        return f"busiest link {_percent(found.mean('utilisation'))} utilised"
    if not found.scenario.network.has_bottleneck:
        return ""
    some = found.frame[:MOST_FEATURES]
    drawn = {str(name): some[name].to_numpy(np.float64) for name in some.columns if "." in str(name)}
    rates = ensemble.features(found.scenario, given=drawn, rows=len(some)).get("bottleneck_bps")
    if rates is None or not np.isfinite(rates).all():
        return ""
    share = float(np.mean(some["goodput_bps"].to_numpy() / rates))
    return f"{_percent(share)} of the bottleneck" if share <= 1 else ""


def _flows(found: Found) -> Iterator[Line]:
    """Goodput of a flow of each sender, and of those that get least."""
    kinds = [name for name in NAMES.values() if found.has(f"{name}_bps")]
    if len(kinds) > 1:
        for name in kinds:
            words = spelt(name) if name in ("udp",) else " ".join(map(_dialect, name.split("_", 1)))
            yield found.line(f"{words} flow", f"{name}_bps", "per flow")
    same = {
        found.mean(name) for name in ("mean_flow_bps", *(f"{kind}_bps" for kind in kinds)) if found.has(name)
    }
    if found.has("worst_flow_bps") and found.mean("worst_flow_bps") not in same:
        yield found.line("Worst TCP flow", "worst_flow_bps")
    for name, label in (("upload_bps", "Uploads"), ("download_bps", "Downloads")):
        if found.has(name) and found.has("upload_bps") and found.has("download_bps"):
            yield found.line(label, name)
    if found.has("fairness") and found.mean("fairness") < 1:
        yield found.line("Fairness", "fairness", "Jain's index")


def _dialect(word: str) -> str:
    return {"linux": "Linux", "own": "own control"}.get(word, spelt(word))


def _classes(found: Found) -> Iterator[Line]:
    """Delay of each class of flows, with its losses and late packets."""
    names = of_classes([str(name) for name in found.table.index])
    for name in names:
        if not name.endswith("_delay_p95_s") or not found.has(name):
            continue
        word = name.removesuffix("_delay_p95_s")
        remarks = []
        if found.has(f"{word}_loss_ratio"):
            lost = found.mean(f"{word}_loss_ratio")
            remarks.append(f"{_percent(lost)} of the packets lost" if lost else "no packets lost")
        if found.has(f"{word}_in_time"):
            remarks.append(f"{_percent(found.mean(f'{word}_in_time'))} in time")
        label = "Delay" if len([n for n in names if n.endswith("_delay_p95_s")]) == 1 else f"Delay of {word}"
        yield found.line(label, name, ", ".join(["95 % quantile", *remarks]))


def _delay(found: Found) -> Iterator[Line]:
    if found.has("mean_rtt_s"):
        yield found.line("RTT", "mean_rtt_s")
    elif found.has("mean_delay_s") and not any(line.name.startswith("Delay") for line in _classes(found)):
        remark = ""
        if found.has("delay_p95_s"):
            remark = (
                f"95 % quantile {values.shown('delay_p95_s', values.row(found.table, 'delay_p95_s')).value}"
            )
        yield found.line("Delay", "mean_delay_s", remark)


# Losses and recovery.


def _losses(found: Found) -> Iterator[Line]:
    if not found.has("sent") or found.scenario.fidelity == "formula":
        return
    each = _lost(found)
    if not each:
        return
    total = np.sum(list(each.values()), axis=0)
    if not total.any():
        yield Line("Lost", "no packets", remark="" if found.n == 1 else "in any replication")
        return
    mean = Outcome("lost", None, "less", "lost", POSITIVE).means(total[None]).row(0)
    shown = values.shown("lost", mean)
    sent = float(found.frame["sent"].mean())
    share = f"{_percent(mean.mean / sent)} of those sent" if sent else ""
    yield Line(
        "Lost", f"{shown.number} packets", shown.interval, ", ".join(filter(None, [share, _where(each)]))
    )


def _lost(found: Found) -> dict[str, Any]:
    """Return the lost data packets of each replication [n] by the place where they are lost."""
    there, frame = given(found.scenario), found.frame
    each: dict[str, Any] = {}
    for name, outcome in declarations(found.scenario.network).items():
        if outcome.lost is None or not found.has(name):
            continue
        lost = frame[name]
        if outcome.values == SHARE:
            lost = (lost * frame["sent"]).fillna(0.0).round(6)
        place = outcome.lost.where(there)
        each[place] = each.get(place, 0.0) + lost.to_numpy(np.float64)
    return each


def _where(each: Mapping[str, Any]) -> str:
    """Return where packets are lost: `all at random, none in queues`, `24 % in queues, 76 % at random`."""
    sums = {place: float(lost.sum()) for place, lost in each.items()}
    total = sum(sums.values())
    some = {place: lost for place, lost in sums.items() if lost}
    if len(some) == 1:
        none = ", none in queues" if "in queues" in sums and "in queues" not in some else ""
        return f"all {next(iter(some))}{none}"
    ordered = sorted(some.items(), key=lambda item: -item[1])
    if ordered[0][1] > NEARLY * total:
        return f"nearly all {ordered[0][0]}"
    return ", ".join(f"{_percent(lost / total)} {place}" for place, lost in ordered)


def _timeouts(found: Found) -> Iterator[Line]:
    if found.has("timeouts") and found.has("mean_rtt_s"):
        number = int((found.frame["timeouts"] > 0).sum())
        if number:
            yield found.line("Timeouts", "timeouts", _in(found, number))
        else:
            yield Line("Timeouts", "none", remark="in any replication" if found.n > 1 else "")


def _interruptions(found: Found) -> Iterator[Line]:
    if found.has("handovers"):
        yield found.line("Handovers", "handovers")
    if found.measures("failover_s") and "failover_s" in measurable.outcomes(found.scenario):
        if found.has("failover_s"):
            number = int(found.frame["failover_s"].notna().sum())
            yield found.line("Failover time", "failover_s", f"failover {_in(found, number)}".rstrip())
        else:
            yield Line("Failover", "none", remark="in any replication" if found.n > 1 else "")
    elif found.has("longest_silence_s"):
        yield found.line("Longest silence", "longest_silence_s", "between two arrivals of data")
    elif found.has("restart_s"):
        yield found.line("Restart", "restart_s", "from the end of the outage to new data")


# Networks of radio nodes.


def _wireless(found: Found) -> Iterator[Line]:
    if found.has("collisions"):
        yield found.line("Failed attempts", "failed_attempt_ratio", "of data frames")


def _routes(found: Found) -> Iterator[Line]:
    if found.has("mean_route_hops"):
        yield found.line("Route", "mean_route_hops", "hops, mean of delivered packets")
    if found.has("connected_share"):
        yield found.line("Connected", "connected_share", "of the time")
    if found.has("energy_J") and found.mean("energy_J"):
        yield found.line("Energy", "energy_J", "of all nodes")


def _percent(share: float) -> str:
    """Return a share in percent with two significant digits, and 100 % only for all."""
    percent = 100 * share
    digits = next((n for n in (2, 3) if float(f"{percent:.{n}g}") < 100), 0)
    if digits == 0 and share < 1:
        return "more than 99.9 %"
    return f"{trimmed(float(f'{percent:.{digits or 3}g}'))} %"


def words(lines: Sequence[Line], most: int = 4) -> str:
    """Return the first headline outcomes in one sentence."""
    text = "; ".join(line.sentence for line in lines[:most])
    return f"{text[:1].upper()}{text[1:]}." if text else ""
