"""Headless Chromium over its DevTools pipe, with nothing but the standard library."""

import base64
import fcntl
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any


class Page:
    """One page of a headless browser; remembers what its console and its network said."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._buffer, self._next, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A DevTools command and its result."""
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read(timeout_s=60)
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self.events.append(answer)

    def _read(self, *, timeout_s: float) -> dict[str, Any]:
        deadline = time.monotonic() + timeout_s
        while b"\0" not in self._buffer:
            if not select.select([self._answers], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser did not answer")
            chunk = os.read(self._answers, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def open(self, path: Path, *, width: int, height: int, mobile: bool = False) -> None:
        """Show a file in a window of this size and wait until its plots are drawn."""
        self.visit(path.resolve().as_uri(), width=width, height=height, mobile=mobile)
        drawn = (
            "document.querySelectorAll('.plot').length === document.querySelectorAll('[data-drawn]').length"
        )
        try:
            self.wait(f"document.readyState === 'complete' && {drawn}")
        except TimeoutError:
            raise TimeoutError(f"{path}: the plots were not drawn; {self.complaints()}") from None

    def visit(self, address: str, *, width: int, height: int, mobile: bool = False) -> None:
        """Go to an address in a window of this size."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        self.call("Page.navigate", url=address)

    def wait(self, condition: str, *, most_s: float = 60) -> None:
        """Wait until a JavaScript expression is true in the page."""
        deadline = time.monotonic() + most_s
        while not self.evaluate(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{condition} is not so after {most_s:g} s")
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, or of what it promises."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def complaints(self, origin: str = "file:") -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, and requests to elsewhere."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str(params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(str(params["entry"]["text"]))
            elif method == "Network.requestWillBeSent" and _elsewhere(params["request"]["url"], origin):
                found.append(f"request to {params['request']['url']}")
        return found

    def barriers(self) -> list[str]:
        """What axe-core finds serious or critical: what keeps people from reading the page."""
        self.evaluate(f"{(files('axe_core_python') / 'axe.min.js').read_text(encoding='utf-8')}; 0")
        found = self.evaluate("axe.run().then(r => r.violations)")
        return [
            f"{rule['id']}: {node['html']}"
            for rule in found
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """A PNG of the whole page, or of the window."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """The page as it is printed on A4."""
        data = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)["data"]
        path.write_bytes(base64.b64decode(data))


def _elsewhere(address: str, origin: str) -> bool:
    return address.startswith("http") and not address.startswith(origin)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are not 3 or 4, the numbers by which the browser knows its own."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return read, write


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A headless browser with an empty profile in this folder."""
    to_child, commands = _pipe()
    answers, from_child = _pipe()

    def use_pipes() -> None:
        os.dup2(to_child, 3)
        os.dup2(from_child, 4)

    process = subprocess.Popen(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank",
        ],
        preexec_fn=use_pipes, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Page(commands, answers)
    finally:
        process.terminate()
        process.wait(timeout=20)
        for descriptor in (to_child, commands, answers, from_child):
            os.close(descriptor)
