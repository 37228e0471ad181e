"""All objects of one row: links, flows and the clock."""

from typing import Any

from netcarlo.kernels.senders import ALONE, KINDS, LINUX_RENO, UDP
from netcarlo.kernels.shared.layout import NO_AQM, SharedRows
from tests.twins.shared.arrivals import Slot, classes_of
from tests.twins.shared.clock import Agenda, Phase
from tests.twins.shared.flows import Flow, Tcp, Udp
from tests.twins.shared.links import Link
from tests.twins.shared.linux import Linux
from tests.twins.shared.managed import ManagedLink
from tests.twins.shared.quic import Quic
from tests.twins.shared.sctp import Sctp
from tests.twins.shared.tables import Tables


class World:
    def __init__(self, rows: SharedRows, row: int, *, alone: str) -> None:
        self.tables = Tables(rows, row)
        self.agenda = Agenda()
        self.links = [
            (Link if columns.AQM == NO_AQM else ManagedLink)(self, number, columns)
            for number, columns in enumerate(self.tables.links)
        ]
        self.alone = alone
        self.flows: list[Flow | Slot] = []
        for number, columns in enumerate(self.tables.flows):
            slot = columns.CLASS > 0
            self.flows.append(Slot(self, number, columns) if slot else self.flow(number, columns))
        self.classes = classes_of(self)
        self.agenda.plan(self.tables.p.WARM_UP, Phase.CLOCK, 0, self._warm_up_ends)

    @property
    def warm_up(self) -> int:
        return self.tables.p.WARM_UP

    def flow(self, number: int, columns: Any) -> Flow:
        """Return a flow with new endpoints."""
        if columns.KIND == UDP:
            return Udp(self, number, columns)
        if columns.KIND == ALONE and self.alone in ("sctp", "quic"):
            return (Sctp if self.alone == "sctp" else Quic)(self, number, columns)
        if columns.KIND >= LINUX_RENO:
            control = ("reno", "cubic", "bbr", "bbr3", "own")[columns.KIND - LINUX_RENO]
            return Linux(self, number, columns, control)
        return Tcp(self, number, columns, self.alone if columns.KIND == ALONE else KINDS[columns.KIND])

    def run(self) -> None:
        self.agenda.run(self.tables.p.END)

    def _warm_up_ends(self) -> None:
        for one in (*self.flows, *self.links):
            one.warm_up_ends()
        self._sample()

    def _sample(self) -> None:
        for flow in self.flows:
            flow.sample()
        self.agenda.plan(self.agenda.now + self.tables.p.SAMPLE, Phase.CLOCK, 0, self._sample)
