"""Version of the models: it changes with the code that determines numbers, and with nothing else."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.simulation import sources
from netcarlo.simulation.provenance import model_version
from tests.package_copy import ROOT

SWEEP = """\
name: small
scenario:
  duration: 2 s
  fidelity: formula
  transport: {protocol: newreno}
  hops: [{rate: 2 Mbit/s, delay: 10 ms, loss: 1 %}]
axes:
  hops.0.loss: [1 %, 2 %]
replications: 1
"""

OUTSIDE = "cli", "comparison", "live", "planning", "reports", "studies"
"""Packages that may change without effect on the version."""


def rewritten(text: str) -> str:
    """Return a module with its docstrings and comments replaced."""
    lines = text.splitlines()
    strings = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)
               and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)]  # fmt: skip
    for node in sorted(strings, key=lambda node: -node.lineno):
        assert node.end_lineno
        other = " " * node.col_offset + '"""Other words."""  # and a comment'
        lines[node.lineno - 1 : node.end_lineno] = [other]
    return "# Another comment\n" + "\n".join(lines) + "\n"


def imported(text: str) -> Iterator[str]:
    """Return the modules of netcarlo that a module imports or names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("netcarlo."):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("netcarlo."))


def test_the_trunk_is_all_layers_up_to_simulation() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (rule["layers"] for rule in rules if rule["name"] == "Layers")
    below = layers[layers.index("simulation") :]
    assert sorted(sources.TRUNK) == sorted(name for layer in below for name in layer.split(" | "))


@pytest.mark.full
def test_all_that_a_chunk_imports_is_part_of_the_version() -> None:
    known = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file
             for name, file in sources.modules().items() if file.suffix == ".py"}  # fmt: skip
    assert len(known) > 300
    below = [file.relative_to(ROOT / "estimator") for file in (ROOT / "estimator").rglob("*.py")]
    every = {".".join(("netcarlo", *file.with_suffix("").parts)) for file in below}
    missing = {(name, other) for name, file in known.items() for other in imported(file.read_text())
               if other in every and other not in known}  # fmt: skip
    assert missing == set()


@pytest.mark.parametrize("name", ["kernels/tcp/rto.py", "kernels/tcp/newreno.py", "transport/tcp.py"])
def test_docstrings_and_comments_change_nothing(name: str) -> None:
    text = sources.modules()[f"netcarlo/{name}"].read_text()
    other = rewritten(text)
    assert other.count("Other words") > 1
    assert sources.digest(other) == sources.digest(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("COPY_BITS = 4", "COPY_BITS = 5"), ("a = 1", "a = 1.0"), ("a = 1", "a = True"), ("a = 1", "a = '1'"),
        ("a = 'b'", "a = b'b'"), ("f(None)", "f()"), ("a = [1, 2]", "a = [2, 1]"), ("a < b", "a <= b"),
        ("a = f'{b}'", "a = f'{b!r}'"), ("a = f'{b}'", "a = f'{b:d}'"), ("a = ['']", "a = []"),
        ("def f(): return 'a'", "def f(): return 'b'"), ("f('a')", "f('b')"), ("a = -1", "a = 1"),
        ("if a:\n b\n c", "if a:\n b\nc"), ("def f(a, /): b", "def f(a): b"), ("{**a}", "{a: a}"),
    ],
)  # fmt: skip
def test_what_is_computed_changes_the_digest(before: str, after: str) -> None:
    assert sources.digest(before) != sources.digest(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1000", "a = 1_000  # a thousand"), ("a = 'b'", 'a = "b"'), ("a = f(b)", "a = f(\n    b,\n)"),
        ("class A:\n a: int", 'class A:\n a: int\n """What it is."""'), ("a = b + (c)", "a = (b + c)"),
    ],
)  # fmt: skip
def test_layout_does_not_change_the_digest(before: str, after: str) -> None:
    assert sources.digest(before) == sources.digest(after)


def test_the_digest_is_the_same_in_every_python() -> None:
    """The digest equals the one computed with Python 3.11.7, 3.12.1 and 3.13.0."""
    text = '''
def f(a, /, b: int = 0, *c, d=None, **e) -> str:
    """Words."""
    match a:
        case {"x": [1, *_], **rest} if (n := b):
            return f"{a!r:>{b}} {{}}" f"{n=:{d}}" "é\u2028"
    return lambda: (yield {**e, 1e-3: 2j, None: ...})
'''
    assert sources.digest(text) == "1d311342c207c51807fbaea74a44fe7e0c868582c95602d6237545aadb125550"


def test_data_are_part_of_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path / "cache"))
    assert "netcarlo/networks/wireless/phy/tables.yaml" in sources.modules()
    file = tmp_path / "a.yaml"
    monkeypatch.setattr(sources, "modules", lambda _names: {"a.yaml": file})
    versions = []
    for text in ("a: 1\n", "a:   1  # a comment\n", "a: 2\n"):
        file.write_text(text)
        versions.append(sources.fingerprint())
    assert versions[0] == versions[1] != versions[2]


def test_names_are_part_of_the_version_and_a_kept_version_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETCARLO_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "a.py"
    files = {"a.py": file}
    monkeypatch.setattr(sources, "modules", lambda _names: files)
    file.write_text("a = 1\n")
    first = sources.fingerprint()
    file.write_text('"""Words."""\na = 1\n')
    assert sources.fingerprint() == first
    with monkeypatch.context() as patch:
        patch.setattr(sources, "digest", lambda text: pytest.fail("it was known"))
        assert sources.fingerprint() == first
    files["b.py"] = files.pop("a.py")
    assert sources.fingerprint() != first
    file.write_text("a = 2\n")
    files["a.py"] = files.pop("b.py")
    assert sources.fingerprint() != first


@pytest.mark.full
def test_an_older_store_is_resumed_unless_what_decides_numbers_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> Result:
        model_version.cache_clear()
        return CliRunner().invoke(app, ["sweep", "small.yaml", "--out", "store"])

    (tmp_path / "small.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    assert run().exit_code == 0

    files, before = sources.modules(), model_version()
    assert not [name for name in files if name.split("/")[1] in OUTSIDE]
    other = tmp_path / "other.py"
    changed = {**files, "netcarlo/kernels/tcp/transmissions.py": other}
    monkeypatch.setattr(sources, "modules", lambda _: changed)
    text = files["netcarlo/kernels/tcp/transmissions.py"].read_text()
    try:
        other.write_text(rewritten(text))
        resumed = run()
        assert (resumed.exit_code, model_version()) == (0, before)
        assert "all 2 cells are stored already" in resumed.stdout
        assert text.count("\nTRANSMISSION_BITS = 4\n") == 1
        other.write_text(text.replace("\nTRANSMISSION_BITS = 4\n", "\nTRANSMISSION_BITS = 5\n"))
        refused = run()
        assert refused.exit_code == 2
        assert f"of model version {before}, this is {model_version()}" in refused.stderr
        assert "their results cannot be mixed" in refused.stderr
    finally:
        model_version.cache_clear()
