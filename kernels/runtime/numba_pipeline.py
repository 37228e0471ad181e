"""A shorter way through Numba for functions that only compiled functions call.

Numba makes of every function something that Python could call: it optimises it, compiles it to machine code
and links it.  Of the hundred functions of a model only the outermost is called from Python; of the others
their optimised LLVM code is all that is wanted, and some passes find nothing to do in any of them.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, PassManager
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.cpython import slicing
from numba.np import arrayobj

from netcarlo.kernels.runtime import garbage, indices, numba_cache

_ONE_AT_A_TIME = threading.RLock()
"""Held by what changes Numba for a while: a compilation that was left behind may still be under way."""

_FOR_OTHERS = {
    "WithLifting", "InlineInlinables", "FindLiterallyCalls", "LiteralUnroll", "InlineOverloads",
    "LiteralPropagationSubPipelinePass", "NopythonRewrites", "AnnotateTypes", "DumpParforDiagnostics",
}  # fmt: skip
"""Passes that find nothing in a kernel, nor in a user's congestion control (which may have closures)."""


class _Nowhere:
    """Where an environment is set that no machine code will ask for."""

    def set_env(self, name: str, env: Any) -> None:
        """Nothing."""


def _optimize(library: Any, **how: Any) -> None:
    """Run LLVM's passes on a library; loops of kernels are short, vectors take more than they give."""
    made = library._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False, **how)
    passes, *builder = made if isinstance(made, tuple) else (made,)  # without one before Numba 0.62
    passes.run(library._final_module, *builder)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code to be linked into that of callers, never compiled by itself."""

    codegen = _Nowhere()

    def _optimize_final_module(self) -> None:
        # Only roughly: whatever it is linked into is optimised with it, on each level again.
        _optimize(self, opt=self._codegen._opt_level, cost="cheap")

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No address: there is no machine code."""
        self._ensure_finalized()
        return 0


class _Whole(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code of a function that Python calls, and of all that it calls: nobody else calls those."""

    def _optimize_final_module(self) -> None:
        # LLVM may leave out arguments that are not looked at: of every array it takes six words of seven.
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = Linkage.internal
        _optimize(self, opt=self._codegen._opt_level, cost="cheap")
        _optimize(self)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]
    _name = "netcarlo_inner_lowering"
    _library = _Library

    def run_pass(self, state: Any) -> bool:
        """Numba's, into a library of ours."""
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _OuterLowering(_Lowering):
    _name = "netcarlo_outer_lowering"
    _library = _Whole


class _Passes(PassManager):  # type: ignore[misc]
    """Passes one after the other; Numba's own checks what each has left, and times it."""

    def _runPass(self, index: int, a_pass: Any, state: Any) -> None:  # noqa: N802
        a_pass.analysis = self._analysis
        a_pass.run_initialization(state)
        a_pass.run_pass(state)
        a_pass.run_finalizer(state)


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler for functions that only compiled functions call."""

    _lowering = _Lowering

    def define_pipelines(self) -> list[Any]:
        """Numba's passes but those that find nothing."""
        ours = _Passes("netcarlo")
        for a_pass, name in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            if a_pass.__name__ == NativeLowering.__name__:
                ours.add_pass(self._lowering, name)
            elif a_pass.__name__ not in _FOR_OTHERS:
                ours.add_pass(a_pass, name)
        ours.finalize()
        return [ours]


class OuterCompiler(Compiler):
    """The same for a function that Python calls."""

    _lowering = _OuterLowering


@contextmanager
def settings() -> Iterator[None]:
    """Make Numba use indices as they are, see `indices`."""
    with _ONE_AT_A_TIME, garbage.paused(), numba_cache.enabled():
        originals = arrayobj.fix_integer_index, slicing.fix_slice
        arrayobj.fix_integer_index, slicing.fix_slice = indices.cast, indices.clip
        try:
            yield
        finally:
            arrayobj.fix_integer_index, slicing.fix_slice = originals
