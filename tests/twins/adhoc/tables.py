"""One row of `ManetRows` as plain Python objects."""

from netcarlo.kernels.adhoc.layout import Manet, ManetRows
from netcarlo.kernels.base.layout import FOREVER
from tests.twins.parameters import Parameters
from tests.twins.random_numbers import Streams
from tests.twins.wireless.tables import named

NEVER_LOSES = 0xFFFFFFFF

Spot = tuple[int, int, int]  # time, x, y


class Tables:
    """Tables of a row: `p` of the transport, `net` of the network, and the motion of the nodes."""

    def __init__(self, rows: ManetRows, row: int) -> None:
        self.p = Parameters(rows, row)  # type: ignore[arg-type]
        self.net = named(Manet, rows.parameters[row])
        self.places: list[list[Spot]] = []
        for node in range(self.net.NODES):
            times, places = rows.times[row, node].tolist(), rows.places[row, node].tolist()
            spots = [(time, x, y) for time, (x, y) in zip(times, places, strict=True)]
            self.places.append([spot for spot in spots if spot[0] < FOREVER])
        self.losses = [[int(word) for word in digits] for digits in rows.losses]
        self.streams = Streams(self.p.SEED, self.p.SCENARIO, self.p.REPLICATION)


class Errors:
    """Random loss of frames."""

    def __init__(self, tables: Tables, stream: int, row: int) -> None:
        thresholds = tables.losses[row]
        self.never = thresholds[-1] == NEVER_LOSES
        self.gaps = tables.streams.gaps(stream, thresholds)
        self.survivors_left = 0 if self.never else next(self.gaps)

    def strike(self) -> bool:
        """Return True if the next frame is lost."""
        if self.never:
            return False
        if self.survivors_left == 0:
            self.survivors_left = next(self.gaps)
            return True
        self.survivors_left -= 1
        return False


class Words:
    """Random words of a stream in order."""

    def __init__(self, streams: Streams, stream: int) -> None:
        self.streams = streams
        self.stream = stream
        self.count = 0

    def below(self, bound: int) -> int:
        """Return the next word as a number from 0 to `bound` - 1."""
        word = self.streams.block(self.stream, self.count)[0]
        self.count += 1
        return bound * word >> 32
