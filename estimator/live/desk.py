"""What visitors look at, and the thread that simulates it: the newest looks first, nothing that nobody sees.

Scenarios are shared: two visitors at the same place see the same replications.  Batches are short, and one
that nobody waits for any more is given up within a block of a kernel.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from netcarlo.errors import InputError, MachineError
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.live.runs import Runs
from netcarlo.scenario import Scenario
from netcarlo.simulation import launches
from netcarlo.sweeps.space.identity import key

KEPT = 200
"""Scenarios whose replications are kept."""
AWAY_S = 6.0
"""Seconds after which a visitor that asks nothing has gone."""
FIRST = 16
"""Replications of the first batch."""
BATCH_S = 0.2
"""How long a batch is, about: the page is drawn anew after each."""


@dataclass
class Wanted:
    """An outcome of a scenario that somebody looks at."""

    runs: Runs
    of: str


class _Gone(Exception):
    """Nobody waits for this batch any more."""


class Desk:
    """Keeps replications, and adds to those that are looked at."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Runs] = OrderedDict()
        self._visitors: dict[str, tuple[float, list[Wanted]]] = {}
        self._ready: set[object] = set()
        self._change = threading.Condition()
        self._speed: dict[int, float] = {}
        self.errors: dict[int, str] = {}
        """What went wrong with runs, by their identity, in a line."""
        self.doing = ""
        """What is compiled now, in words."""

    def begin(self) -> None:
        """Start the thread, which ends with the process."""
        threading.Thread(target=self._serve, daemon=True, name="netcarlo live").start()

    def warm(self, scenario: Scenario, of: str) -> None:
        """Begin with what a visitor will ask first: imports, compiling, the first replications."""
        runs = self.runs(scenario)
        self.look_at("nobody", [Wanted(runs, of)])
        if runs.first(of) == "formula":
            runs.guess(of)

    def runs(self, scenario: Scenario) -> Runs:
        """The replications of a scenario.  Raises InputError."""
        name = key(scenario)
        with self._change:
            found = self._known.get(name)
            if found is not None:
                self._known.move_to_end(name)
                return found
        made = Runs(scenario)
        with self._change:
            found = self._known.setdefault(name, made)
            while len(self._known) > KEPT:
                _, old = self._known.popitem(last=False)
                self.errors.pop(id(old), None)
                self._speed.pop(id(old), None)
            return found

    def known(self, scenario: Scenario) -> Runs | None:
        """The same if somebody has looked at it."""
        return self._known.get(key(scenario))

    def error(self, runs: Runs) -> str:
        """What went wrong with it, in a line."""
        return self.errors.get(id(runs), "")

    def look_at(self, visitor: str, wanted: list[Wanted]) -> None:
        """Say what a visitor looks at; what nobody looks at any more is given up."""
        with self._change:
            self._visitors[visitor] = (time.monotonic(), wanted)
            self._change.notify_all()

    def ready(self, scenario: Scenario, kind: str) -> bool:
        """Whether a fidelity of a scenario answers at once: formulae do, and models that are compiled."""
        return kind == "formula" or self._model(scenario, kind) in self._ready

    def _model(self, scenario: Scenario, kind: str) -> object:
        return launches.model_of(scenario.model_copy(update={"fidelity": kind}))

    def _wanted(self) -> list[Wanted]:
        """What is looked at and not at rest: the fewest replications first."""
        now = time.monotonic()
        for visitor in [v for v, (at, _) in self._visitors.items() if now - at > AWAY_S]:
            del self._visitors[visitor]
        found = [each for _, some in self._visitors.values() for each in some if id(each.runs) not in self.errors]
        return sorted((w for w in found if self._next(w)), key=lambda w: w.runs.done("packet"))

    def _next(self, wanted: Wanted) -> tuple[str, int] | None:
        """What to simulate of it: a fidelity, and until which replication."""
        runs, of = wanted.runs, wanted.of
        first = runs.first(of)
        if first is not None and not runs.done(first):
            return first, runs.draws(first)
        step = runs.step(of)
        if step is None:
            return None
        if not step.cheap and (useful := runs.useful(of)) > runs.done(str(runs.control(of))):
            return str(runs.control(of)), useful
        if step.cheap:
            return str(runs.control(of)), step.until
        done = runs.done("packet")
        more = max(FIRST, min(done, round(BATCH_S * self._speed.get(id(runs), 0.0))))
        return "packet", min(step.until, done + more)

    def _serve(self) -> None:
        with compilers.announced(self._announce):
            while True:
                with self._change:
                    waiting = self._wanted()
                    if not waiting:
                        self._change.wait(1.0)
                        continue
                self._work(waiting[0])

    def _announce(self, what: str, time_s: float) -> None:
        self.doing = f"compiling {what}, about {time_s:.0f} s, once on this machine"

    def _work(self, wanted: Wanted) -> None:
        runs, found = wanted.runs, self._next(wanted)
        if found is None:
            return
        kind, until = found

        def check(*_: int) -> None:
            if not any(runs is w.runs for _, some in list(self._visitors.values()) for w in some):
                raise _Gone

        try:
            model = self._model(runs.scenario, kind if kind != "packet" else runs.scenario.fidelity)
            if kind != "formula" and model not in self._ready:
                launches.prepare([runs.scenario], target="cpu")
                from netcarlo.kernels.runtime.compile import cpu_loop

                cpu_loop(model)
                self._ready.add(model)
                self.doing = ""
            done, started = runs.done(kind), time.perf_counter()
            runs.extend(kind, until, progress=check)
            if kind == "packet":
                self._speed[id(runs)] = (runs.done(kind) - done) / max(time.perf_counter() - started, 1e-4)
            runs.remember(wanted.of)
        except _Gone:
            return
        except (InputError, MachineError, MemoryError) as error:
            self.errors[id(runs)] = str(error) or "not enough memory"
        finally:
            self.doing = ""

    def rest(self, runs: Runs, of: str, visitor: str = "rest", *, until: Callable[[], bool] = lambda: True) -> None:
        """Wait until an outcome is at rest.  Raises InputError."""
        while runs.step(of) is not None and until():
            self.look_at(visitor, [Wanted(runs, of)])
            if id(runs) in self.errors:
                raise InputError(self.errors[id(runs)])
            time.sleep(0.05)
        with self._change:
            self._visitors.pop(visitor, None)
