"""Figures as SVG, PNG and PDF files, for papers."""

import importlib.util
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from netcarlo.errors import InputError
from netcarlo.reports.parts.figures import Plot

FORMATS = ("svg", "png", "pdf")
"""Suffixes of the files of a figure."""

_PER_MM = 96 / 25.4  # pixels; Chrome draws 96 of them per inch
_FONT = {"family": "Arial, Helvetica, sans-serif", "size": 11}  # 8.25 pt, as in the captions of most papers
_DENSITY = 4  # pixels of a PNG per pixel of the drawing: 384 dpi
_REMEDY = (
    "figures as files need a Chrome or Chromium browser and Kaleido: pip install 'netcarlo[figures]'; "
    "install the browser with your system's packages, or with plotly_get_chrome"
)


def size(text: str) -> tuple[float, float]:
    """Return width and height [mm] of a text such as `85x60 mm`. Raises InputError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:mm)?\s*[x×]\s*(\d+(?:\.\d+)?)\s*(?:mm)?\s*", text)
    found = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not all(20 <= length <= 1000 for length in found):
        raise InputError(f"size {text!r} is not a width and height of 20 to 1000 mm; write 85x60 mm")
    return found


def check_installed() -> None:
    """Raise InputError with the remedy if Kaleido is not installed."""
    if importlib.util.find_spec("kaleido") is None:
        raise InputError(_REMEDY)


@contextmanager
def browser() -> Iterator[None]:
    """Keep a browser open for all figures of a `with` block.

    It draws an empty figure first. Raises InputError with the remedy if Kaleido or a browser is missing, or
    if the browser does not start.
    """
    check_installed()
    import kaleido
    import plotly.graph_objects as go
    import plotly.io as pio

    given = {name: getattr(pio.defaults, name, None) for name in ("plotlyjs", "mathjax")}
    try:
        kaleido.start_sync_server(**{k: v for k, v in given.items() if v}, silence_warnings=True)
        with _same_options():
            pio.to_image(go.Figure(), format="svg")
    except Exception as error:  # each version of Kaleido has errors of its own
        kaleido.stop_sync_server(silence_warnings=True)
        raise InputError(f"{_REMEDY} ({_reason(error)})") from None
    try:
        yield
    finally:
        kaleido.stop_sync_server(silence_warnings=True)


@contextmanager
def _same_options() -> Iterator[None]:
    """Hide the warning that a running browser keeps its options; they are those of Plotly."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The kopts argument is ignored")
        yield


def _reason(error: Exception) -> str:
    """Return the first line of an error, or its name."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def write(figures: Mapping[str, Plot], folder: Path, width: float, height: float) -> list[Path]:
    """Write each figure as NAME.svg, .png and .pdf of `width` x `height` [mm], and return the files.

    Within `browser` all figures share one browser. Raises InputError if Kaleido or a browser is missing.
    """
    check_installed()
    import plotly.graph_objects as go
    import plotly.io as pio

    folder.mkdir(parents=True, exist_ok=True)
    drawn, files = [], []
    for name, figure in figures.items():
        layout = {"template": "plotly_white"} | figure["layout"] | {"paper_bgcolor": "#ffffff"}
        for suffix in FORMATS:
            drawn.append(go.Figure(figure["data"], layout).update_layout(font=_FONT, legend_font=_FONT))
            drawn[-1].update_xaxes(title_font=_FONT).update_yaxes(title_font=_FONT)
            files.append(folder / f"{name}.{suffix}")
    try:
        with _same_options():
            pio.write_images(
                drawn, files, width=round(width * _PER_MM), height=round(height * _PER_MM),
                scale=[_DENSITY if file.suffix == ".png" else 1 for file in files],
            )  # fmt: skip
    except RuntimeError as error:  # Plotly's text about a missing browser
        raise InputError(f"{_REMEDY} ({_reason(error)})") from None
    return files
