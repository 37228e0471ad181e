"""Size and dependencies of the code in figures: `python -m tests.structure`, with `netcarlo[dev]`.

A *component* is a folder of `estimator/`, `kernels/`, `networks/` or `reports/`, or a module beside them. A
component depends on another if one of its modules imports a module of the other; the dependency is *direct*
if there is no longer path. A *cycle* is a set of components, or of modules, that reach each other. Imports
for type checkers alone do not count.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp
import networkx

ROOT = Path(__file__).parents[1]
FOLDERS = "estimator", "kernels", "reports"
SUBDIVIDED = "kernels", "networks", "reports"
LINES, ARGUMENTS = 100, 8


def functions(folder: str) -> Iterator[tuple[int, int]]:
    """Yield the number of lines and of arguments of every function in a folder."""
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                yield (node.end_lineno or 0) - node.lineno + 1, len(arguments)


def component(module: str) -> str:
    """Return the component of a module; an empty name for the package itself."""
    names = module.split(".")[1:]
    return ".".join(names[: 2 if names and names[0] in SUBDIVIDED else 1])


def imports() -> "networkx.DiGraph[str]":
    """Return the graph of modules, with an edge to each module that a module imports."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    modules = grimp.build_graph("netcarlo", exclude_type_checking_imports=True)
    for module in modules.modules:
        graph.add_edges_from((module, other) for other in modules.find_modules_directly_imported_by(module))
    return graph


def components(modules: "networkx.DiGraph[str]") -> "networkx.DiGraph[str]":
    """Return the graph of components, with an edge for each dependency."""
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for module, other in modules.edges:
        here, there = component(module), component(other)
        if here != there and here and there:
            graph.add_edge(here, there)
    return graph


def cycles(graph: "networkx.DiGraph[str]") -> list[list[str]]:
    """Return the sets of nodes that reach each other."""
    return [sorted(part) for part in networkx.strongly_connected_components(graph) if len(part) > 1]


def main() -> None:
    """Print a table of the folders, and the dependencies."""
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
    graph = components(modules)
    most, module = max((degree, module) for module, degree in modules.out_degree)
    print(f"\n{len(modules)} modules, {modules.number_of_edges()} imports (most: {most} in {module})")
    print(f"cycles of modules: {cycles(modules) or 'none'}")
    print(f"{len(graph)} components, {graph.number_of_edges()} dependencies")
    print(f"cycles of components: {cycles(graph) or 'none'}")
    if not cycles(graph):
        direct = networkx.transitive_reduction(graph).number_of_edges()
        print(f"{direct} direct dependencies, {networkx.dag_longest_path_length(graph) + 1} layers")


if __name__ == "__main__":
    main()
