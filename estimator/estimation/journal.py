"""Journal: batches of results in a file of JSON lines, so that interrupted work can continue.

Each line has the version of the models and a checksum. A batch of another version is never used. A line that
is damaged, perhaps truncated by an interruption, does not count.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netcarlo.schema.destination import append, regular
from netcarlo.schema.document import read_bytes
from netcarlo.schema.notes import Note
from netcarlo.simulation.provenance import model_version

MOST_BYTES = 1 << 30
"""Maximum size of a journal [bytes]."""


class Journal:
    """Journal in a file, which need not exist yet."""

    def __init__(self, file: Path) -> None:
        """Name the file. Nothing is read or written."""
        self.file = file
        self.damaged = 0

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the batches of this version of the models in the order in which they were written.

        A note says how many batches are of other versions. The caller counts lines whose content it cannot
        use in `damaged`, as this function does.
        """
        if not os.path.lexists(self.file):
            return
        others = 0
        for line in filter(None, read_bytes(self.file, MOST_BYTES).decode("utf-8", "replace").splitlines()):
            try:
                batch = json.loads(line)
                if batch.pop("sha256") != _checksum(batch):
                    raise ValueError
                version = batch.pop("model_version", None)
            except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
                self.damaged += 1
                continue
            if version == model_version():
                yield batch
            else:
                others += 1
        if others:
            batches = f"{others} batches of replications are" if others > 1 else "1 batch of replications is"
            warnings.warn(
                f"{self.file}: {batches} of another version of netcarlo and not used; "
                "what is needed of them is simulated again", Note, stacklevel=2,
            )  # fmt: skip

    def write(self, batch: dict[str, Any]) -> None:
        """Append a batch. Raises InputError, or MachineError if the disk is full."""
        batch = {**batch, "model_version": model_version()}
        line = json.dumps({**batch, "sha256": _checksum(batch)})
        append(regular(self.file), "\n" + line)  # the previous line may be incomplete


def _checksum(batch: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(batch, sort_keys=True).encode()).hexdigest()
