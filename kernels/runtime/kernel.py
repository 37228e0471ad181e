"""The kernel of a model for CUDA, whichever compiler makes PTX of it: one row per thread."""

from collections.abc import Callable
from typing import Any


def make_kernel(model: Any, step: Callable[..., Any], cuda: Any) -> Callable[..., None]:
    """The kernel as a plain function.  `step` compiles what it calls; `cuda` is the module with `grid`."""
    flow = model.make(step)

    def kernel(
        parameters: Any, constants: Any, first: Any, second: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> None:  # fmt: skip
        i = cuda.grid(1)
        if i < out.shape[0]:
            flow(
                parameters[i], constants[i], first[i], second[i], losses, scratch[i], memory[i], out[i], trace
            )  # fmt: skip

    return kernel
