"""Fills the templates: one HTML file that opens offline, with style, scripts and data inside."""

import importlib.util
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_TEMPLATES = Path(__file__).parent / "templates"


def page(template: str, *, title: str, plots: bool = True, **content: Any) -> str:
    """The HTML of a page; `plots` puts plotly.js into it."""
    css = Markup(style())
    js = Markup((_TEMPLATES / "page.js").read_text(encoding="utf-8"))
    plotly = Markup(_plotly_js()) if plots else ""
    return _environment().get_template(template).render(title=title, css=css, js=js, plotly=plotly, **content)


def style() -> str:
    """The CSS of all pages."""
    return (_TEMPLATES / "style.css").read_text(encoding="utf-8")


_MARKUP = re.compile(r"&|<(?!br>|/?extra>)")


def literal(figure: Any) -> Any:
    """A figure in whose texts Plotly takes for markup only the line breaks and `<extra>` of our templates."""
    if isinstance(figure, str):
        return _MARKUP.sub(lambda found: "&amp;" if found[0] == "&" else "&lt;", figure)
    if isinstance(figure, Mapping):
        return {key: literal(value) for key, value in figure.items()}
    if isinstance(figure, list | tuple):
        return [literal(value) for value in figure]
    return figure


def embed(data: Any) -> Markup:
    """Data as JSON that is safe inside a script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def kept(text: str) -> str:
    """Return a text in which numbers stay on a line with their units."""
    return _UNIT.sub("\N{NO-BREAK SPACE}", str(text))


_UNIT = re.compile(r"(?<=\d) (?=%|[kMGTmµ]?(?:bit/s|B|s|packets?)\b)")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=False
    )
    environment.filters |= {"embed": embed, "kept": kept, "literal": literal}
    return environment


def _plotly_js() -> str:
    # Found without importing plotly, whose figures are not needed here.
    spec = importlib.util.find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("plotly is not installed; install it with pip install plotly")
    path = Path(spec.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    return path.read_text(encoding="utf-8")
