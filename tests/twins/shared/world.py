"""Everything there is in one row: links, flows and the clock."""

from netcarlo.kernels.shared.layout import ALONE, KINDS, LINUX_RENO, UDP, SharedRows
from tests.twins.shared.clock import Agenda, Phase
from tests.twins.shared.flows import Flow, Tcp, Udp
from tests.twins.shared.links import Link
from tests.twins.shared.linux import Linux
from tests.twins.shared.sctp import Sctp
from tests.twins.shared.tables import Tables


class World:
    def __init__(self, rows: SharedRows, row: int, *, alone: str) -> None:
        self.tables = Tables(rows, row)
        self.agenda = Agenda()
        self.links = [Link(self, number, columns) for number, columns in enumerate(self.tables.links)]
        self.flows: list[Flow] = []
        for number, columns in enumerate(self.tables.flows):
            if columns.KIND == UDP:
                self.flows.append(Udp(self, number, columns))
            elif columns.KIND == ALONE and alone == "sctp":
                self.flows.append(Sctp(self, number, columns))
            elif columns.KIND >= LINUX_RENO:
                control = ("reno", "cubic", "bbr", "bbr3")[columns.KIND - LINUX_RENO]
                self.flows.append(Linux(self, number, columns, control))
            else:
                protocol = alone if columns.KIND == ALONE else KINDS[columns.KIND]
                self.flows.append(Tcp(self, number, columns, protocol))
        self.agenda.plan(self.tables.p.WARM_UP, Phase.CLOCK, 0, self._warm_up_ends)

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
