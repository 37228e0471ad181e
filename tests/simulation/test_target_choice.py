"""`--target auto` selects the target that needs less time, compilation included."""

import warnings

import pytest

from netcarlo.errors import InputError
from netcarlo.estimation.estimate import estimate
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import device, modules
from netcarlo.planning import plan
from netcarlo.scenario import Scenario, scenario_of
from netcarlo.schema.notes import Note
from netcarlo.simulation.target_choice import Forecast, forecast
from netcarlo.simulation.targets import resolve_target

CUBIC = {"protocol": "linux", "congestion_control": "cubic"}


def scenario(transport: object = "newreno", duration: str = "100 s", rate: str = "100 Mbit/s") -> Scenario:
    hops = [{"rate": rate, "delay": "10 ms", "loss": "1 %"}]
    protocol = {"protocol": transport} if isinstance(transport, str) else transport
    return scenario_of({"duration": duration, "transport": protocol, "hops": hops})


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Simulate a machine with a GPU; return the set of targets whose caches have all models:

    `cpu`, `cuda`.
    """
    caches = {"cpu", "cuda"}
    monkeypatch.setattr(device, "devices", lambda: [device.Device("A", "9.0", 2**36)])
    monkeypatch.setattr(compilers, "on_disk", lambda model: "cpu" in caches)
    monkeypatch.setattr(modules, "on_disk", lambda model: "cuda" in caches)
    return caches


def chosen(work: list[tuple[Scenario, float]], threads: int = 4) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Note)
        return resolve_target("auto", work, threads=threads)


def test_a_small_run_is_for_the_processor_and_a_large_one_for_the_gpu(gpu: set[str]) -> None:
    assert chosen([(scenario(), 100)]) == "cpu"
    assert chosen([(scenario(), 100_000)]) == "cuda"
    assert chosen([(scenario(), 100_000)], threads=1000) == "cpu"


def test_compilation_counts_where_it_is_needed(gpu: set[str]) -> None:
    work = [(scenario(), 20_000.0)]
    assert chosen(work) == "cuda"
    gpu.discard("cuda")
    assert chosen(work) == "cpu"
    assert forecast(work, 4).compile_cuda_s > 0
    gpu.discard("cpu")
    assert forecast(work, 4).cpu_s > forecast(work, 4).compile_cuda_s / scenario().network.speed.assembly


def test_launches_that_wait_for_each_other_are_for_the_processor(gpu: set[str]) -> None:
    work = [(scenario(), 1000.0)] * 100
    assert forecast(work, 4).target == forecast([(scenario(), 100_000.0)], 4).target == "cuda"
    assert forecast(work, 4, launches=1000).target == "cpu"


def test_a_plan_beside_a_gpu_runs_on_the_processor(gpu: set[str]) -> None:
    hops = [{"rate": "1 Mbit/s", "delay": "10 ms", "loss": "1 %"}]
    asked = {
        "scenario": {"duration": "1 s", "transport": {"protocol": "newreno"}, "hops": hops},
        "quantity": {"name": "rate", "field": "hops.0.rate", "values": ["1 Mbit/s", "2 Mbit/s"]},
        "find": "smallest",
        "requirements": {"it": {"goal": "goodput_bps >= 1 bit/s", "probability": "50 %"}},
    }
    with pytest.warns(Note, match="runs on the processor"):
        assert plan(asked).provenance["target"] == "cpu"


def test_models_are_compiled_once(gpu: set[str]) -> None:
    gpu.clear()
    one, two = (forecast([(scenario(), 1.0)] * n, 1) for n in (1, 2))
    assert one.compile_cuda_s == two.compile_cuda_s


def test_today_s_linux_is_slower_on_a_gpu_than_on_sixteen_cores(gpu: set[str]) -> None:
    assert chosen([(scenario(CUBIC), 100_000)], threads=16) == "cpu"


def test_formulae_need_no_target(gpu: set[str]) -> None:
    cheap = scenario().with_values({"fidelity": "formula"})
    assert forecast([(cheap, 1e6)], 1) == Forecast(0.0, 0.0, 0.0) and chosen([(cheap, 1e6)]) == "cpu"


def test_a_note_states_the_choice_and_its_reason(gpu: set[str]) -> None:
    with pytest.warns(Note, match=r"processor: the processor needs less than 0.1 s, the GPU about"):
        resolve_target("auto", [(scenario(), 1)])
    assert resolve_target("auto") == resolve_target("cuda", [(scenario(), 1)]) == "cuda"
    slow = Forecast(40.0, 12.0, 9.0).reason
    assert slow == (
        "runs on the GPU: it needs about 12 s, 9 s of which to compile for it; the processor needs about "
        "40 s (--target cpu selects it)"
    )


def test_without_a_gpu_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "devices", list)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Note)
        assert resolve_target("auto", [(scenario(), 1e9)]) == "cpu"
    with pytest.raises(InputError, match="needs a CUDA device"):
        resolve_target("cuda")


def test_estimate_runs_on_the_processor_beside_a_gpu(gpu: set[str]) -> None:
    """A run of a few packets would take longer on a GPU."""
    with pytest.warns(Note, match="runs on the processor"):
        found = estimate(scenario(duration="1 s", rate="1 Mbit/s"), replications=2)
    assert found.provenance["target"] == "cpu"
