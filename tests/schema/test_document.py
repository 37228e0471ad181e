import gc
import time

import pytest
import yaml

from netcarlo.errors import MAX_LINE, InputError, suggest
from netcarlo.schema.document import read_value, read_yaml, yaml_text


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
        ("", "has no keys"),
        ("- 1\n", "has no keys"),
        ("1: 2\n", "the key 1 is not a name"),
        ("a: \x07\n", "is not YAML"),
        ("a: !!python/object:os.system x\n", "is not YAML"),
        ("a:\n  b: !!int abc\n", r"a.yaml:2: is not YAML \('abc' is not !!int\); remove !!int"),
        ("a: !!bool maybe\n", "'maybe' is not !!bool"),
        ('a: !!int ""\n', "is not !!int"),
        ("a: !!timestamp x\n", "the tag !!timestamp has no meaning here"),
        ("a: !!binary aGVsbG8=\n", "the tag !!binary has no meaning here"),
        ("a: !!set {b}\n", "the tag !!set has no meaning here"),
        ("a: {<<: 5}\n", "a.yaml:1: << needs a mapping"),
        ("a: &x {<<: *x}\n", "contains itself"),
        ('a: "\\udcff"\n', "invalid Unicode character"),
        ('a: "\\0"\n', "has an invalid character"),
        ("? [a]\n: b\n", "the key is not a name"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, text, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_long_numbers_and_deep_lists_are_refused_with_the_line(tmp_path):
    with pytest.raises(InputError, match=r"a.yaml:2: a number has 4301 characters; expected 1 to 200"):
        read(tmp_path, "a: 1\nb: " + "9" * 4301 + "\n")
    with pytest.raises(InputError, match=r"a.yaml:2: is nested more than 100 levels deep; reduce"):
        read(tmp_path, "a:\n  " + "[" * 3000)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    for name, complaint in (("none.yaml", "no such file"), ("latin.yaml", "UTF-8"), ("", "cannot be read")):
        with pytest.raises(InputError, match=complaint):
            read_yaml(tmp_path / name)


def test_the_nearest_name_is_offered():
    assert suggest("windw", ["window", "payload"]) == "did you mean 'window'?"
    assert suggest("zzz", ["window", "payload"]) == "known: payload, window"


VALUES = {
    "true": True, "False": False, "on": "on", "off": "off", "yes": "yes", "No": "No", "y": "y",
    "null": None, "~": None, "": None, "12": 12, "-3": -3, "010": 10, "0o10": 8, "0x1F": 31, "0b1": "0b1",
    "1_000": "1_000", "1:30": "1:30", "0x_": "0x_", "2001-99-99": "2001-99-99", "2001-01-01": "2001-01-01",
    "1.5": 1.5, ".5": 0.5, "1e3": 1000.0, "-1.e-3": -0.001, ".inf": float("inf"), "=": "=", "1 %": "1 %",
    "!!str 12": "12", "!!float 3": 3.0, "'12'": "12",
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_values_are_those_of_yaml_1_2(tmp_path, text):
    value = VALUES[text]
    for found in (read_value(text), read(tmp_path, f"a: {text}\n").data["a"]):
        assert found == value and type(found) is type(value)


def test_words_that_were_booleans_are_names(tmp_path):
    assert read(tmp_path, "on: 1 s\noff: 2 s\nno: {yes: 3}\n").data == {
        "on": "1 s",
        "off": "2 s",
        "no": {"yes": 3},
    }


def test_what_is_written_reads_back_by_the_rules_of_1_1_and_of_1_2(tmp_path):
    texts = [*VALUES, "a: b", "#", "ü", "\x1b[1m", "a\nb", "x" * 300]
    data = {"on": texts, "numbers": [1, -2, 0.1, 1e-9, 1e300, True, None], "1e3": {}, "0o7": [], "": {"~": 1}}
    written = yaml_text(data)
    assert read(tmp_path, written).data == data
    assert yaml.safe_load(written) == data


@pytest.mark.full
def test_aliases_make_no_bombs(tmp_path):
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
    bomb += "".join(f"a{k}: &a{k} [{','.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 9))
    merges = "b0: &b0 {x: 1}\n" + "".join(f"b{k}: &b{k} {{<<: *b{k - 1}, k{k}: 1}}\n" for k in range(1, 2000))
    started = time.process_time()
    for text in (bomb, merges):
        with pytest.raises(InputError, match=r"a.yaml:\d+: has more than 200000 keys and values"):
            read(tmp_path, text)
    assert time.process_time() - started < 15


@pytest.mark.full
def test_the_time_to_read_a_file_grows_with_its_length(tmp_path):
    """A file four times as long takes less than eight times as long; time in proportion to the square of
    the length would be 16 times."""
    stops = ", ".join(f"{{time: {k} s, x: {k} m}}" for k in range(400))

    def took(nodes: int) -> float:
        gc.collect()
        gc.disable()  # its time grows with all that earlier tests have left
        try:
            started = time.process_time()
            assert len(read(tmp_path, "nodes:\n" + nodes * f"- [{stops}]\n").data["nodes"]) == nodes
            return time.process_time() - started
        finally:
            gc.enable()

    assert min(took(32) for _ in range(2)) < 8 * min(took(8) for _ in range(3))
    with pytest.raises(InputError, match=r"a.yaml:\d+: has more than 200000 keys and values; write fewer"):
        read(tmp_path, "nodes:\n" + 300 * f"- [{stops}]\n")


def test_values_of_the_command_line_are_bounded_too():
    refused = {"[" * 3000: "more than 100 levels deep", "!!int abc": "is not !!int", "9" * 4301: "4301 char",
               "\udcff": "is not a YAML value"}  # fmt: skip
    for text, complaint in refused.items():
        with pytest.raises(InputError, match=complaint):
            read_value(text)


def test_endless_files_and_names_that_none_can_have_are_refused():
    with pytest.raises(InputError, match="/dev/zero: is not a regular file"):
        read_yaml("/dev/zero")
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(InputError, match="cannot be read"):
            read_yaml(name)


def test_a_message_is_never_much_longer_than_a_line():
    message = str(InputError("field = " + "x" * 50_000 + " is wrong; write 1"))
    assert len(message) <= MAX_LINE and message.startswith("field = x") and message.endswith("write 1")
