"""Mapping of folders to packages; all other metadata is in pyproject.toml."""

from setuptools import find_packages, setup

ROOTS = {
    "netcarlo": "estimator",
    "netcarlo.kernels": "kernels",
    "netcarlo.configs": "configs",
    "netcarlo.reports": "reports",
}
FOLDERS = ROOTS | {
    f"{root}.{below}": f"{folder}/{below.replace('.', '/')}"
    for root, folder in ROOTS.items()
    for below in find_packages(folder)
}

setup(
    packages=list(FOLDERS),
    package_dir=FOLDERS,
    package_data={
        "netcarlo": ["py.typed"],
        "netcarlo.live": ["assets/*"],
        "netcarlo.networks.wireless.phy": ["tables.yaml"],
        "netcarlo.configs": ["*.yaml", "examples/*", "plans/*", "references/*", "schemas/*", "starters/*",
                             "starters/study/*", "examples/studies/*/*", "studies/*/*"],
        "netcarlo.reports": ["templates/*"],
    },
)
