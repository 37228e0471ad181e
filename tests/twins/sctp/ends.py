"""Endpoints of an SCTP association, by the rules that its parameters select."""

from tests.twins.parameters import Parameters
from tests.twins.sctp.management import TodaysReceiver
from tests.twins.sctp.receiver import SctpReceiver
from tests.twins.sctp.sender import Road, SctpSender
from tests.twins.sctp.today import Route, TodaysSender

Sender = SctpSender | TodaysSender


def ends(parameters: Parameters) -> tuple[type[Sender], type[SctpReceiver], type[Road | Route]]:
    """Return sender, receiver and path of the sender."""
    if parameters.RFC9260:
        return TodaysSender, TodaysReceiver, Route
    return SctpSender, SctpReceiver, Road
