"""Extended stores: they equal the store that the new file would have made at once, and nothing runs twice."""

import hashlib
import json
import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from netcarlo import InputError
from netcarlo.cli.main import app
from netcarlo.simulation.executors import Workers
from netcarlo.simulation.outcomes import MEANING
from netcarlo.sweeps import api
from netcarlo.sweeps.execution import chunk as chunks
from netcarlo.sweeps.execution.adaptive import run
from netcarlo.sweeps.execution.rerun import rerun
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store import files as disk
from netcarlo.sweeps.store import growth
from netcarlo.sweeps.store.query import query
from netcarlo.sweeps.store.store import Store
from tests.sweeps.examples import DRAWN, GRID, HOP, same, sweep
from tests.sweeps.test_store import memory

LOSSES = [0, "0.5 %", "2 %"]
PROTOCOLS = ["newreno", "vegas", "sack", "reno"]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Counter[Any]:
    """Replace the kernel: every outcome is a hash of the cell and the number of the replication.

    Returns how often each was requested, by the key that the cell would have with one replication, and
    its protocol.
    """
    asked: Counter[Any] = Counter()
    lock = threading.Lock()

    @lru_cache
    def single(definition: str) -> Sweep:
        data = json.loads(definition)
        return Sweep.from_definition(data | {"scenario": data["scenario"] | {"replications": 1}})

    def replicate(self: Any, batch: Any, chosen: Any, first: int, n: int) -> Any:
        keys = np.array(identity.keys(single(json.dumps(self.sweep.definition)), batch), object)[chosen]
        protocol = self.sweep.variants[batch.variant].transport.protocol
        values: dict[str, Any] = {name: np.zeros((len(chosen), n)) for name in self.recorded}
        for row, key in enumerate(keys):
            for k in range(n):
                with lock:
                    asked[key, protocol, first + k] += 1
                seed = hashlib.sha256(f"{key} {first + k}".encode()).digest()[:8]
                random = np.random.default_rng(int.from_bytes(seed, "little")).lognormal(size=len(MEANING))
                for name, value in zip(MEANING, random, strict=True):
                    if name in values:
                        values[name][row, k] = value if value < 3 else np.nan
        self.networks += len(chosen) * n
        return chunks._Part(batch.at[chosen], values)

    monkeypatch.setattr(chunks._ChunkRun, "_replicate", replicate)
    return asked


def simulate(space: Sweep, store: Store, **options: Any) -> Any:
    with ThreadPoolExecutor(2) as pool:
        return run(space, store, executor=pool, slots=lambda: 2, **options)


def made(space: Sweep, url: Any = "") -> Store:
    """Return a store of all cells."""
    store = Store.create(url or memory(), space.manifest())
    simulate(space, store, chunk=1000)
    return store


def grown(store: Store, space: Sweep) -> Store:
    """Return the store, read from disk, as that of a larger sweep whose new cells have not run."""
    growth.keep(growth.grown(Store.open(store.url), space))
    return Store.open(store.url)


def alike(one: Store, other: Store) -> None:
    """Assert that two stores have the same content to the bit, by every query."""
    assert one.digest() == other.digest()
    a, b = (list(store.tables()) for store in (one, other))
    assert [cell for part in a for cell in part["cell"].to_pylist()] == list(range(one.sweep["n_cells"]))
    assert one.frame().equals(other.frame()) and a[0].schema == b[0].schema
    sql = "SELECT * FROM cells ORDER BY cell"
    assert query(one, sql).equals(query(other, sql))
    if one.sweep["keep_replications"]:
        assert one.replications().equals(other.replications())
        sql = "SELECT * FROM replications ORDER BY cell, replication"
        assert query(one, sql).equals(query(other, sql))


# ---------------------------------------------------------------- any growth


@st.composite
def histories(draw: Any) -> list[dict[str, Any]]:
    """Generate two or three sweeps, each with all cells of the previous one."""
    steps = draw(st.integers(2, 3))
    kept = draw(st.booleans())
    protocols = sorted(draw(st.lists(st.integers(1, 3), unique=True, min_size=steps, max_size=3)))
    losses = draw(st.permutations(range(3)))
    replications = sorted(draw(st.lists(st.integers(1, 4), min_size=steps, max_size=steps)))
    method = draw(st.sampled_from(["plain", "latin", "sobol", "saltelli"]))
    draws = sorted(draw(st.lists(st.integers(1, 3), min_size=steps, max_size=steps)))
    size = draw(st.integers(2, 3))
    loss_field = draw(st.sampled_from(["hops.0.loss", ["hops.0.loss", "hops.1.loss"]]))
    first_axis = draw(st.booleans())
    hop = {**HOP, "rate": {"uniform": ["1 Mbit/s", "2 Mbit/s"]}, "delay": {"uniform": ["1 ms", "9 ms"]}}
    found = []
    for step in range(steps):
        some = sorted(losses[: step + 1 + draw(st.integers(0, 1))] if step else losses[:1])
        some = sorted({*some, *(found[-1]["losses"] if found else [])})
        names = sorted(protocols[: step + 1]) if draw(st.booleans()) or not step else found[-1]["names"]
        names = sorted({*names, *(found[-1]["names"] if found else [])})
        axes = {
            "loss": {"field": loss_field, "values": [LOSSES[i] for i in some]},
            "protocol": {
                "field": "transport.protocol",
                "values": [PROTOCOLS[0], *(PROTOCOLS[i] for i in names)],
            },
        }
        blocks = 2 * draws[step]
        count = {"count": blocks * size, "method": method, "blocks": blocks if method != "plain" else None}
        data = {
            "name": "growing",
            "scenario": {
                "duration": "3 s", "transport": {"protocol": "reno", "window": 8}, "hops": [hop, HOP],
                "replications": replications[step] if kept else replications[0],
            },
            "axes": axes if first_axis else dict(reversed(axes.items())),
            "draw": count,
            "outcomes": ["goodput_bps", "timeouts"],
            "goals": {"enough": "goodput_bps >= 60 % of baseline", "fast": "goodput_bps >= 1.5 bit/s"},
            **({"keep": "replications"} if kept else {}),
        }  # fmt: skip
        found.append({"losses": some, "names": names, "data": data})
    return [each["data"] for each in found]


@pytest.mark.full
@given(histories(), st.data())
@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_store_grows_into_the_one_made_at_once(
    launched: Counter[Any], history: list[dict[str, Any]], data: st.DataObject
) -> None:
    launched.clear()
    store, before = None, {}
    for number, each in enumerate(history):
        space = sweep(each)
        store = Store.create(memory(), space.manifest()) if store is None else grown(store, space)
        every = np.arange(space.n_cells)
        left = data.draw(st.integers(0, space.n_cells // space.group)) if number < len(history) - 1 else 0
        some = every[left * space.group :]  # whole groups: no cell is only a baseline
        simulate(space, store, cells=some, chunk=data.draw(st.sampled_from([8, 1000])))
        # the same sweep continues and does not grow
        before[space.manifest()["sweep"]["digest"]] = (int(store.scan().done.sum()), store.digest())
    assert store is not None
    assert store.scan().done.all() and not store.scan().damaged
    if store.sweep["keep_replications"]:
        assert set(launched.values()) == {1}
    else:  # the baseline is simulated again, because its replications are not stored
        assert {protocol for (_, protocol, _), n in launched.items() if n > 1} <= {"newreno"}
    was = [(each["cells"], each["digest"], each["intact"]) for each in growth.history(store)]
    assert was == [(*each, True) for each in list(before.values())[-2::-1]]
    alike(store, made(space))


@pytest.mark.full
def test_without_replications_only_what_is_compared_with_runs_again(launched: Any) -> None:
    axis = {"field": "transport.protocol", "values": ["newreno", "vegas"]}
    small = sweep(DRAWN, axes={"protocol": axis})
    large = sweep(DRAWN, axes={"protocol": {**axis, "values": [*axis["values"], "sack"]}})
    more = sweep(DRAWN, axes={"protocol": axis}, draw={"count": 12, "blocks": 3})
    store, other = made(small), made(small)
    launched.clear()
    simulate(large, grown(store, large))
    assert sum(launched.values()) == 2 * 8 * 4  # the new protocol and the baseline, in 8 networks
    launched.clear()
    simulate(more, grown(other, more))
    assert sum(launched.values()) == 2 * 4 * 4  # 4 networks, and no old one
    simulate(more, Store.open(other.url))
    assert sum(launched.values()) == 2 * 4 * 4


# ---------------------------------------------------------------- with real kernels


@pytest.mark.full
def test_it_is_so_with_kernels_and_processes(two_processes: Workers, tmp_path: Path) -> None:
    losses = {"field": "hops.1.loss", "values": ["2 %"]}
    keeping = {**DRAWN, "keep": "replications", "draw": {"count": 4, "blocks": 2}}
    small = sweep({**keeping, "axes": {**DRAWN["axes"], "loss": losses}}, replications=2)
    axes = {**DRAWN["axes"], "loss": {**losses, "values": ["1 %", "2 %"]}}
    large = sweep({**keeping, "axes": axes, "draw": {"count": 6, "blocks": 3}}, replications=4)
    store = made(small, tmp_path / "store")
    row = store.frame().iloc[-1]
    store = grown(store, large)
    summary = run(large, store, executor=two_processes.executor, slots=two_processes.slots, chunk=5)
    assert summary.networks == (36 * 4) - (12 * 2)
    alike(store, made(large, tmp_path / "whole"))
    assert store.frame(["cell"]).iloc[row["cell"]]["cell"] == row["cell"]
    moved = store.frame().query(f"draw == {row['draw']} and protocol == '{row['protocol']}' and loss == 0.02")
    assert moved["cell"].item() != row["cell"]
    assert rerun(store, moved["key"].item()).equal
    assert rerun(store, moved["key"].item(), replication=3).equal


def test_from_python(tmp_path: Path) -> None:
    small = {**GRID, "axes": {"loss": {"field": "hops.0.loss", "values": [0, "2 %"]}}, "derive": {}}
    large = {**small, "axes": {"loss": {"field": "hops.0.loss", "values": [0, "1 %", "2 %"]}}}
    api.sweep(small, out=tmp_path / "store", grow=True)  # there is none yet
    with pytest.raises(InputError, match="use --grow to add draws"):
        api.sweep(large, out=tmp_path / "store")
    computed: list[int] = []
    found = api.sweep(
        large, out=tmp_path / "store", grow=True, progress=lambda each: computed.append(each.done)
    )
    assert max(computed) == 1
    found.attrs.clear()
    whole = api.sweep(large)
    whole.attrs.clear()
    assert found.identical(whole)


# ---------------------------------------------------------------- faults


def test_the_new_manifest_comes_whole_or_not_at_all(
    launched: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (sweep(DRAWN, draw={"count": 4 * k, "blocks": 2 * k}) for k in (1, 2))
    store = made(small, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}

    def fail(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, "replace", fail)
        with pytest.raises(InputError, match="free space and run the same command again"):
            grown(store, large)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == before
    view = growth.grown(store, large)
    growth.keep(growth.grown(store, sweep(DRAWN, draw={"count": 6, "blocks": 3})))  # by another client
    with pytest.raises(InputError, match="another client has just changed it; run the same command again"):
        growth.keep(view)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert {path for path in before if before[path] != after[path]} == {tmp_path / "manifest.json"}


def test_a_late_client_of_the_small_sweep_is_welcome(launched: Any) -> None:
    small, large = (sweep(DRAWN, draw={"count": 4 * k, "blocks": 2 * k}) for k in (1, 2))
    late = Store.create(memory(), small.manifest())
    simulate(small, late, cells=np.arange(6))
    store = grown(late, large)
    simulate(small, late)
    assert store.scan().done.sum() == 12 and not store.scan().damaged
    (was,) = growth.history(store)
    assert (was["cells"], was["intact"]) == (6, False)  # it has grown


@pytest.mark.full
def test_a_damaged_old_chunk_is_seen_and_runs_again(launched: Any, tmp_path: Path) -> None:
    small, large = (sweep(DRAWN, draw={"count": 4 * k, "blocks": 2 * k}) for k in (1, 2))
    store = Store.create(tmp_path, small.manifest())
    simulate(small, store, chunk=3)
    store = grown(store, large)
    simulate(large, store)
    victim = min((tmp_path / "chunks").iterdir())
    victim.write_bytes(victim.read_bytes()[:-1])
    (was,) = growth.history(store)
    assert not was["intact"]
    summary = simulate(large, store)
    assert summary.done == 3
    alike(store, made(large))


def test_a_manifest_whose_past_does_not_fit_is_damaged(launched: Any, tmp_path: Path) -> None:
    small, large = (sweep(DRAWN, draw={"count": 4 * k, "blocks": 2 * k}) for k in (1, 2))
    grown(made(small, tmp_path), large)
    data = json.loads((tmp_path / "manifest.json").read_text())
    assert data["format"] == 2
    past = data["grown_from"]["manifest"]["sweep"]
    for name, value, words in (
        ("axes", [{**past["axes"][0], "values": ["sack", "vegas", "newreno"]}], "in another order"),
        ("axes", [{**past["axes"][0], "name": "other"}], "grown_from"),
        ("replications", 9, "is not part of the sweep"),
        ("n_cells", 1, "n_cells is 1"),
    ):
        odd = json.loads(json.dumps(data))
        odd["grown_from"]["manifest"]["sweep"][name] = value
        (tmp_path / "manifest.json").write_text(json.dumps(odd))
        with pytest.raises(InputError, match=f"manifest.json is damaged .*{words}"):
            Store.open(tmp_path)


def drawing(**draw: Any) -> dict[str, Any]:
    return {"draw": {"count": 8, "blocks": 2, **draw}}


def protocols(*names: str, **other: Any) -> dict[str, Any]:
    return {"axes": {"protocol": {"field": "transport.protocol", "values": list(names)}, **other}}


SCENARIO = DRAWN["scenario"]
REFUSED = [
    ({}, {"replications": 9}, r"9, but the store has only statistics of 4 .*keep: replications"),
    ({}, {"replications": 2}, "replications = 2 is too small; expected 4 or more"),
    ({"keep": "replications"}, {"replications": 3}, "replications = 3 is too small; expected 4"),
    ({"precision": "5 %"}, {"precision": "5 %", "replications": 9}, "with precision the number of repl"),
    ({}, {"keep": "replications"}, "the sweeps differ in keep; only draws, values of axes and replications"),
    ({}, {"seed": 2}, "the sweeps differ in scenario.seed"),
    ({}, {"scenario": {**SCENARIO, "duration": "4 s"}}, "the sweeps differ in scenario.duration"),
    ({}, {"outcomes": ["goodput_bps"]}, "the sweeps differ in outcomes"),
    ({}, {"name": "else", "seed": 2}, "it is a store of the sweep 'drawn', not 'else'"),
    ({}, drawing(count=16), r"larger blocks .*; write draw: \{count: 16, method: sobol, blocks: 4\}"),
    ({}, drawing(count=9), r"write draw: \{count: 12, method: sobol, blocks: 3\}"),
    ({}, drawing(method="latin"), "draw.method = latin, but the store has sobol"),
    ({}, drawing(count=4, blocks=1 + 1), "draw.count = 4 is too small; expected 8 or more"),
    ({}, drawing(blocks=4), r"draw: \{count: 8, method: sobol, blocks: 2\}"),
    ({}, protocols("newreno", "vegas"), "axes.protocol lacks sack of the store; keep all"),
    ({}, protocols("newreno", "sack", "vegas"), "axes.protocol has the values in another order"),
    ({}, protocols("reno", "newreno", "vegas", "sack"), "begins with reno; keep the baseline newreno"),
    ({}, protocols("newreno", "vegas", "sack", loss={"field": "hops.1.loss", "values": [0]}), "its axes are"),
    ({"axes": {"hops.1.loss": [0]}}, {"axes": {"hops.1.loss": ["1 %"]}}, "hops.1.loss lacks 0 of the store"),
    ({"axes": {"a": [1]}, "derive": {"hops.1.queue": "max(2, a)"}},
     {"axes": {"a": ["1 ms", "2 ms"]}, "derive": {"hops.1.queue": "max(2, a)"}}, "values of another kind"),
    (protocols("newreno"), protocols("newreno", "sack"), "it compares nothing, not protocol; undo"),
    ({"draw": None, "axes": {"hops.1.loss": [0]}}, drawing(), "draw was added"),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(("before", "after", "words"), REFUSED)
def test_what_is_no_growth_is_refused_on_one_line(
    launched: Any, before: dict[str, Any], after: dict[str, Any], words: str
) -> None:
    data = {key: value for key, value in {**DRAWN, **before}.items() if value is not None}
    store = Store.create(memory(), sweep(data).manifest())
    with pytest.raises(InputError, match=rf"cannot grow: .*{words}") as refused:
        growth.grown(store, sweep({**DRAWN, **before, **after}))
    assert "\n" not in str(refused.value)


def test_cheap_models_and_other_models_are_refused(launched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    auto = {**GRID, "fidelity": "auto", "axes": {"hops.0.loss": [0]}, "derive": {}}
    store = Store.create(memory(), sweep(auto).manifest())
    with pytest.raises(InputError, match=r"cannot grow: with fidelity: auto .* depend on all cells"):
        growth.grown(store, sweep(auto, axes={"hops.0.loss": [0, "1 %"]}))
    store = made(sweep(DRAWN))
    other = sweep(DRAWN, draw={"count": 12, "blocks": 3})
    monkeypatch.setattr("netcarlo.sweeps.space.space.model_version", lambda: "other")
    with pytest.raises(InputError, match=r"cannot grow: it was written by model version .*, this is other"):
        growth.grown(store, other)


def test_cells_that_would_be_others_are_seen_by_their_keys(launched: Any) -> None:
    cases = {"A": {"transport.window": 8}, "B": {"transport.window": 16}}
    small = sweep(DRAWN, axes={"setup": {"cases": cases}})
    large = sweep(
        DRAWN,
        axes={"setup": {"cases": {**cases, "B": {"transport.window": 9}, "C": {"transport.window": 32}}}},
    )
    store = made(small)
    with pytest.raises(InputError, match="cannot grow: its cell 1 would change; change only draws"):
        growth.grown(store, large)


def test_axes_in_another_order_are_another_sweep() -> None:
    axes = {"hops.0.loss": [0, "1 %", "2 %"], "hops.1.loss": [0, "3 %"]}
    plain = {**GRID, "derive": {}}
    one, other = (sweep(plain, axes=dict(order)) for order in (axes.items(), reversed(axes.items())))
    store = Store.create(memory(), one.manifest())
    with pytest.raises(InputError, match=r"\(its axes are in another order\); name another folder"):
        Store.create(store.url, other.manifest())


# ---------------------------------------------------------------- the command


@pytest.mark.full
def test_the_command(launched: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """\
name: small
scenario:
  duration: 2 s
  transport: {protocol: newreno, window: 10}
  hops: [{rate: {uniform: [1 Mbit/s, 2 Mbit/s]}, delay: 10 ms, loss: 1 %}]
axes: {transport.protocol: [newreno, vegas]}
draw: {count: 8, blocks: 4}
keep: replications
replications: 2
"""
    (tmp_path / "small.yaml").write_text(text)

    def command(*words: str) -> Any:
        return CliRunner().invoke(app, list(words))

    assert command("sweep", "small.yaml", "--out", "store").exit_code == 0
    status = json.loads(command("status", "store", "--json").stdout)
    assert "grown_from" not in status
    text = text.replace("{count: 8, blocks: 4}", "{count: 10, blocks: 5}").replace("ions: 2", "ions: 5")
    (tmp_path / "small.yaml").write_text(text)
    refused = command("sweep", "small.yaml", "--out", "store")
    assert refused.exit_code == 2
    assert "(they differ in draw, scenario.replications); use --grow to add draws, " in refused.stderr
    manifest = (tmp_path / "store" / "manifest.json").read_bytes()
    asked = command("sweep", "small.yaml", "--out", "store", "--grow", "--dry-run")
    assert asked.exit_code == 0, asked.output
    assert "20 cells to run of 20; nothing was written" in asked.stdout
    assert "begun     32 replications of them are stored" in asked.stdout
    assert "networks  about 68" in asked.stdout
    assert (tmp_path / "store" / "manifest.json").read_bytes() == manifest
    launched.clear()
    for grow in (["--grow"], [], ["--grow"]):
        done = command("sweep", "small.yaml", "--out", "store", *grow)
        assert done.exit_code == 0, done.output
        assert sum(launched.values()) == 100 - 32
    told = command("status", "store").stdout
    assert "20 of 20 cells done" in told
    assert f"grown from 16 cells; digest {status['digest']}, unchanged" in told
    (was,) = json.loads(command("status", "store", "--json").stdout)["grown_from"]
    assert was == {"cells": 16, "digest": status["digest"], "intact": True}
    assert command("sweep", "small.yaml", "--out", "whole").exit_code == 0
    for store in ("store", "whole"):
        assert command("export", store, "--to", "csv", "--out", f"{store}.csv").exit_code == 0
    assert (tmp_path / "store.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert same(*(next(Store.open(name).tables()) for name in ("store", "whole")))
