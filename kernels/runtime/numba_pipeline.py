"""Shorter Numba pipeline for functions that only compiled functions call.

Numba prepares every function to be called from Python: it is optimised, compiled to machine code and linked.
Of the hundred functions of a model only the outermost is called from Python. Of the others only the optimised
LLVM code is needed, and some passes never find anything to do.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, PassManager
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import InlineClosureLikes
from numba.cpython import slicing
from numba.np import arrayobj

from netcarlo.kernels.runtime import garbage, indices, numba_cache, numba_shortcuts

_ONE_AT_A_TIME = threading.RLock()
"""Lock held while Numba is modified; an abandoned compilation may still be running."""

_FOR_OTHERS = {
    "WithLifting", "InlineInlinables", "FindLiterallyCalls", "LiteralUnroll", "InlineOverloads",
    "LiteralPropagationSubPipelinePass", "NopythonRewrites", "AnnotateTypes", "DumpParforDiagnostics",
}  # fmt: skip
"""Passes that never apply to a kernel, nor to a user's congestion control (which may have closures)."""


class _Nowhere:
    """Code generator that ignores the environment, which no machine code reads."""

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing."""


def _optimize(library: Any, **how: Any) -> None:
    """Run LLVM's passes on a library, without vectorisation: loops of kernels are too short for it."""
    made = library._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False, **how)
    passes, *builder = made if isinstance(made, tuple) else (made,)  # Numba before 0.62 returns no builder
    passes.run(library._final_module, *builder)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code to be linked into that of callers, never compiled by itself."""

    codegen = _Nowhere()

    def _optimize_final_module(self) -> None:
        # Roughly: the code is optimised again with each caller into which it is linked.
        _optimize(self, opt=self._codegen._opt_level, cost="cheap")

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.linkage == Linkage.external and not function.is_declaration:
                function.linkage = Linkage.linkonce_odr
        self._shared_module, self._finalized = self._final_module, True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0


class _Whole(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code of a function that Python calls, and of everything that it calls."""

    def _optimize_final_module(self) -> None:
        # LLVM may then remove unused arguments, which are six of the seven words of every array.
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
        """Run Numba's pass with a library of our own."""
        state.library = self._library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _OuterLowering(_Lowering):
    _name = "netcarlo_outer_lowering"
    _library = _Whole


@register_pass(mutates_CFG=True, analysis_only=False)
class _Closures(InlineClosureLikes):  # type: ignore[misc]
    _name = "netcarlo_closures"

    def run_pass(self, state: Any) -> bool:
        """Run Numba's pass if the function contains another one."""
        contains = any(isinstance(each, CodeType) for each in state.func_id.code.co_consts)
        return contains and bool(super().run_pass(state))


class _Passes(PassManager):  # type: ignore[misc]
    """Sequence of passes, without the checks and timings of Numba's own."""

    def _runPass(self, index: int, a_pass: Any, state: Any) -> None:  # noqa: N802
        a_pass.analysis = self._analysis
        a_pass.run_initialization(state)
        a_pass.run_pass(state)
        a_pass.run_finalizer(state)


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba compiler for functions that only compiled functions call."""

    _lowering = _Lowering

    def define_pipelines(self) -> list[Any]:
        """Return Numba's passes without those that never apply."""
        ours = _Passes("netcarlo")
        for a_pass, name in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            if a_pass.__name__ == NativeLowering.__name__:
                ours.add_pass(self._lowering, name)
            elif a_pass.__name__ == InlineClosureLikes.__name__:
                ours.add_pass(_Closures, name)
            elif a_pass.__name__ not in _FOR_OTHERS:
                ours.add_pass(a_pass, name)
        ours.finalize()
        return [ours]


class OuterCompiler(Compiler):
    """Numba compiler for a function that Python calls."""

    _lowering = _OuterLowering


@contextmanager
def settings() -> Iterator[None]:
    """Make Numba use indices without support for negative values (`indices`), caches and shortcuts."""
    with _ONE_AT_A_TIME, garbage.paused(), numba_cache.enabled(), numba_shortcuts.enabled():
        originals = arrayobj.fix_integer_index, slicing.fix_slice
        arrayobj.fix_integer_index, slicing.fix_slice = indices.cast, indices.clip
        try:
            yield
        finally:
            arrayobj.fix_integer_index, slicing.fix_slice = originals
