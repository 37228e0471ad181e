"""Users' congestion control files in a sweep. The definition includes their text, so workers need no
copies."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError
from netcarlo.kernels.congestion import aimd
from netcarlo.kernels.runtime import cache
from netcarlo.transport import congestion as control
from netcarlo.transport.congestion import NAMES

FIELD = "congestion_control"
"""Field of a scenario that may name such a file."""


def collect(definition: dict[str, Any], place: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the definition with absolute paths of the files, and the text of each file by path.

    `place` is the sweep's file, or the folder that paths in data are relative to. Raises InputError for a
    file that is not trusted, see `congestion.locate`.
    """
    texts: dict[str, str] = {}

    def found(value: Any) -> Any:
        if isinstance(value, list):
            return [found(item) for item in value]
        if not isinstance(value, str | Path) or value in NAMES:
            return value
        path = control.locate(str(value), place)
        if not os.path.isfile(path):  # the field reports unknown names, and files that do not exist
            return value
        texts[str(path.resolve())] = control.read(path).decode()
        return str(path.resolve())

    def walk(value: Any, named: str = "") -> Any:
        """Resolve files in a value; `named` is the field of an axis with this specification."""
        if isinstance(value, list):
            return [walk(item, named) for item in value]
        if not isinstance(value, dict):
            return found(value) if named.endswith(FIELD) else value
        axis = str(value.get("field") or named).endswith(FIELD)
        return {
            key: found(item) if axis and key == "values" else walk(item, str(key))
            for key, item in value.items()
        }

    return walk(definition), texts


def texts(definition: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of users' files in a definition, by path. Raises InputError if the entry is
    invalid."""
    found = definition.get("files", {})
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise InputError("definition.files is not a mapping of paths to texts; the manifest is damaged")
    return found


def trust(definition: Mapping[str, Any]) -> None:
    """Trust the files of a definition, which the client has already checked."""
    for text in texts(definition).values():
        control.trust_text(text)


def refuse_unless_trusted(definition: Mapping[str, Any]) -> None:
    """Raise InputError unless every file in the definition of a store is trusted."""
    for path, text in texts(definition).items():
        why = f"came with the store (in its manifest, under definition.files, as {Path(path).name!r})"
        control.refuse_unless_trusted(path, text.encode(), why)


def without_code(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the definition with the standard congestion control, with the constants of users' files, instead
    of these files."""
    standard = Path(str(aimd.__file__)).read_text(encoding="utf-8")
    stand_ins = {
        path: f"{standard}\n\nCONSTANTS = {control.default_constants(Path(path))!r}\n"
        for path in texts(definition)
    }
    for text in stand_ins.values():
        control.trust_text(text)
    return {**definition, "files": stand_ins} if stand_ins else definition


def provide(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the definition with paths of files on this machine that have the same texts."""
    text = json.dumps(definition)
    for path, content in texts(definition).items():
        if control.holds(Path(path), content.encode()):
            continue
        name = control.sha256(content.encode())[:16]
        copy = cache.folder() / "controls" / name / Path(path).name
        cache.write(copy, content.encode())
        text = text.replace(json.dumps(path), json.dumps(str(copy)))
    return dict(json.loads(text))


def without_paths(definition: dict[str, Any]) -> str:
    """Return the definition as JSON with the SHA-256 of its text instead of the path of a file."""
    text = json.dumps(definition, sort_keys=True)
    for path, content in texts(definition).items():
        text = text.replace(json.dumps(path), json.dumps(hashlib.sha256(content.encode()).hexdigest()))
    return text
