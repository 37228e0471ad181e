"""The documentation as a site: `.ci/check site` builds it.  Its pages are Markdown that reads well by itself.

Equations become MathML by docutils' own converter: no script, no font and no network is needed to see them.
"""

import os
import re
from importlib.metadata import version as installed
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

project = "netcarlo"
author = "netcarlo contributors"
copyright = author
release = version = installed("netcarlo")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
default_role = "code"  # in docstrings
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
nb_execution_raise_on_error = True
nb_execution_timeout = 120  # [s] of a cell
nb_mime_priority_overrides = [("html", "application/vnd.plotly.v1+json", None)]
os.environ["PLOTLY_RENDERER"] = "notebook"  # with its script in the page: no network is needed

autodoc_member_order = "bysource"
autodoc_typehints = "none"

html_theme = "pydata_sphinx_theme"
html_title = "netcarlo"
html_static_path = ["_static"]
html_css_files = ["netcarlo.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}

UNKNOWN = {r"\\dots(?![a-z])": r"\\ldots", r"\\[bB]ig(?![a-z])": "", r"\\mathrel": ""}
"""Commands of LaTeX that docutils does not know, and what stands for them."""


def mathml(text: str, *, block: bool) -> str:
    """An equation of LaTeX as MathML."""
    for command, other in UNKNOWN.items():
        text = re.sub(command, other, text)
    return str(tex2mathml(text, as_block=block))


def visit(self: Any, node: Any) -> None:
    """Write an equation of a page."""
    block = isinstance(node, nodes.math_block)
    found = mathml(node.astext(), block=block)
    self.body.append(f'<div class="equation">{found}</div>' if block else found)
    raise nodes.SkipNode


INDEXES = ("howto/index", "tutorials/index", "explanation", "evidence")
"""Pages whose lists of links are parts of the table of contents."""


def contents(_app: Any, name: str, source: list[str]) -> None:
    """Add the pages that an index lists to the table of contents, under the heading of each list."""
    if name in INDEXES:
        for caption, links in re.findall(r"^(?:## (.+)\n\n)?((?:\* .+\n)+)", source[0], re.MULTILINE):
            pages = re.findall(r"\]\(([^)#]+)\.md\)", links)
            options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
            source[0] += "\n".join(["", "```{toctree}", *options, "", *pages, "```", ""])


def offline(_app: Any, _name: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Remove the MathJax that Plotly would load from the internet; no figure has equations."""
    if "body" in context:
        context["body"] = re.sub(r'<script src="https://[^"]*mathjax[^"]*"></script>', "", context["body"])


def setup(app: Any) -> None:
    """Let Sphinx write equations and pages like this."""
    app.add_html_math_renderer("mathml", (visit, None), (visit, None))
    app.connect("source-read", contents)
    app.connect("html-page-context", offline)
