"""Scenario: a transport over a network, fully checked.

Any number may be a distribution, so a scenario can describe random networks.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import model_validator

from netcarlo.errors import Faults, InputError
from netcarlo.networks import queue_limits
from netcarlo.networks.family import Fidelity
from netcarlo.networks.registry import NETWORKS, Networks
from netcarlo.schema import document as files
from netcarlo.schema import kinds
from netcarlo.schema.arguments import checked
from netcarlo.schema.document import Document
from netcarlo.schema.movable import Movable
from netcarlo.schema.names import expanded, with_options, with_values
from netcarlo.schema.problems import Wrong, brief
from netcarlo.schema.quantity import bounds
from netcarlo.transport.capabilities import PROTOCOLS, refused
from netcarlo.transport.classed import delay_field
from netcarlo.transport.congestion import NAMES, locate
from netcarlo.transport.registry import with_wrong_protocol


class Scenario(Networks):
    """Scenario to simulate. The observation begins at time 0 and ends at `duration`.

    The network is one of `paths`, `wireless`, `adhoc` and `shared`. Outcomes of wireless and shared networks
    count from the end of the `warm_up`.

    With `fidelity: fluid` or `formula` a cheap approximation answers in place of the simulation of packets.

    Scenarios with the same seed and `topology` use the same random numbers, others independent ones.

    With `precision`, replications are added until the half-width of the 95 % interval of the goodput is that
    fraction of its mean; otherwise the number of `replications` is fixed.

    `live` names the fields that can be changed on the page of `netcarlo live`, with their ranges. It does not
    change results.
    """

    meant: ClassVar = {"hop": "hops"}

    fidelity: Fidelity = "packet"
    """Model: `packet` simulates every packet, `fluid` solves differential equations, `formula` uses
    closed-form models."""
    live: dict[str, Movable] | None = None
    """Fields that can be changed on the page of `netcarlo live`, by name, with their ranges. Default:
    chosen for the scenario."""

    @model_validator(mode="before")
    @classmethod
    def _in_full(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if {"hops", "paths"} <= data.keys():
            both = Wrong("and hops are both given; keep one")
            data = {**{name: value for name, value in data.items() if name != "hops"}, "paths": both}
        data = expanded(data)
        if data.get("fidelity") == "auto":
            text = "is supported only in sweeps; write packet, or use estimate with --control"
            data["fidelity"] = Wrong(text, " = auto")
        transport = data.get("transport")
        if isinstance(transport, dict):
            protocol = transport.get("protocol")
            text = "is missing; write protocol: newreno"
            if protocol is not None:
                given = [network for network in NETWORKS if data.get(network.key) not in (None, [])]
                text = refused(str(protocol), (given or NETWORKS)[0])
                if len(given) > 1 and protocol in PROTOCOLS:  # that error comes first
                    text = ""
            if text:
                value = "" if protocol is None else f" = {brief(protocol)}"
                data["transport"] = with_wrong_protocol(transport, Wrong(text, value))
        elif isinstance(transport, str):
            text = f"has no fields; write {{protocol: {transport}}}"
            data["transport"] = Wrong(text, f" = {brief(transport)}")
        return data

    @model_validator(mode="after")
    def _fits(self) -> Self:
        faults = Faults()
        with faults:
            if bounds(self.transport.start)[1] >= bounds(self.duration)[0]:
                raise InputError(
                    "transport.start can be at or after the end of the run; lower it or raise duration"
                )
        with faults:
            self._check_network()
        with faults:
            self._check_warm_up()
        if len(self.given) == 1:
            with faults:
                queue_limits.check(self.network.queues(), self.transport)
        faults.refuse()
        return self

    def _check_network(self) -> None:
        given = self.given
        if not given:
            remedy = _listed((f"{network.written or network.key}:" for network in NETWORKS), "or")
            raise InputError(
                f"{_listed(network.key for network in NETWORKS)} are all missing; write one of {remedy}"
            )
        if len(given) > 1:
            raise InputError(f"{given[1].key} and {given[0].key} are both given; remove one")
        if self.mobility is not None and not self.paths:
            raise InputError(f"{self.network.key} and mobility are both given; remove one")
        if text := self.transport.supports(self.network):
            raise InputError(text)
        if (field := delay_field(self.transport)) and not self.network.one_flow:
            one = " and ".join(network.key for network in NETWORKS if network.one_flow)
            remedy = "write it in flows, or remove it"
            raise InputError(f"transport.{field} is supported only with {one}, which have one flow; {remedy}")
        self.network.check_run(self, self.fidelity)

    def _check_warm_up(self) -> None:
        if self.warm_up is None or len(self.given) != 1:
            return
        if remedy := self.network.no_warm_up:
            have = _listed(network.key for network in NETWORKS if not network.no_warm_up)
            raise InputError(f"warm_up is supported only with {have} networks; {remedy}")
        if bounds(self.warm_up)[1] >= bounds(self.duration)[0]:
            raise InputError("warm_up can be at or after the end of the run; lower it or raise duration")

    @checked
    def with_values(self, values: Mapping[str, Any]) -> "Scenario":
        """Return a copy with fields, named as `transport.window` or `hops.0.delay`, set to YAML values."""
        data = self.model_dump(mode="json", exclude_none=True)
        short = self.transport.short_form()
        data["transport"] = {k: v for k, v in {**data["transport"], **short}.items() if v is not None}
        return Scenario.check(with_values(data, values))


ScenarioLike = Scenario | str | Path | Mapping[str, Any]
"""A scenario, the path of its file, or its data as in a file."""


def scenario_of(asked: ScenarioLike, *, values: Mapping[str, Any] | None = None) -> Scenario:
    """Return the scenario, with the fields in `values` set (see `Scenario.with_values`).

    Raises InputError.
    """
    if isinstance(asked, Mapping):
        asked = Scenario.check(dict(asked))
    elif not isinstance(asked, Scenario):
        asked = load_scenario(asked)
    return asked.with_values(values) if values else asked


@checked
def load_scenario(path: str | Path, *, values: Mapping[str, Any] | None = None) -> Scenario:
    """Read a scenario from a YAML file and set the fields in `values` (see `Scenario.with_values`).

    The path of a congestion control file is relative to the scenario's folder, and the file must be trusted,
    see `congestion.locate`. Raises InputError with file and line.
    """
    return scenario_in(kinds.read(path, kinds.SCENARIO), values=values)


def scenario_in(document: Document, *, values: Mapping[str, Any] | None = None) -> Scenario:
    """Return the scenario of a file that was read, with the fields in `values` set, as `load_scenario`."""
    path = document.source
    data, document = with_options(document, values or {})
    data.setdefault("name", files.title(path))
    locate_control(data, Path(path))
    return Scenario.check(data, document=document)


def locate_control(data: dict[str, Any], path: Path) -> None:
    """Replace the file name of a user's congestion control by its path, in the data of a scenario file."""
    transport = data.get("transport")
    control = transport.get("congestion_control") if isinstance(transport, dict) else None
    if isinstance(transport, dict) and isinstance(control, str) and control not in NAMES:
        transport["congestion_control"] = str(locate(control, path))


def within_scenario(name: str, known: Collection[str]) -> str | None:
    """Return the remedy for a field of the scenario that is written in the sweep or plan around it.

    `known` are the fields of that sweep or plan. Returns None for names that are not fields of a scenario.
    """
    head = name.partition(".")[0]
    if head in known or head not in {*Scenario.model_fields, "hops"}:
        return None
    return f"{head} is a field of the scenario; write it under scenario:"


def check_outside(name: str, value: str, known: Collection[str]) -> None:
    """Raise InputError for an option that sets a field of the scenario in the sweep or plan around it."""
    if within_scenario(name, known) is None:
        return
    head = name.partition(".")[0]
    raise InputError(f"{head} is a field of the scenario; write --set scenario.{name}={value}")


def _listed(words: Iterable[str], last: str = "and") -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    *others, final = words
    return f"{', '.join(others)} {last} {final}"
