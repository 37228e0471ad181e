"""Which folder is which package; everything else is in pyproject.toml."""

from setuptools import setup

FOLDERS = {
    "netcarlo": "estimator",
    "netcarlo.calibration": "estimator/calibration",
    "netcarlo.planning": "estimator/planning",
    "netcarlo.studies": "estimator/studies",
    "netcarlo.sweeps": "estimator/sweeps",
    "netcarlo.kernels": "kernels",
    "netcarlo.kernels.fluid": "kernels/fluid",
    "netcarlo.kernels.manet": "kernels/manet",
    "netcarlo.kernels.shared": "kernels/shared",
    "netcarlo.kernels.mobility": "kernels/mobility",
    "netcarlo.kernels.wifi": "kernels/wifi",
    "netcarlo.configs": "configs",
    "netcarlo.reports": "reports",
}

setup(
    packages=list(FOLDERS),
    package_dir=FOLDERS,
    package_data={
        "netcarlo": ["py.typed"],
        "netcarlo.configs": ["*.yaml", "examples/*", "plans/*", "references/*", "studies/*/*"],
        "netcarlo.reports": ["templates/*"],
    },
)
