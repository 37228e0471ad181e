"""The shape of the house in figures: `python -m tests.structure`, with netcarlo and its `dev` tools.

A room is a folder of `estimator/`, of `kernels/`, of `networks/` and of `reports/`, or a file beside them; an
arrow says that modules of one room import modules of another, and is short if no other way leads there; a
circle is a set of rooms, or of modules, that reach each other.  Imports for type checkers alone do not count.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp
import networkx

ROOT = Path(__file__).parents[1]
FOLDERS = "estimator", "kernels", "reports"
ROOMY = "kernels", "networks", "reports"
LINES, ARGUMENTS = 100, 8


def functions(folder: str) -> Iterator[tuple[int, int]]:
    """Lines and arguments of every function."""
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                yield (node.end_lineno or 0) - node.lineno + 1, len(arguments)


def room(module: str) -> str:
    """The room of a module; none of the package itself."""
    names = module.split(".")[1:]
    return ".".join(names[: 2 if names and names[0] in ROOMY else 1])


def imports() -> "networkx.DiGraph[str]":
    """All modules, and which imports which."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    modules = grimp.build_graph("netcarlo", exclude_type_checking_imports=True)
    for module in modules.modules:
        graph.add_edges_from((module, other) for other in modules.find_modules_directly_imported_by(module))
    return graph


def rooms(modules: "networkx.DiGraph[str]") -> "networkx.DiGraph[str]":
    """All rooms, and which imports which."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for module, other in modules.edges:
        here, there = room(module), room(other)
        if here != there and here and there:
            graph.add_edge(here, there)
    return graph


def circles(graph: "networkx.DiGraph[str]") -> list[list[str]]:
    """Sets of nodes that reach each other."""
    return [sorted(part) for part in networkx.strongly_connected_components(graph) if len(part) > 1]


def main() -> None:
    """Print a table of each."""
    columns = "folder", "files", "lines", "largest", "functions over 100 lines", "with 8 arguments or more"
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for folder in FOLDERS:
        files = [*(ROOT / folder).rglob("*.py")]
        lines = sum(len(file.read_text().splitlines()) for file in files)
        largest, count = Counter(file.parent for file in files).most_common(1)[0]
        found = [*functions(folder)]
        long, wide = (sum(f[k] >= most for f in found) for k, most in enumerate((LINES + 1, ARGUMENTS)))
        name = largest.relative_to(ROOT)
        print(f"| {folder} | {len(files)} | {lines} | {name}: {count} | {long} | {wide} |")
    modules = imports()
    graph = rooms(modules)
    print(f"\n{len(graph)} rooms, {graph.number_of_edges()} arrows, circles: {circles(graph) or 'none'}")
    most, module = max((degree, module) for module, degree in modules.out_degree)
    print(f"{len(modules)} modules, {modules.number_of_edges()} imports (most: {most} in {module})")
    print(f"circles of modules: {circles(modules) or 'none'}")
    if not circles(graph):
        short = networkx.transitive_reduction(graph)
        print(f"{short.number_of_edges()} short arrows, {networkx.dag_longest_path_length(graph) + 1} floors")


if __name__ == "__main__":
    main()
