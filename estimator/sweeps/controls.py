"""Users' congestion control files in a sweep: their text travels with it, so that workers need no copies."""

import hashlib
import json
from pathlib import Path
from typing import Any

from netcarlo import files
from netcarlo.control import NAMES
from netcarlo.kernels import cache

FIELD = "congestion_control"


def collect(definition: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The definition with the files looked up in `folder`, and their texts by path under `files`."""
    texts: dict[str, str] = {}

    def found(value: Any) -> Any:
        if isinstance(value, list):
            return [found(item) for item in value]
        if isinstance(value, dict):  # an axis with the name of the field
            return {key: found(item) if key == "values" else item for key, item in value.items()}
        if value in NAMES:
            return value
        path = str((folder / str(value)).resolve())
        texts[path] = files.read_text(path)
        return path

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        names_files = str(value.get("field", "")).endswith(FIELD)
        return {
            key: found(item) if key.endswith(FIELD) or (names_files and key == "values") else walk(item)
            for key, item in value.items()
        }

    collected = walk(definition)
    return {**collected, "files": texts} if texts else collected


def provide(definition: dict[str, Any]) -> dict[str, Any]:
    """The definition with paths that hold those texts on this machine."""
    text = json.dumps(definition)
    for path, content in definition.get("files", {}).items():
        if Path(path).is_file() and Path(path).read_text(encoding="utf-8") == content:
            continue
        name = hashlib.sha256(content.encode()).hexdigest()[:16]
        copy = cache.folder() / "controls" / name / Path(path).name
        cache.write(copy, content.encode())
        text = text.replace(json.dumps(path), json.dumps(str(copy)))
    return dict(json.loads(text))


def without_paths(definition: dict[str, Any]) -> str:
    """The definition as JSON in which a file is named by its text alone."""
    text = json.dumps(definition, sort_keys=True)
    for path, content in definition.get("files", {}).items():
        text = text.replace(json.dumps(path), json.dumps(hashlib.sha256(content.encode()).hexdigest()))
    return text
