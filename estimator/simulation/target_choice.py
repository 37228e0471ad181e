"""Choice between the processor cores and a GPU by the forecast time, compilation included.

Work that is equal for both, such as drawing rows and naming outcomes, is left out.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from netcarlo.scenario import Scenario
from netcarlo.simulation import workload
from netcarlo.simulation.launches import model_of

START_S = 2.0
"""Time until the first launch of a process on a GPU [s]."""

AT_ONCE = 70_000
"""Rows that a large GPU simulates at the same time; fewer take as long (docs/results/gpu-h200.md)."""

LINUX_CORE, LINUX_GPU = 0.4, 0.04
"""Part of these speeds that today's Linux reaches (docs/results/scaling.md, gpu-h200.md)."""


class Forecast(NamedTuple):
    """Forecast times of a run by target [s]."""

    cpu_s: float
    cuda_s: float
    compile_cuda_s: float
    """Part of `cuda_s` that is translation and assembly."""

    @property
    def target(self) -> str:
        """The faster target."""
        return "cuda" if self.cuda_s < self.cpu_s else "cpu"

    @property
    def reason(self) -> str:
        """Sentence that states the choice and its reason."""
        gpu = f"about {self.cuda_s:.2g} s"
        if self.compile_cuda_s >= 0.5:
            gpu += f", {self.compile_cuda_s:.2g} s of which to compile for it"
        time = f"about {self.cpu_s:.2g} s" if self.cpu_s >= 0.1 else "less than 0.1 s"
        cpu = f"the processor needs {time}"
        if self.target == "cuda":
            return f"runs on the GPU: it needs {gpu}; {cpu} (--target cpu selects it)"
        return f"runs on the processor: {cpu}, the GPU {gpu} (--target cuda selects it)"


def forecast(work: Iterable[tuple[Scenario, float]], threads: int, *, launches: float = 1) -> Forecast:
    """Return the forecast for numbers of replications of scenarios on `threads` cores or one GPU.

    Rows of a model share a launch. `launches` is the number of launches that wait for each other, because the
    results of one decide what the next simulates.
    """
    total, longest, assembly = dict[Any, float](), dict[Any, float](), dict[Any, float]()
    cpu_s = 0.0
    for scenario, replications in work:
        if scenario.fidelity == "formula" or not replications:
            continue
        model, speed = model_of(scenario), scenario.network.speed
        linux = "linux" in (model.address.sender, model.address.control)
        packets, assembly[model] = workload.forecast(scenario, 1).packets, speed.assembly
        cpu_s += packets * replications / (threads * speed.core * (LINUX_CORE if linux else 1.0))
        row_s = packets / (speed.gpu * (LINUX_GPU if linux else 1.0))
        total[model] = total.get(model, 0.0) + row_s * replications
        longest[model] = max(longest.get(model, 0.0), row_s)
    launch_s = sum(max(total[model], launches * longest[model] * AT_ONCE) for model in total)
    cpu, cuda = compile_s(assembly)
    return Forecast(cpu_s + cpu, START_S + launch_s + cuda if total else 0.0, cuda)


def compile_s(models: Mapping[Any, float]) -> tuple[float, float]:
    """Return the time to compile the models that are not in the cache, for the processor and for the GPU.

    The values are `Speed.assembly` of the models.
    """
    from netcarlo.kernels.runtime import compile as compilers
    from netcarlo.kernels.runtime import compile_speed, modules

    cpu = cuda = 0.0
    for model, assembly in models.items():
        seconds = model.compile_s * compile_speed.factor()
        cpu += 0.0 if compilers.on_disk(model) else seconds
        cuda += 0.0 if modules.on_disk(model) else seconds * assembly
    return cpu, cuda
