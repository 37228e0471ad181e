"""Places of the fields of a sweep in its file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from netcarlo.errors import InputError, prefixed
from netcarlo.schema.document import Document


@dataclass(frozen=True)
class Places:
    """Lines of a file, for messages."""

    document: Document | None
    """File with its lines; None if the sweep was not read from a file."""

    def error(self, at: tuple[str, ...], message: str, error: InputError | None = None) -> InputError:
        """Return an error with its file and line, and the message before each line of `error`."""
        where = f"{self.document.where(at)}: " if self.document else ""
        return InputError(where + message) if error is None else prefixed(error, where + message)

    @contextmanager
    def at(self, *place: str) -> Iterator[None]:
        """Add the place in the file to an InputError that is raised inside."""
        try:
            yield
        except InputError as error:
            raise self.error(place, f"{'.'.join(place)}: ", error) from None
