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
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + 60
        drawn = (
            "document.querySelectorAll('.plot').length === document.querySelectorAll('[data-drawn]').length"
        )
        while not self.evaluate(f"document.readyState === 'complete' && {drawn}"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path}: the plots were not drawn; {self.complaints()}")
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, or of what it promises."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, and requests to anywhere but the file."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str(params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(str(params["entry"]["text"]))
            elif method == "Network.requestWillBeSent" and params["request"]["url"].startswith("http"):
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
