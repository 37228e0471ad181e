"""Simulation of candidates: the measured quantities for given values of the free fields."""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from netcarlo.calibration.fit.free import FreeField
from netcarlo.calibration.fit.observed import EDGES, Span, Target
from netcarlo.errors import InputError
from netcarlo.estimation.journal import Journal
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.scenario import Scenario
from netcarlo.schema.fields import texts
from netcarlo.simulation import launches, measurable
from netcarlo.simulation.ensemble import build, build_rows, features
from netcarlo.simulation.launches import Part
from netcarlo.simulation.targets import resolve_target

SAMPLE_S = 0.02
"""Interval at which the round-trip time is sampled [s]."""
HANDSHAKE_RTO_S = 1.0
"""Retransmission timeout of a SYN (RFC 6298, section 2) [s]."""
COUNTS = ("retransmitted", "sent", "drops_queue", "drops_random", "drops_outage")


class Simulated(NamedTuple):
    """Cumulated quantities at the ends of windows, float64[candidates, ends]."""

    ends_s: Floats
    """Start of the first window and ends of all windows [s], float64[ends]."""
    bits: Floats
    """Payload delivered since the start [bit]."""
    rtt: Floats
    """Integral of the round-trip time [s^2]."""
    seen_s: Floats
    """Time over which the round-trip time is known [s]."""
    retransmitted: Floats
    """Retransmitted packets."""
    loss: Floats
    """Share of sent packets that were lost."""
    base_s: Floats
    """Round-trip time without queueing, float64[candidates]."""
    connected: Bools
    """False if a packet of the handshake was lost, bool[candidates]: tools measure from the connection on."""

    def of(self, one: Target) -> Floats:
        """Return the simulated values of a target, float64[candidates]."""
        low, high = (0, -1) if one.window is None else (one.window, one.window + 1)
        if one.kind == "least_rtt_s":
            return self.base_s
        if one.kind == "loss":
            return self.loss[..., high]
        if one.kind == "retransmitted":
            return self.retransmitted[..., high] - self.retransmitted[..., low]
        if one.kind == "goodput_bps":
            length_s = float(self.ends_s[high] - self.ends_s[low])
            return np.asarray((self.bits[..., high] - self.bits[..., low]) / length_s)
        seen = self.seen_s[..., high] - self.seen_s[..., low]
        sums = self.rtt[..., high] - self.rtt[..., low]
        return np.asarray(np.where(seen > 0, sums / np.where(seen > 0, seen, 1.0), 0.0))


class Simulator:
    """Simulates candidates for runs of one duration. Candidates in the journal are not simulated again."""

    def __init__(
        self,
        scenario: Scenario,
        free: Sequence[FreeField],
        *,
        target: str = "auto",
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
        journal: Journal | None = None,
        rows: float = 0,
        launches: float = 1,
    ) -> None:
        """Choose the target for about `rows` simulated runs in `launches` that wait for each other."""
        self.scenario = scenario
        self.free = list(free)
        self.rows = 0
        self._target = resolve_target(target, [(scenario, rows)], threads=threads, launches=launches)
        self._threads = threads
        self._progress = progress or (lambda rows: None)
        self._tcp = "retransmitted" in measurable.outcomes(scenario)
        self._journal = journal
        self._kept = {batch.get("key"): batch.get("outcomes") for batch in journal.read()} if journal else {}

    def prepare(self) -> None:
        """Compile the model, and check that every free field can differ between rows of one launch."""
        for end in (0.0, 1.0):
            values = {one.name: one.yaml(float(one.values(np.array(end)))) for one in self.free}
            written = self.scenario.with_values(values)
            given = {
                name: np.full(2, float(one.quantity.validate(values[one.name])))  # type: ignore[arg-type]
                for one in self.free for name in one.full
            }  # fmt: skip
            ours = build_rows(self.scenario, replications=np.arange(2), given=given).rows
            theirs = build(written, replications=2).rows
            if not all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)):
                names = ", ".join(values)
                raise InputError(
                    f"--free: not all of {names} can vary between replications of one launch; "
                    "name only fields that are plain numbers, such as a rate, a delay or a queue in packets"
                )
        launches.prepare([self.scenario], target=self._target)

    def run(self, positions: Floats, span: Span, *, first: int, edges: Sequence[float] = EDGES) -> Simulated:
        """Simulate a run of each candidate at `positions` [n, fields], with replications from `first` on.

        A run is simulated up to each of the `edges`, fractions of the length of its `span`. Replications with
        the same number are equal up to the shorter duration.
        """
        n, ends = len(positions), span[0] + np.array(edges) * span[1]
        values = np.stack([one.values(positions[:, k]) for k, one in enumerate(self.free)], axis=1)
        numbers = np.arange(first, first + n)
        trip = self._base_rtt(values) if self._tcp else np.zeros(n)
        bits, rtt, seen, again, loss = np.zeros((5, n, len(ends)))
        later = np.flatnonzero(ends > 0)
        until = ends[later][:, None] + trip  # [ends, candidates]
        frame = {
            name: column.reshape(until.shape).T
            for name, column in self._frame(
                np.tile(values, (len(later), 1)), np.tile(numbers, len(later)), until.reshape(-1)
            ).items()
        }
        connected = np.ones(n, bool)
        bits[:, later] = frame["goodput_bps"] * until.T
        if self._tcp:
            first_s = np.nan_to_num(frame["first_delivery_s"], nan=np.inf)
            in_time = first_s[:, -1] < 2 * trip + HANDSHAKE_RTO_S / 2
            connected = in_time if in_time.mean() > 0.5 else connected
            seen[:, later] = np.maximum(until.T - first_s, 0.0)
            rtt[:, later] = np.nan_to_num(frame["mean_rtt_s"]) * seen[:, later]
            again[:, later] = frame["retransmitted"]
        lost = sum(frame[name] for name in COUNTS if name.startswith("drops") and name in frame)
        loss[:, later] = lost / np.maximum(frame["sent"], 1)
        if self._tcp:
            # The clock of a receiver starts half a round trip before that of the sender's first data.
            rate = np.diff(bits, axis=1) / np.diff(ends)
            bits[:, 1:] -= rate * trip[:, None] / 2
            if ends[0] > 0:
                bits[:, 0] -= rate[:, 0] * trip / 2
        return Simulated(ends, np.maximum(bits, 0.0), rtt, seen, again, loss, trip, connected)

    def _base_rtt(self, values: Floats) -> Floats:
        """Return the round-trip time without queueing of each row, by which a handshake delays the data."""
        given = {name: values[:, k] for k, one in enumerate(self.free) for name in one.full}
        return features(self.scenario, given=given, rows=len(values))["base_rtt_s"]

    def _frame(self, values: Floats, numbers: Ints, duration_s: Floats) -> dict[str, Floats]:
        """Return outcomes by name, float64[rows]."""
        if self._journal is None:
            return self._simulated(values, numbers, duration_s)
        key = self._key(values, numbers, duration_s)
        if isinstance(kept := self._kept.get(key), dict):
            self._count(len(values))
            return {name: np.array(column, np.float64) for name, column in kept.items()}
        found = self._simulated(values, numbers, duration_s)
        self._journal.write({"key": key, "outcomes": {name: v.tolist() for name, v in found.items()}})
        return found

    def _key(self, *arrays: Floats | Ints) -> str:
        """Return the identity of rows: the scenario, the free fields, and the arrays that differ by row."""
        free = [name for one in self.free for name in one.full]
        found = hashlib.sha256(repr((texts(self.scenario), free)).encode())
        for array in arrays:
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()[:32]

    def _count(self, rows: int) -> None:
        self.rows += rows
        self._progress(rows)

    def _simulated(self, values: Floats, numbers: Ints, duration_s: Floats) -> dict[str, Floats]:
        given = {name: values[:, k] for k, one in enumerate(self.free) for name in one.full}
        given |= {"duration": duration_s, "sample_interval": np.full(len(values), SAMPLE_S)}
        size = launches.max_replications([self.scenario], self._target)
        frames = []
        for lo in range(0, len(values), size):
            some = slice(lo, lo + size)
            rows = build_rows(
                self.scenario, replications=numbers[some], given={k: v[some] for k, v in given.items()}
            )
            found = launches.run([Part(self.scenario, *rows)], target=self._target, threads=self._threads)
            frames.append(found[0].frame)
            self._count(len(frames[-1]))
        names = ["goodput_bps", "first_delivery_s", "mean_rtt_s", *COUNTS]
        return {
            name: np.concatenate([frame[name].to_numpy(float) for frame in frames])
            for name in names if name in frames[0]
        }  # fmt: skip
