"""Runs a campaign in a process of its own, shows what it prints and keeps it for the record."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tests.campaigns import record

FORWARDED = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
LAST_WORDS_S = 5.0
"""How long processes that a campaign left behind may keep its output open after its end."""


def recorded(name: str, arguments: list[str], folder: Path) -> int:
    """Run a campaign, write its record into a folder, and return its exit status.  Raises OSError.

    The record exists from the beginning and says `not finished` until the campaign ends.
    """
    at, begun, machine = datetime.now(UTC), time.monotonic(), record.machine()
    path = record.new_file(folder, name, at)
    record.write(path, record.text(name, arguments, at, machine, b"", None))
    command = [sys.executable, "-u", "-m", "tests.campaigns", "--no-record", name, *arguments]
    output, lock = bytearray(), threading.Lock()

    def keep(stream: IO[bytes], shown: IO[bytes]) -> None:
        while piece := os.read(stream.fileno(), 1 << 16):
            with lock:
                output.extend(piece)
            shown.write(piece)
            shown.flush()

    before = _processor_s()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0)
    assert process.stdout and process.stderr
    pairs = (process.stdout, sys.stdout.buffer), (process.stderr, sys.stderr.buffer)
    threads = [threading.Thread(target=keep, args=pair, daemon=True) for pair in pairs]
    with _forwarding(process) as received:
        for thread in threads:
            thread.start()
        status = process.wait()
        for thread in threads:
            thread.join(LAST_WORDS_S)
    ended = record.Ended(_result(status, received), time.monotonic() - begun, _processor_s() - before)
    record.write(path, record.text(name, arguments, at, machine, bytes(output), ended))
    print(f"record: {os.path.relpath(path)}", file=sys.stderr)
    return status if status >= 0 else 128 - status


@contextmanager
def _forwarding(process: "subprocess.Popen[bytes]") -> Iterator[list[signal.Signals]]:
    """Send signals on to the process group of a campaign, so that it ends and its record is written."""
    received: list[signal.Signals] = []

    def forward(number: int, _: object) -> None:
        received.append(signal.Signals(number))
        if process.poll() is None:
            os.killpg(process.pid, number)

    before = {number: signal.signal(number, forward) for number in FORWARDED}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _result(status: int, received: list[signal.Signals]) -> str:
    if received:
        return f"interrupted by {received[0].name}"
    if status < 0:
        return f"failed: ended by {signal.Signals(-status).name}"
    return "completed, exit status 0" if status == 0 else f"failed, exit status {status}"


def _processor_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
