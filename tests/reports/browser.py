"""Headless Chromium, driven over its DevTools pipe with the standard library only."""

import base64
import fcntl
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

ANSWER_S = 60
"""Time limit of a command of the DevTools protocol [s]."""


AUDITED = "{exclude: [['.main-svg']]}, {resultTypes: ['violations']}"
"""Arguments of axe-core: the parts of a page that are audited, and the requested results."""


class Browser:
    """Headless browser; each of its pages has its own context."""

    def __init__(self, profile: Path) -> None:
        """Start a browser with an empty profile in this folder."""
        to_child, self._commands = _pipe()
        self._answers, from_child = _pipe()

        def use_pipes() -> None:
            os.dup2(to_child, 3)
            os.dup2(from_child, 4)

        self.process = subprocess.Popen(
            [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank",
            ],
            preexec_fn=use_pipes, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (to_child, from_child):
            os.close(end)
        self._buffer, self._next = b"", 0
        self._events: dict[str, list[dict[str, Any]]] = {}
        """Events of each session that is attached."""

    def call(self, method: str, session: str = "", *, timeout_s: float = ANSWER_S, **params: Any) -> Any:
        """Return the result of a DevTools command; a `session` addresses a page.

        Raises RuntimeError if the command is refused or the browser has ended, and TimeoutError if it
        does not answer.
        """
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        try:
            os.write(self._commands, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise RuntimeError("the browser ended") from None
        deadline = time.monotonic() + timeout_s
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self._events.get(answer.get("sessionId", ""), []).append(answer)

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._answers], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser did not answer")
            chunk = os.read(self._answers, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    @contextmanager
    def page(self) -> Iterator["Page"]:
        """Open a page in its own context, which contains its storage, downloads and emulation."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        try:
            target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
            session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            self._events[session] = []
            yield Page(self, session, context, self._events[session])
            del self._events[session]
        finally:
            with suppress(RuntimeError, TimeoutError):  # the browser has ended or hangs
                self.call("Target.disposeBrowserContext", browserContextId=context)

    def answers(self) -> bool:
        """Return True if the browser is running and answers."""
        try:
            return bool(self.call("Browser.getVersion"))
        except (RuntimeError, TimeoutError):
            return False

    def close(self) -> None:
        """End the browser."""
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for end in (self._commands, self._answers):
            os.close(end)


class Page:
    """Page of a browser, with its console and network messages."""

    def __init__(self, browser: Browser, session: str, context: str, events: list[dict[str, Any]]) -> None:
        self._browser, self._session, self._context, self.events = browser, session, context, events
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a DevTools command to this page."""
        return dict(self._browser.call(method, self._session, **params))

    def answers(self) -> bool:
        """Return True if the page is open and answers."""
        try:
            return self.evaluate("1 + 1") == 2
        except (RuntimeError, TimeoutError):
            return False

    def save_to(self, folder: Path) -> None:
        """Save what the page downloads in this folder."""
        self._browser.call(
            "Browser.setDownloadBehavior",
            behavior="allow", downloadPath=str(folder), browserContextId=self._context,
        )  # fmt: skip

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
        """Go to an address in a window of this size.

        The previous page is left first, so that its late requests do not count as complaints of the next one.
        """
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank' && document.readyState === 'complete'")
        self.events.clear()
        self.resize(width=width, height=height, mobile=mobile)
        self.call("Page.navigate", url=address)

    def resize(self, *, width: int, height: int, mobile: bool = False) -> None:
        """Give the window this size, as on a phone or not."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=mobile,
        )  # fmt: skip

    def wait(self, condition: str, *, most_s: float = 60) -> None:
        """Wait until a JavaScript expression is true in the page."""
        deadline = time.monotonic() + most_s
        while not self.evaluate(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{condition} is not so after {most_s:g} s")
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page; a promise is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def complaints(self, origin: str = "file:") -> list[str]:
        """Return errors and warnings of the console, uncaught exceptions, and requests that fail or
        leave the page's host."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str(params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(str(params["entry"]["text"]))
            elif method == "Network.loadingFailed" and not params.get("canceled"):
                found.append(f"a request failed: {params['errorText']}")
            elif method == "Network.requestWillBeSent" and _elsewhere(params["request"]["url"], origin):
                found.append(f"request to {params['request']['url']}")
        return found

    def barriers(self) -> list[str]:
        """Return the serious and critical accessibility violations that axe-core finds.

        Lines and points inside of figures are left out: they are half of a page's elements and most of the
        time, and a figure is described by the element around it.
        """
        self.evaluate(f"{(files('axe_core_python') / 'axe.min.js').read_text(encoding='utf-8')}; 0")
        found = self.evaluate(f"axe.run({AUDITED}).then(r => r.violations)")
        return [
            f"{rule['id']}: {node['html']}"
            for rule in found
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Return a PNG of the whole page, or of the window."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """Return the page as printed on A4."""
        data = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)["data"]
        path.write_bytes(base64.b64decode(data))


def _elsewhere(address: str, origin: str) -> bool:
    return address.startswith("http") and not address.startswith(origin)


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends are not 3 or 4, the numbers that the browser uses."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return read, write


@contextmanager
def started(profile: Path) -> Iterator[Browser]:
    """Start a browser with an empty profile in this folder, and end it."""
    found = Browser(profile)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Start a browser for one page, for programs; tests share theirs, see `tests/conftest.py`."""
    with started(profile) as found, found.page() as page:
        yield page
