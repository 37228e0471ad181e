"""Errors of the command line: unknown options, missing arguments, values of the wrong kind."""

import re
from typing import Any

_WORDS = (
    (r"Missing argument '(.+?)'\.?", r"\1 is missing; add it"),
    (r"Missing option '(.+?)'\. Choose from:(.+)", r"\1 is missing; choose one of\2"),
    (r"Missing option '(.+?)'\.?", r"\1 is missing; add it"),
    (r"No such option:? '?([^ ']+)'? \(Possible options: (.+)\)", r"there is no option \1; did you mean \2?"),
    (r"No such option:? '?([^ ']+)'?\.? Did you mean (.+)\?", r"there is no option \1; did you mean \2?"),
    (r"No such option:? '?([^ ']+)'?", r"there is no option \1"),
    (r"No such command '(.+?)'\. Did you mean (.+)\?", r"there is no command '\1'; did you mean \2?"),
    (r"No such command '(.+?)'\.?", r"there is no command '\1'"),
    (r"Got unexpected extra arguments?(?:\(s\))? \((.+)\)", r"too many arguments: \1; remove them"),
    (r"Option '(.+?)' requires an argument\.?", r"\1 has no value; add one"),
    (r"Option '(.+?)' does not take a value\.?", r"\1 takes no value; remove it"),
    (r"Invalid value for '(.+?)': (.+)", r"\1: \2"),
    (r"(?:Value error, )?'(.+)' is not one of (.+)", r"'\1' is not allowed; expected one of \2"),
    (r"Input should be a valid integer.*", "is not a whole number; write one such as 3"),
    (r"'(.+)' is not a valid integer.*", r"'\1' is not a whole number; write one such as 3"),
    (r"Input should be (?:greater|more) than or equal to (\S+)", r"is out of range; expected \1 or more"),
    (r"Input should be less than or equal to (\S+)", r"is out of range; expected \1 or less"),
)
"""Patterns of Typer's messages, and our sentences. A later pattern applies to the rest of a message."""


def said(error: Any) -> str:
    """Return an error of Typer about the command line in our words, with the command whose help to read."""
    text = " ".join(error.format_message().split())
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    text = re.sub(r"(expected one of|did you mean|choose one of) (.+)", _without_quotes, text)
    text = text.replace(": is ", " is ").rstrip(".")
    see = f"see {_command(error)} --help"
    return f"{text} S{see[1:]}" if text.endswith("?") else f"{text}; {see}"


def _without_quotes(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2].replace(chr(39), '')}"


def _command(error: Any) -> str:
    """Return the command that an error is about, as `netcarlo estimate`."""
    context = getattr(error, "ctx", None)
    names = []
    while context is not None and context.parent is not None:
        names.append(str(context.info_name))
        context = context.parent
    return " ".join(["netcarlo", *reversed(names)])
