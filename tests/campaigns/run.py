"""Runs of campaigns in their own process, whose output is shown and recorded."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tests.campaigns import record

FORWARDED = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
LAST_WORDS_S = 5.0
"""Longest time that processes left behind may keep the output of a campaign open [s]."""


def command(name: str, arguments: list[str]) -> list[str]:
    """Return the command that runs a campaign in this Python, unbuffered."""
    return [sys.executable, "-u", "-m", "tests.campaigns", "--no-record", name, *arguments]


def recorded(name: str, arguments: list[str], folder: Path) -> int:
    """Run a campaign, write its record into a folder, and return its exit status.  Raises OSError.

    The record exists from the beginning and says `not finished` until the campaign ends.
    """
    at, begun, machine = datetime.now(UTC), time.monotonic(), record.machine()
    path = record.new_file(folder, name, at)
    record.write(path, record.text(name, arguments, at, machine, [], None))
    output: list[bytes] = []

    def keep(stream: IO[bytes], shown: IO[bytes]) -> None:
        line = b""
        while piece := os.read(stream.fileno(), 1 << 16):
            shown.write(piece)
            shown.flush()
            *whole, line = (line + piece).split(b"\n")
            output.extend(whole)  # one buffer per stream: their lines may interleave
        output.extend([line] if line else [])

    before = _processor_s()
    pipe = subprocess.PIPE
    with _signals() as (received, forward_to):
        process = subprocess.Popen(command(name, arguments), stdout=pipe, stderr=pipe, process_group=0)
        forward_to(process)
        assert process.stdout and process.stderr
        pairs = (process.stdout, sys.stdout.buffer), (process.stderr, sys.stderr.buffer)
        threads = [threading.Thread(target=keep, args=pair, daemon=True) for pair in pairs]
        for thread in threads:
            thread.start()
        status = process.wait()
        for thread in threads:
            thread.join(LAST_WORDS_S)
    ended = record.Ended(_result(status, received), time.monotonic() - begun, _processor_s() - before)
    record.write(path, record.text(name, arguments, at, machine, output, ended))
    print(f"record: {os.path.relpath(path)}", file=sys.stderr)
    return status if status >= 0 else 128 - status


Process = subprocess.Popen[bytes]


@contextmanager
def _signals() -> Iterator[tuple[list[signal.Signals], Callable[[Process], None]]]:
    """Keep signals from ending the runner, so that the record is written.

    Yields the signals received, and a function that names the process to whose group they are sent on; those
    received before are sent then.
    """
    received: list[signal.Signals] = []
    processes: list[Process] = []

    def note(number: int, _: object) -> None:
        received.append(signal.Signals(number))
        for process in processes:
            send(process, number)

    def send(process: Process, number: int) -> None:
        if process.poll() is None:
            os.killpg(process.pid, number)

    def forward_to(process: Process) -> None:
        earlier = list(received)
        processes.append(process)
        for number in earlier:
            send(process, number)

    before = {number: signal.signal(number, note) for number in FORWARDED}
    try:
        yield received, forward_to
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
