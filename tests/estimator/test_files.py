import pytest

from netcarlo.errors import InputError, nearest
from netcarlo.files import read_yaml


def read(tmp_path, text):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    return read_yaml(path)


def test_every_key_and_item_knows_its_line(tmp_path):
    document = read(tmp_path, "a: 1\nb:\n  - x: 2\n    y: 3\n  - 4\n")
    assert document.data == {"a": 1, "b": [{"x": 2, "y": 3}, 4]}
    assert document.where(("b", 0, "y")).endswith("a.yaml:4")
    assert document.where(("b", 1)).endswith("a.yaml:5")
    assert document.where(("b", 0, "missing")).endswith("a.yaml:3")


def test_anchors_and_merges_work(tmp_path):
    document = read(tmp_path, "base: &b {x: 1, y: 2}\nmore: &m\n  <<: *b\n  y: 3\nagain: *m\n")
    assert document.data["more"] == document.data["again"] == {"x": 1, "y": 3}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1\nb: 2\na: 3\n", r"a.yaml:3: 'a' is given twice \(first in line 1\)"),
        ("a: {b: 1, b: 2}\n", "a.yaml:1: 'b' is given twice"),
        ("h:\n  - rate: 1\n    rate: 2\n", "a.yaml:3: 'rate' is given twice"),
        ("a: [1\nb: 2\n", "a.yaml:2: is not YAML"),
        ("a: &x [*x]\n", "contains itself"),
        ("", "holds no keys"),
        ("- 1\n", "holds no keys"),
        ("1: 2\n", "the key 1 is not a name"),
        ("a: \x07\n", "is not YAML"),
        ("a: !!python/object:os.system x\n", "is not YAML"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, text, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    for name, complaint in (("none.yaml", "no such file"), ("latin.yaml", "UTF-8"), ("", "cannot be read")):
        with pytest.raises(InputError, match=complaint):
            read_yaml(tmp_path / name)


def test_the_nearest_name_is_offered():
    assert nearest("windw", ["window", "payload"]) == "did you mean 'window'?"
    assert nearest("zzz", ["window", "payload"]) == "known are payload, window"
