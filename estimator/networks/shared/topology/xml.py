"""XML with the line of each element."""

import xml.etree.ElementTree as ElementTree
from typing import NamedTuple
from xml.parsers import expat

from netcarlo.errors import InputError


class Tree(NamedTuple):
    """An XML document."""

    root: ElementTree.Element
    lines: dict[ElementTree.Element, int]
    """Line at which each element starts, from 1."""


def parse(content: bytes) -> Tree:
    """Return the elements of an XML document. Raises InputError with the line."""
    if b"<!ENTITY" in content or b"<!DOCTYPE" in content:
        raise InputError("has a document type, which is not read; remove the line with <!DOCTYPE")
    builder, lines = ElementTree.TreeBuilder(), dict[ElementTree.Element, int]()
    parser = expat.ParserCreate(namespace_separator="}")

    def name(text: str) -> str:
        return f"{{{text}" if "}" in text else text

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = builder.start(name(tag), {name(key): value for key, value in attributes.items()})
        lines[element] = parser.CurrentLineNumber

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: builder.end(name(tag))
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        said = expat.ErrorString(error.code)
        raise InputError(f"line {error.lineno}: is not XML ({said}); save the file again") from None
    return Tree(builder.close(), lines)
