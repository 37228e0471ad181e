"""Programs and machines that some tests need."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

TOOLS = {
    "ns": "apt-get install ns2",
    "chromium": "apt-get install chromium",
    "gcc": "apt-get install gcc libc6-dev",
    "ip": "apt-get install iproute2",
    "tshark": "apt-get install tshark",
    "ngtcp2": "apt-get install libngtcp2-dev libngtcp2-crypto-gnutls-dev libgnutls28-dev",
    "usrsctp": "apt-get install libusrsctp-dev",
    "ptxas": "pip install nvidia-cuda-nvcc",
    "numba_cuda": "pip install '.[test]'",
    "numba_cuda_mlir": "pip install '.[test]'",
    "cupy": "pip install '.[cuda13]'",
    "cuda device": "a machine with an NVIDIA GPU",
    "network namespaces": "root on a Linux with TUN devices",
    "mptcp": "a Linux with MPTCP",
}
"""Tools that `@pytest.mark.needs(...)` may name, and the command that installs each."""

OF_THE_MACHINE = "cuda device", "network namespaces", "mptcp"
"""Tools that no installation provides; a test skipped without them is not a failure."""


def find(tool: str) -> str | None:
    """Return the path of a tool or module; None if it is missing."""
    if tool == "cuda device":
        from netcarlo.kernels.runtime import device

        found = device.devices()
        return found[0].name if found else None
    if tool == "network namespaces":
        tun = Path("/dev/net/tun")
        asked = tun.exists() and subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
        return str(tun) if asked and asked.returncode == 0 else None
    if tool == "ngtcp2":
        header = Path("/usr/include/ngtcp2/ngtcp2_crypto_gnutls.h")
        return str(header) if header.exists() else None
    if tool == "mptcp":
        return next(map(str, Path("/proc/sys/net").glob("mptcp")), None)
    if tool in ("numba_cuda", "numba_cuda_mlir", "cupy"):
        spec = importlib.util.find_spec(tool)
        return spec.origin if spec else None
    if tool == "usrsctp":
        header = Path("/usr/include/usrsctp.h")
        return str(header) if header.exists() else None
    if tool == "ptxas":
        nvidia = importlib.util.find_spec("nvidia")
        for folder in nvidia.submodule_search_locations or () if nvidia else ():
            for path in Path(folder).glob("*/bin/ptxas"):
                return str(path)
    return shutil.which(tool)
