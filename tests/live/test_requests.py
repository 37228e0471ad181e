"""Requests to a live page: which ones are answered, how many at a time, and for how long."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.live import guard, server
from netcarlo.live.limiter import BusyError, RequestLimiter, client_gone, disconnection_check
from netcarlo.live.lru import ALWAYS_KEPT, LruCache
from netcarlo.live.scheduler import AbandonedError, Scheduler

HEAVY = """\
name: heavy
duration: 60 s
replications: 400
transport: {protocol: newreno, window: 64}
hops: [{rate: 50 Mbit/s, delay: 10 ms, queue: 100, loss: 0.1 %}]
"""


@pytest.fixture(scope="module")
def heavy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a scenario whose report takes a second or more."""
    file = tmp_path_factory.mktemp("live") / "heavy.yaml"
    file.write_text(HEAVY)
    return file


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """Return a server's socket at a free port of the loopback address."""
    found = server.bound("127.0.0.1", 0)
    yield found
    found.close()


def ask(port: int, path: str, *, host: str = "127.0.0.1", **headers: str) -> tuple[int, str]:
    """Return status and text of a GET request."""
    connection = http.client.HTTPConnection(host, port, timeout=120)
    connection.request("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.read().decode("utf-8", "replace")


@pytest.mark.full
def test_two_reports_at_once_both_come(heavy: Path, listening: socket.socket) -> None:
    """Two requests for reports of different states do not overwrite each other's work."""
    server.begin(server.page_of(heavy, {}), listening)
    port, found = listening.getsockname()[1], {}

    def get(seed: int) -> None:
        found[seed] = ask(port, f"/report.html?seed={seed}")[0]

    threads = [threading.Thread(target=get, args=(seed,)) for seed in (3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert found == {3: 200, 4: 200}


@pytest.mark.full
def test_work_ends_with_its_client(
    heavy: Path, listening: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    desks: list[Scheduler] = []
    begin = Scheduler.begin
    monkeypatch.setattr(Scheduler, "begin", lambda self: (desks.append(self), begin(self))[1])
    server.begin(server.page_of(heavy, {}), listening)
    client = socket.create_connection(listening.getsockname())
    query = b"GET /report.html?seed=5&replications=100000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    client.sendall(query)

    def waits() -> bool:
        return any(visitor.startswith("request") for visitor in desks[0]._visitors)

    assert _within(20.0, waits)
    client.close()
    assert _within(20.0, lambda: not waits())


def _within(limit_s: float, asked: Callable[[], bool]) -> bool:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if asked():
            return True
        time.sleep(0.02)
    return asked()


def test_a_client_that_leaves_is_noticed() -> None:
    here, there = socket.socketpair()
    with here:
        is_gone = client_gone({"werkzeug.socket": here})
        assert not is_gone()
        there.sendall(b"x")
        assert not is_gone()  # further data do not end the connection
        here.recv(1)
        there.close()
        assert is_gone()
        with pytest.raises(AbandonedError):
            disconnection_check(is_gone)()
    assert not client_gone({})()  # another server, which cannot be queried


def test_only_some_files_are_made_at_once() -> None:
    limiter = RequestLimiter(at_once=1, waiting=1)
    with limiter.admit(lambda: False):
        left = threading.Event()
        waiting = threading.Event()
        ended: list[str] = []

        def second() -> None:
            try:
                with limiter.admit(lambda: (waiting.set(), left.is_set())[1]):
                    ended.append("turn")
            except AbandonedError:
                ended.append("gone")

        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        with pytest.raises(BusyError), limiter.admit(lambda: False):
            pass
        left.set()
        thread.join(10)
        assert ended == ["gone"]
    with limiter.admit(lambda: False):
        pass  # the slots are free again


@pytest.mark.parametrize(
    ("host", "bound", "answered"),
    [
        ("localhost:8050", "127.0.0.1", True), ("127.0.0.1:8050", "127.0.0.1", True),
        ("[::1]:8050", "::1", True), ("localhost", "::1", True), ("evil.example:8050", "127.0.0.1", False),
        ("10.0.0.7:8050", "127.0.0.1", False), ("10.0.0.7:8050", "0.0.0.0", True),
        ("evil.example", "0.0.0.0", False), (f"{socket.gethostname()}:8050", "0.0.0.0", True),
        ("", "127.0.0.1", False), ("[", "127.0.0.1", False),
    ],
)  # fmt: skip
def test_only_names_of_this_machine_are_answered(host: str, bound: str, answered: bool) -> None:
    for path in ("/", "/report.html", "/_dash-update-component"):
        assert (guard.refusal({"Host": host}, path=path, bound=bound) == "") is answered


@pytest.mark.parametrize(
    ("headers", "path", "answered"),
    [
        ({"Origin": "http://localhost:8050"}, "/_dash-update-component", True),
        ({"Origin": "http://evil.example"}, "/_dash-update-component", False),
        ({"Origin": "null"}, "/_dash-update-component", False),
        ({"Sec-Fetch-Site": "cross-site"}, "/report.html", False),  # an image of another page
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "/report.html", False),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "/", True),  # a link to the page
        ({"Sec-Fetch-Site": "same-origin"}, "/report.html", True),
        ({"Sec-Fetch-Site": "none"}, "/report.html", True),
    ],
)
def test_pages_of_other_sites_begin_nothing(headers: dict[str, str], path: str, answered: bool) -> None:
    found = guard.refusal({"Host": "localhost:8050", **headers}, path=path, bound="127.0.0.1")
    assert (found == "") is answered


def test_the_server_checks_every_address_and_every_body(lossy: Path, listening: socket.socket) -> None:
    server.begin(server.page_of(lossy, {}), listening)
    port = listening.getsockname()[1]
    for path in ("/", "/scenario.yaml", "/_dash-layout", "/none"):
        assert ask(port, path, Host="evil.example")[0] == 403
        assert ask(port, path, Origin="http://evil.example")[0] == 403
    assert ask(port, "/")[0] == 200
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", "/_dash-update-component")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(guard.MAX_BODY + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413


def test_ipv6_is_served_and_printed_in_brackets(lossy: Path) -> None:
    try:
        found = server.bound("::1", 0)
    except InputError:
        pytest.skip("no IPv6 on this machine")
    server.begin(server.page_of(lossy, {}), found)
    port = found.getsockname()[1]
    assert server.url(found) == f"http://[::1]:{port}/"
    assert ask(port, "/", host="::1")[0] == 200


@pytest.mark.parametrize("host", ["no.such.host.invalid", "1.2.3.4.5", "a" * 300, "8.8.8.8", "\udce9"])
def test_an_impossible_host_is_one_line(host: str) -> None:
    with pytest.raises(InputError, match="--host") as raised:
        server.bound(host, 0)
    assert "\n" not in str(raised.value) and "127.0.0.1" in str(raised.value)


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 60)), max_size=40))
def test_what_is_kept_has_bounds(asked: list[tuple[str, int]]) -> None:
    """The most recently used entries stay; the limit in bytes holds except for entries in use."""
    kept: LruCache[list[int]] = LruCache(lambda value: value[0], most=4, most_bytes=100)
    order: list[str] = []
    for name, size in asked:
        kept.get_or_make(name, lambda size=size: [size])  # type: ignore[misc]
        order = [*(other for other in order if other != name), name]
        assert kept.get(name) is not None
        assert len(kept) <= 4
        assert kept.bytes <= 100 or len(kept) <= ALWAYS_KEPT
        here = [other for other in order if other in kept._entries]
        assert here == order[len(order) - len(here) :]


def test_replications_are_forgotten_beyond_the_bound(lossy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netcarlo.estimation.sample import Step
    from netcarlo.live.cache import ReplicationCache
    from netcarlo.live.replications import LiveReplications
    from netcarlo.scenario import load_scenario

    known, scenario = ReplicationCache(), load_scenario(lossy)
    known._runs = LruCache(lambda runs: runs.bytes, most_bytes=200_000)
    made: list[LiveReplications] = []
    for seed in range(8):
        runs = known.runs(scenario.with_values({"seed": seed}))
        runs.extend(Step("packet", 100))
        assert runs.bytes > 10_000
        made.append(runs)
    known.runs(scenario.with_values({"seed": 7}))
    assert known._runs.bytes <= 200_000 and known.cached(scenario.with_values({"seed": 7})) is made[-1]
    assert known.cached(scenario.with_values({"seed": 0})) is None
    assert len({runs.number for runs in made}) == 8
