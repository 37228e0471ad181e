"""Construction of the network of one row, its simulation, and its outcomes."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import NEVER, PATHS, Out, Rows
from netcarlo.kernels.base.parameters import SctpP
from tests.twins.linux.application import Application
from tests.twins.linux.autotuning import TuningReceiver, listen_to_windows
from tests.twins.linux.bbr import PacedSender
from tests.twins.linux.bbr3 import Bbr3Sender
from tests.twins.linux.controls import CONTROLS as LINUX_CONTROLS
from tests.twins.linux.own import OwnSender
from tests.twins.linux.receiver import LinuxReceiver
from tests.twins.linux.sender import LinuxSender
from tests.twins.mptcp.connection import Connection
from tests.twins.network import Network
from tests.twins.outcomes import WORD, Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.datagrams import Datagrams
from tests.twins.path.engine import Rank, Simulation
from tests.twins.path.link import Packet, Path
from tests.twins.path.mobility.host import MobilePath
from tests.twins.quic.migration import Client, Server
from tests.twins.quic.receiver import QuicReceiver
from tests.twins.quic.sender import QuicSender
from tests.twins.random_numbers import Streams
from tests.twins.sctp.endpoint import Destination
from tests.twins.sctp.ends import Sender, ends
from tests.twins.shared.delays import Gauge, Noted
from tests.twins.tcp.congestion import CONTROLS, Standard
from tests.twins.tcp.elfn import Elfn
from tests.twins.tcp.eln import Eln
from tests.twins.tcp.linux26 import LINUX_CONTROLS as LINUX26_CONTROLS
from tests.twins.tcp.linux26 import Linux
from tests.twins.tcp.new_probing import NewProbing
from tests.twins.tcp.newreno import NewReno
from tests.twins.tcp.probing import Probing
from tests.twins.tcp.receiver import Receiver
from tests.twins.tcp.reno import Reno
from tests.twins.tcp.sack import Sack
from tests.twins.tcp.tahoe import Tahoe
from tests.twins.tcp.tcp import TcpSender
from tests.twins.tcp.vegas import Vegas

SENDERS: dict[str, type[TcpSender]] = {
    "tcp_tahoe": Tahoe,
    "tcp_reno": Reno,
    "tcp_newreno": NewReno,
    "tcp_sack": Sack,
    "tcp_vegas": Vegas,
    "tcp_probing": Probing,
    "tcp_new_probing": NewProbing,
    "tcp_elfn": Elfn,
    "tcp_eln": Eln,
    "tcp_linux26": Linux,
}


def tcp_of(name: str) -> tuple[type[TcpSender], type[Standard]]:
    """Return sender and congestion control of "sack", "sack_bic", "new_probing", "new_probing_bic", ..."""
    for control in CONTROLS:
        variant = name.removesuffix(f"_{control}") if control else name
        if f"tcp_{variant}" in SENDERS:
            controls = LINUX26_CONTROLS if variant == "linux26" else CONTROLS
            return SENDERS[f"tcp_{variant}"], controls[control]
    raise KeyError(name)


def simulate(protocol: str, rows: Rows, *, row: int = 0) -> NDArray[np.int64]:
    """Return the outcomes int64[len(Out)] of one row of `rows` under the model `protocol`."""
    protocol = protocol.replace("_delays", "")
    tuned = protocol.endswith("_tuned")
    protocol = protocol.removesuffix("_tuned")
    writes = protocol.endswith("_messages")
    protocol = protocol.removesuffix("_messages").removesuffix("_varying")
    alone = protocol.endswith("_reordering")
    protocol = protocol.removesuffix("_reordering")
    parameters = Parameters(rows, row)
    streams = Streams(parameters.SEED, parameters.SCENARIO, parameters.REPLICATION)
    simulation = Simulation()
    outcomes = Noted(limit=parameters.LIMIT) if parameters.LATE else Outcomes(limit=parameters.LIMIT)
    linux = protocol.startswith(("tcp_linux_", "mptcp_"))
    network = Network(simulation, outcomes, parameters, streams, rows, row, arrival_first=not linux)
    mobile = protocol.endswith("_mobile")
    constants = rows.constants[row].astype(np.int64).tolist() if writes else None
    application = sender = None
    if protocol.startswith("mptcp_"):
        control, further = protocol.removeprefix("mptcp_"), (rows.parameters[:, SctpP.N_PATHS] > PATHS).any()
        return run_mptcp(control, simulation, outcomes, parameters, network, further=bool(further))
    if protocol == "quic_migration":
        return run_migration(simulation, outcomes, parameters, network)
    count = PATHS if protocol == "sctp" and not alone else 1
    paths = [network.mobile_path()] if mobile else [network.path(path) for path in range(count)]
    paths[0].reorders |= alone  # the model is one of such paths, even where a row has none
    for path in paths if isinstance(outcomes, Noted) else []:
        path.send = noting(outcomes, simulation, path.send)  # type: ignore[method-assign]
    if protocol.removesuffix("_mobile") == "sctp":
        sender = run_sctp(simulation, outcomes, parameters, streams, paths)
    elif protocol.removesuffix("_mobile") == "quic":
        run_quic(simulation, outcomes, parameters, paths[0])
    elif linux:
        control = protocol.removesuffix("_mobile").removeprefix("tcp_linux_")
        application = run_linux(
            control, simulation, outcomes, parameters, paths[0], streams, constants, tuned=tuned
        )
    else:
        run_one_way(protocol.removesuffix("_mobile"), simulation, outcomes, parameters, paths[0])
    if isinstance(paths[0], MobilePath) or paths[0].reorders:
        outcomes.add(Out.IN_FLIGHT, paths[0].in_flight())
    vector = outcomes.vector()
    if parameters.QUEUES:
        held = max(link.held_until(parameters.END) for link in paths[0].forward)
        vector = np.append(vector, divmod(held, WORD)[::-1])
    if isinstance(outcomes, Noted):
        gauge = Gauge()
        gauge.take(outcomes.arrivals, parameters.LATE)
        vector = np.append(vector, gauge.values())
    if application is not None:
        vector = np.append(vector, application.outcomes())
    if (rows.parameters[:, SctpP.N_PATHS] == PATHS).any():
        vector = np.append(vector, sender.longest_failover if parameters.N_PATHS == PATHS else 0)
    return vector


def noting(
    outcomes: Noted, simulation: Simulation, send: Callable[[Packet], None]
) -> Callable[[Packet], None]:
    """Return a function that sends packets and notes when data are first sent."""

    def transmit(packet: Packet) -> None:
        outcomes.note_sent(packet, simulation.now)
        send(packet)

    return transmit


def run_one_way(
    protocol: str, simulation: Simulation, outcomes: Outcomes, parameters: Parameters, path: Path
) -> None:
    """Run a TCP association or a UDP stream."""
    if protocol == "udp":
        Datagrams(simulation, outcomes, parameters, path)
        simulation.run(parameters.END)
    else:
        run_tcp(protocol, simulation, outcomes, parameters, path)


def run_tcp(
    protocol: str, simulation: Simulation, outcomes: Outcomes, parameters: Parameters, path: Path
) -> None:
    variant, control = tcp_of(protocol.removeprefix("tcp_"))
    sender = variant(simulation, outcomes, parameters, path.send, control())
    sender.send_probe = lambda number: path.send(Packet("probe", parameters.HEADER, number))
    receiver = Receiver(
        simulation,
        outcomes,
        first=sender.next_number,
        first_data=sender.first_data,
        ack_every=parameters.ACK_EVERY,
        ack_delay=parameters.ACK_DELAY,
        ack_size=parameters.ACK,
        block_size=parameters.SACK_BLOCK,
        sack=sender.sack,
        send_back=path.send_back,
    )

    def at_receiver(packet: Packet) -> None:
        if packet.kind == "probe":
            path.send_back(Packet("reply", packet.size, packet.content))
        else:
            receiver.receive(packet)

    def at_sender(packet: Packet) -> None:
        if packet.kind == "reply":
            sender.on_probe_reply(packet.content)
        else:
            sender.receive(packet)

    path.connect(at_receiver, at_sender)
    simulation.at(parameters.START, Rank.HOP, sender.start)

    def cwnd_1024() -> int:
        return math.floor(1024.0 * min(sender.cwnd, float(sender.window)))

    sample_until_end(simulation, outcomes, parameters, cwnd_1024, lambda: sender.rtt)
    simulation.run(parameters.END)


def run_linux(
    control: str,
    simulation: Simulation,
    outcomes: Outcomes,
    parameters: Parameters,
    path: Path,
    streams: Streams,
    constants: Sequence[int] | None,
    *,
    tuned: bool = False,
) -> Application | None:
    """Run current Linux; with `constants` its application writes messages."""
    kind = {"bbr": PacedSender, "bbr3": Bbr3Sender, "own": OwnSender}.get(control, LinuxSender)
    own = LINUX_CONTROLS.get(control, LINUX_CONTROLS["reno"])()
    sender = kind(simulation, outcomes, parameters, path.send, own)
    sender.widens = path.reorders
    if tuned:
        receiver: LinuxReceiver = TuningReceiver(simulation, outcomes, parameters, path.send_back)
        listen_to_windows(sender)
    else:
        receiver = LinuxReceiver(simulation, outcomes, parameters, path.send_back)
    application = None
    if constants is not None:
        application = Application(simulation, sender, receiver, streams, constants)
        path.connect(application.at_receiver(receiver.receive), application.at_sender(sender.receive))
        simulation.at(parameters.START, Rank.HOP, application.start)
    else:
        path.connect(receiver.receive, sender.receive)
        simulation.at(parameters.START, Rank.HOP, sender.start)

    def cwnd_1024() -> int:
        return 1024 * min(sender.cwnd, sender.window_of_receiver)

    sample_until_end(simulation, outcomes, parameters, cwnd_1024, lambda: sender.rtt)
    simulation.run(parameters.END)
    return application


def run_mptcp(
    control: str, simulation: Simulation, outcomes: Outcomes, parameters: Parameters, network: Network,
    *, further: bool,
) -> NDArray[np.int64]:  # fmt: skip
    """Run a connection over one to four paths; return its outcomes, if `further` with those of four."""
    paths = [network.path(path) for path in range(parameters.SUBFLOWS)]
    connection = Connection(simulation, outcomes, parameters, paths, control)
    senders = [one.sender for one in connection.subflows]

    def cwnd_1024() -> int:
        return 1024 * min(sum(sender.cwnd for sender in senders), parameters.WINDOW)

    sample_until_end(simulation, outcomes, parameters, cwnd_1024, lambda: senders[0].rtt)
    simulation.run(parameters.END)
    of_subflows = connection.report(further=further)
    return np.append(outcomes.vector(), of_subflows)


def run_quic(simulation: Simulation, outcomes: Outcomes, parameters: Parameters, path: Path) -> None:
    """Run a QUIC connection with one stream."""
    sender = QuicSender(simulation, outcomes, parameters, path.send)
    receiver = QuicReceiver(simulation, outcomes, parameters, path.send_back)
    path.connect(receiver.receive, sender.receive)
    simulation.at(parameters.START, Rank.HOP, sender.start)
    sample_until_end(simulation, outcomes, parameters, sender.window_1024, lambda: sender.rtt)
    simulation.run(parameters.END)


def run_migration(
    simulation: Simulation, outcomes: Outcomes, parameters: Parameters, network: Network
) -> NDArray[np.int64]:
    """Run a QUIC connection over two paths; return its outcomes."""
    paths = [network.path(path) for path in range(PATHS)]
    client = Client(simulation, outcomes, parameters, paths)
    server = Server(simulation, outcomes, parameters, paths)
    for path in paths:
        path.connect(server.receive, client.receive)
    simulation.at(parameters.START, Rank.HOP, client.start)
    sample_until_end(simulation, outcomes, parameters, client.window_1024, lambda: client.rtt)
    simulation.run(parameters.END)
    return np.append(outcomes.vector(), client.longest_failover)


def run_sctp(
    simulation: Simulation,
    outcomes: Outcomes,
    parameters: Parameters,
    streams: Streams,
    paths: Sequence[Path],
) -> Sender:
    """Run an association over the first, or both, of `paths`; return its sender."""
    numbers = range(parameters.N_PATHS)
    sender_type, receiver_type, road = ends(parameters)
    sender = sender_type(
        outcomes,
        simulation,
        parameters,
        streams,
        destinations=[road(n, parameters) for n in numbers],
        transmit=lambda number, packet: paths[number].send(packet),
    )
    receiver = receiver_type(
        outcomes,
        simulation,
        parameters,
        streams,
        destinations=[Destination(n, parameters) for n in numbers],
        transmit=lambda number, packet: paths[number].send_back(packet),
    )

    def after_timers(packet: Packet) -> None:
        receiver.catch_up()
        receiver.receive(packet)

    def after_silence(packet: Packet) -> None:
        values, before = outcomes.values, outcomes.values[Out.LAST_RX]
        if packet.kind == "data" and before != NEVER:
            values[Out.SILENCE] = max(values[Out.SILENCE], simulation.now - before)
        receiver.receive(packet)

    for path in paths[: parameters.N_PATHS]:
        overtakes = isinstance(path, MobilePath) or path.reorders
        path.connect(after_timers if overtakes else after_silence, sender.receive)
    simulation.at(parameters.START, Rank.HOP, sender.start)

    def cwnd_1024() -> int:
        return min(sender.current.cwnd, parameters.RWND) * 1024 // sender.chunk_size

    sample_until_end(simulation, outcomes, parameters, cwnd_1024, lambda: sender.current.latest_rtt)
    simulation.run(parameters.END)
    return sender


def sample_until_end(
    simulation: Simulation,
    outcomes: Outcomes,
    parameters: Parameters,
    cwnd_1024: Callable[[], int],
    rtt: Callable[[], int],
) -> None:
    """Sample in the middle of every interval; `cwnd_1024` is in packets / 1024, `rtt` in ns."""

    def sample() -> None:
        outcomes.add(Out.CWND_SUM, cwnd_1024())
        if rtt() > 0:
            outcomes.add(Out.RTT_SUM, rtt())
            outcomes.add(Out.RTT_SAMPLES)
        outcomes.add(Out.SAMPLES)
        simulation.at(simulation.now + parameters.SAMPLE, Rank.SAMPLE, sample)

    simulation.at(parameters.SAMPLE // 2, Rank.SAMPLE, sample)
