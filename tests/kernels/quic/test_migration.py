"""QUIC over two paths: path validation, migration, and comparison with the twin."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import EVENT_SEND, NEVER, PATHS, Failover, Out, Rows, Trace
from netcarlo.kernels.base.parameters import MigrationP, RowP, SctpP
from netcarlo.kernels.quic import migration, state
from netcarlo.kernels.quic.migration import Own
from netcarlo.kernels.quic.state import Chunk, Fate, Packet, Word, chunk_at, packet_at
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from tests.kernels.beside_twin import differing, run_as_python
from tests.kernels.quic.test_quic import DATAGRAM, queue_of, row_of
from tests.twins.any_model import scenarios, simulate
from tests.twins.path.scenarios import MS, SECOND

pytestmark = pytest.mark.filterwarnings("ignore:overflow")
CHALLENGE_TIMEOUT = 3 * 333 * MS + 25 * MS


def two_paths(*outages: tuple[int, float, float], after: int = 2, **values: int) -> Rows:
    """Return two equal paths of 10 ms per packet and 50 ms each way, with outages (path, start, end [s])."""
    row = queue_of(10, row_of(END=20 * SECOND, **values))
    row.parameters[0, [SctpP.N_PATHS, MigrationP.MIGRATE_AFTER]] = PATHS, after
    row.hops[0, 1] = row.hops[0, 0]
    for k, (path, start, end) in enumerate(outages):
        row.outages[0, path, 0, k if path == 0 else 0] = int(start * SECOND), int(end * SECOND)
    row.outages[0].sort(axis=2)
    return row


def outcomes(row: Rows) -> dict[str, int]:
    """Return the outcomes by name."""
    out = run_as_python("quic_migration", row)[0]
    found = {column.name: int(out[column]) for column in Out}
    return found | {"FAILOVER": int(out[len(Out) + Failover.LONGEST])}


def sent(row: Rows) -> Any:
    """Return time [s] and path of each data packet sent."""
    events, _ = launch.trace(models.model("quic_migration"), row, row=0)
    return events[events[:, Trace.EVENT] == EVENT_SEND][:, [Trace.TIME, Trace.PATH]]


def test_it_equals_its_twin() -> None:
    rows = scenarios("quic_migration", 40, seed=5)
    out = run_as_python("quic_migration", rows)
    for column in (Out.SENT_ALTERNATE, Out.SILENCE, Out.TIMEOUTS, Out.RETRANSMITTED):
        assert out[:, column].any()
    assert 5 < (out[:, -1] != NEVER).sum() < 40
    assert not differing(out, lambda row: simulate("quic_migration", rows, row=row), str, str)


@pytest.mark.full
def test_it_equals_its_twin_in_many_scenarios() -> None:
    rows = scenarios("quic_migration", 600, seed=6)
    out = launch.run(models.model("quic_migration"), rows)
    assert not differing(out, lambda row: simulate("quic_migration", rows, row=row), str, str)


def test_without_outages_it_equals_the_model_of_one_path() -> None:
    row = two_paths(LIMIT=300)
    found, alone = outcomes(row), run_as_python("quic", queue_of(10, row_of(LIMIT=300, END=20 * SECOND)))[0]
    assert found.pop("SILENCE") > 0 and found["FAILOVER"] == NEVER and found["SENT_ALTERNATE"] == 0
    assert found == {c.name: int(alone[c]) for c in Out if c != Out.SILENCE} | {"FAILOVER": NEVER}


def test_each_further_probe_timeout_doubles_the_wait() -> None:
    """Test N timeouts: 2^N - 1 times the first, and a round trip for the validation."""
    waits = [outcomes(two_paths((0, 3, 9), after=after))["FAILOVER"] / SECOND for after in (1, 2, 3)]
    trip = 0.1 + 2 * 1228 / 1228 * 0.01
    first = waits[0] - trip
    assert 0.1 < first < 1
    assert waits[1] - trip == pytest.approx(3 * first, rel=0.25)
    assert waits[2] - trip == pytest.approx(7 * first, rel=0.25)


def test_the_client_stays_on_the_second_path_when_the_first_is_up_again() -> None:
    times, paths = sent(two_paths((0, 3, 5))).T
    first = times[paths == 1][0]
    assert 3.5 < first < 4 and (paths[times < first] == 0).all() and (paths[times > first] == 1).all()


def test_it_returns_when_the_second_path_fails_later() -> None:
    row = two_paths((0, 3, 5), (1, 10, 20))
    times, paths = sent(row).T
    assert list(paths[np.flatnonzero(np.diff(paths)) + 1]) == [1, 0]
    assert times[paths == 0][-1] > 19 and outcomes(row)["DELIVERED"] > 1000


def test_a_lost_challenge_is_sent_again_and_a_validation_fails() -> None:
    """Test a second path that comes up after the first challenge, or after both of the first validation."""
    prompt, second = (outcomes(two_paths((0, 3, 20), (1, 0, up), after=1))["FAILOVER"] for up in (1, 4))
    assert second - prompt == pytest.approx(CHALLENGE_TIMEOUT, abs=MS)
    later = outcomes(two_paths((0, 3, 20), (1, 0, 5.5), after=1))["FAILOVER"]
    assert later - prompt > 3 * CHALLENGE_TIMEOUT


def test_while_both_paths_are_down_it_waits_for_either() -> None:
    first, second = (outcomes(two_paths((0, 3, up), (1, 2, 25 - up))) for up in (8, 17))
    assert first["FAILOVER"] == NEVER and first["SENT_ALTERNATE"] == 0 and first["LAST_RX"] > 19 * SECOND
    assert second["FAILOVER"] > 5 * SECOND and second["LAST_RX"] > 19 * SECOND


def test_the_new_path_starts_with_the_initial_window_and_rtt_and_all_data_in_flight() -> None:
    """Test RFC 9000, section 9.4; a late ACK of the old path has no effect."""
    p = two_paths(RING=256).parameters[0]
    s = np.zeros(migration.scratch_words(0, 256), np.int64)
    migration.prepare(p, s, s, p[RowP.LIMIT], 0, 0, migration.WORDS)
    before = s.copy()
    s[[Word.PHASE, Word.NEXT_NUMBER, Word.NEXT_CHUNK, Word.IN_FLIGHT]] = 2, 3, 3, 2 * DATAGRAM
    s[[Word.CWND, Word.SSTHRESH, Word.SMOOTHED_RTT, Word.PTO_COUNT]] = 99 * DATAGRAM, 50 * DATAGRAM, MS, 4
    for k, fate in enumerate((Fate.FLYING, Fate.ACKED, Fate.FLYING)):
        s[packet_at(p, s, k) + Packet.CHUNK], s[packet_at(p, s, k) + Packet.FATE] = k, fate
        s[chunk_at(p, s, k) + Chunk.FLAGS] = int(fate == Fate.ACKED)
    migration._migrate(p, s)
    assert list(s[s[Word.LOST] + np.arange(s[Word.LOST_END])]) == [0, 2]
    kept = Word.PHASE, Word.NEXT_NUMBER, Word.NEXT_CHUNK, Word.OLDEST, Word.LOST_END
    changed = {word for word in range(state.STATE_SIZE) if s[word] != before[word]}
    assert changed == set(kept) and s[Own.PATH] == 1


# Scenarios.


def _model_of(scenario: Scenario) -> str:
    return str(scenario.network.address(scenario, fluid=False).name)


def described(second: int = 1, hop: Any = None, **transport: Any) -> dict[str, Any]:
    """Return a scenario with one or two paths."""
    hops = [{"rate": "5 Mbit/s", "delay": "20 ms", **(hop or {})}]
    path = {"protocol": "quic", **transport}
    return {"duration": "9 s", "replications": 2, "transport": path, "paths": [{"hops": hops}] * (1 + second)}


def test_fields_arrive_in_the_kernel() -> None:
    from netcarlo.simulation.launches import Job

    scenario = Scenario.check(described(migrate_after=3))
    assert _model_of(scenario) == "quic_migration"
    assert Job(scenario, 0, 1).part().rows.parameters[0, MigrationP.MIGRATE_AFTER] == 3
    assert _model_of(Scenario.check(described(0))) == "quic"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (
            described(hop={"jitter": {"uniform": ["0 ms", "1 ms"]}}),
            "jitter of a hop is not supported with quic over two paths; rem",
        ),
        (described(late="100 ms"), "transport.late is not supported with quic over two paths; remove it"),
        (described(migrate_after=0), "migrate_after = 0 is "),
    ],
)
def test_what_two_paths_do_not_support(data: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Scenario.check(data)
