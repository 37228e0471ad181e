"""Tests of `kernels.runtime.numba_shortcuts`."""

import re
from contextlib import nullcontext
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from numba.core import base, event, ir, postproc

from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import numba_pipeline, numba_shortcuts


def _code(monkeypatch: pytest.MonkeyPatch, file: Path) -> str:
    """Return the optimised LLVM code of two functions, without the numbers in its symbols."""

    def optimize(self: Any) -> None:
        original(self)
        found.append(str(self._final_module))

    def greatest(m: Any, n: Any) -> Any:
        most = m[0]
        for k in range(1, n):
            if m[k] > most and m[k] % 3 != 1:
                most = m[k]
            elif m[k] < 0:
                break
        return most

    called = compilers.cpu(greatest, "numbers")

    def of_each(m: Any, f: Any, n: Any) -> Any:
        total, pair = 0.5, (n, 2.5)
        while n > 0:
            n -= 1
            total += called(m[n:], pair[0]) * pair[1] if n % 2 else max(float(n), f[n])
            m[n] = min(m[n], n)
        return total

    found: list[str] = []
    original = numba_pipeline._Whole._optimize_final_module
    with monkeypatch.context() as patch:
        patch.setattr(numba_pipeline._Whole, "_optimize_final_module", optimize)
        compilers._compiled(of_each, file, "float64(int64[::1],float64[::1],int64)")
    return re.sub(r"B\d+v\d+", "Bv", found[-1])  # length and number of a function: B2v9, B3v10


def test_shortcuts_do_not_change_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compare the optimised LLVM code with and without the shortcuts."""
    code = _code(monkeypatch, tmp_path / "with.nbc")
    monkeypatch.setattr(numba_shortcuts, "enabled", nullcontext)
    without = _code(monkeypatch, tmp_path / "without.nbc")
    lines = zip_longest(without.splitlines(), code.splitlines())
    assert [pair for pair in lines if len({*pair}) > 1] == []
    assert code.count("\n") > 50


def test_numba_is_as_before_afterwards() -> None:
    """Test that shortcuts end with a compilation, also if it fails."""

    def now() -> list[object]:
        return [
            event.start_event, postproc.PostProcessor.run, ir.Inst._rec_list_vars, base.BaseContext.refresh
        ]  # fmt: skip

    before = now()

    def fail() -> None:
        with numba_shortcuts.enabled():
            assert all(a is not b for a, b in zip(now(), before, strict=True))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert now() == before
