"""Delays by class of packets that another simulator traced at the hosts."""

from collections import Counter, defaultdict
from collections.abc import Hashable

import numpy as np

MEASURES = ("delay_p50_s", "delay_p95_s", "delay_p99_s", "mean_delay_s", "jitter_s", "loss_ratio")


class Packets:
    """Observations at sources and sinks: delays after `since` [s], losses after `lost_since` [s]."""

    def __init__(self, *, since: float, lost_since: float = 0.0) -> None:
        self.since = since
        self.lost_since = lost_since
        self.delays: dict[str, list[float]] = defaultdict(list)
        self.jitters: dict[str, list[float]] = defaultdict(list)
        self.sent: Counter[str] = Counter()
        self.came: Counter[str] = Counter()
        self.begin_run()

    def begin_run(self) -> None:
        """Begin another run; the samples of all runs are pooled."""
        self.first: dict[Hashable, float] = {}  # first send time by flow and number
        self.latest: dict[str, float] = {}  # delay of the latest packet of a flow
        self.jitter: dict[str, float] = defaultdict(float)

    def put_out(self, word: str, flow: str, number: str, t: float) -> None:
        """Record that a packet of class `word` was sent."""
        self.sent[word] += t >= self.lost_since
        self.first.setdefault((flow, number), t)

    def arrived(self, word: str, flow: str, number: str, t: float) -> None:
        """Record that a packet has arrived at its sink."""
        self.came[word] += t >= self.lost_since
        if (begin := self.first.pop((flow, number), -1.0)) < 0:
            return  # a duplicate
        self.first[flow, number] = -1.0
        delay = t - begin
        self.jitter[flow] += (abs(delay - self.latest.get(flow, delay)) - self.jitter[flow]) / 16
        self.latest[flow] = delay
        if t >= self.since:
            self.delays[word].append(delay)
            self.jitters[word].append(self.jitter[flow])

    def measures(self) -> dict[str, dict[str, float]]:
        """Return each of `MEASURES` of each class."""
        found = {}
        for word, values in self.delays.items():
            quantiles = np.quantile(values, [0.5, 0.95, 0.99])
            lost = 1 - self.came[word] / self.sent[word]
            numbers = (*quantiles, np.mean(values), np.mean(self.jitters[word]), lost)
            found[word] = dict(zip(MEASURES, map(float, numbers), strict=True))
        return found
