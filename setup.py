"""Which folder is which package; everything else is in pyproject.toml."""

from setuptools import find_packages, setup

ROOTS = {
    "netcarlo": "estimator",
    "netcarlo.kernels": "kernels",
    "netcarlo.configs": "configs",
    "netcarlo.reports": "reports",
}

setup(
    packages=[*ROOTS, *(f"{root}.{name}" for root, folder in ROOTS.items() for name in find_packages(folder))],
    package_dir={
        f"{root}.{name}": f"{folder}/{name.replace('.', '/')}"
        for root, folder in ROOTS.items()
        for name in find_packages(folder)
    }
    | ROOTS,
    package_data={
        "netcarlo": ["py.typed"],
        "netcarlo.configs": ["*.yaml", "examples/*", "plans/*", "references/*", "studies/*/*"],
        "netcarlo.reports": ["templates/*"],
    },
)
