"""Numbers change only on purpose: then run `python -m tests.digests small --write`, and report it."""

import pytest

from tests.digests.taken import KINDS, all_names, stored


@pytest.mark.full
@pytest.mark.parametrize(("kind", "name"), [*all_names("small")])
def test_nothing_has_moved(kind: str, name: str) -> None:
    assert KINDS[kind](name, "small") == stored()["small"][kind][name]


def test_every_digest_is_of_something() -> None:
    """The file of digests has no entry of a name that no longer exists."""
    for size, kinds in stored().items():
        assert {(kind, name) for kind, names in kinds.items() for name in names} == {*all_names(size)}
