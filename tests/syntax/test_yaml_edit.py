"""YAML that is changed in place: what is said where, and every other byte as it was."""

import pytest

from nodrop.syntax.yaml_edit import (
    EditableYamlEntry,
    EditableYamlNode,
    compose_yaml,
    copy_node,
    data_to_node,
    dump_mappings,
    node_to_data,
    write_yaml,
)

TEXT = """\
# what stands above
- header:
    version: 1   # and beside
- set:
    a:
      b: one
      c: {d: 1, e: two}
      # about f
      f:
    ? a long key
    : g: 'x'
      h: y
"""


def at(node: EditableYamlNode, *path: str) -> EditableYamlNode:
    """The value at a path below `set`."""
    found = (node.items[1].entries or [])[0].value
    for key in path:
        (found,) = (entry.value for entry in found.entries or () if entry.key == key)
    return found


def entries(node: EditableYamlNode) -> list[EditableYamlEntry]:
    assert node.entries is not None
    return node.entries


def changed(tree: EditableYamlNode, text: str = TEXT) -> str:
    return write_yaml(text, tree, str, str)


def test_a_document_that_is_not_changed_is_written_as_it_was() -> None:
    tree = compose_yaml(TEXT)
    assert node_to_data(at(tree)) == {
        "a": {"b": "one", "c": {"d": "1", "e": "two"}, "f": None},
        "a long key": {"g": "x", "h": "y"},
    }
    assert changed(tree) == TEXT


def test_values_and_keys_change_in_their_places() -> None:
    tree = compose_yaml(TEXT)
    scalar = at(tree, "a", "b")
    scalar.text, scalar.raw = "three", None
    entries(at(tree))[1].key = "k"
    assert changed(tree) == TEXT.replace("b: one", "b: three").replace("? a long key", "? k")


def test_an_empty_value_is_filled() -> None:
    tree = compose_yaml(TEXT)
    empty = at(tree, "a", "f")
    empty.text, empty.raw = "new", None
    assert changed(tree) == TEXT.replace("f:\n", "f: new\n")
    tree = compose_yaml(TEXT)
    entries(at(tree, "a"))[2].value = data_to_node({"g": {"h": {}}})
    assert changed(tree) == TEXT.replace("      f:\n", "      f:\n        g:\n          h: {}\n")


def test_entries_come_before_between_and_behind_others() -> None:
    tree = compose_yaml(TEXT)
    inside = entries(at(tree, "a"))
    inside.insert(0, EditableYamlEntry("first", data_to_node("1")))
    inside.insert(2, EditableYamlEntry("second", data_to_node({"x": {}})))
    entries(at(tree, "a long key")).append(EditableYamlEntry("last", data_to_node("3")))
    assert changed(tree) == TEXT.replace("b: one\n", "first: 1\n      b: one\n      second:\n        x: {}\n").replace(
        "h: y\n", "h: y\n      last: 3\n"
    )


def test_entries_go_with_their_lines() -> None:
    tree = compose_yaml(TEXT)
    del entries(at(tree, "a"))[0]
    del entries(at(tree, "a long key"))[0]
    assert changed(tree) == TEXT.replace("      b: one\n", "").replace("g: 'x'\n      h: y", "h: y")


def test_what_is_left_without_entries_is_empty() -> None:
    tree = compose_yaml(TEXT)
    entries(at(tree, "a long key")).clear()
    assert changed(tree) == TEXT.replace("    ? a long key\n    : g: 'x'\n      h: y\n", "    a long key: {}\n")


def test_braces_stay_braces() -> None:
    tree = compose_yaml(TEXT)
    inside = entries(at(tree, "a", "c"))
    inside[0].value.text, inside[0].value.raw = "7", None
    assert changed(tree) == TEXT.replace("{d: 1, e: two}", "{d: 7, e: two}")
    inside.append(EditableYamlEntry("z", data_to_node({"y": "9"})))
    assert changed(tree) == TEXT.replace("{d: 1, e: two}", "{d: 7, e: two, z: {y: 9}}")


def test_an_alias_that_changes_is_written_out_and_one_that_does_not_stays() -> None:
    text = "a: &x\n  b: 1\nc: *x\nd: *x\n"
    tree = compose_yaml(text)
    value = entries(tree)[1].value
    entries(value).append(EditableYamlEntry("e", data_to_node("2")))
    assert write_yaml(text, tree, str, str) == "a: &x\n  b: 1\nc:\n  b: 1\n  e: 2\nd: *x\n"


def test_a_copy_is_spelt_as_what_it_is_a_copy_of() -> None:
    text = "a:\n  b: 'on'\n"
    tree = compose_yaml(text)
    entries(tree).append(EditableYamlEntry("c", copy_node(entries(tree)[0].value)))
    assert write_yaml(text, tree, str, str) == "a:\n  b: 'on'\nc:\n  b: 'on'\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_line_breaks_are_those_of_the_document(end: str) -> None:
    text = f"- a: 1{end}"
    tree = compose_yaml(text)
    entries(tree.items[0]).append(EditableYamlEntry("b", data_to_node("2")))
    tree.items.append(data_to_node({"c": {}}))
    mark = "\r\n" if end == "\r\n" else "\n"
    assert write_yaml(text, tree, str, str) == f"- a: 1{mark}  b: 2{mark}- c: {{}}{end}"


def test_new_documents_are_lists_of_mappings() -> None:
    assert dump_mappings([data_to_node({"unset": {"a": {}}}), data_to_node({"set": {"b": "1"}})], str, str) == (
        "- unset:\n    a: {}\n- set:\n    b: 1\n"
    )


def test_lines_in_braces_keep_their_layout() -> None:
    text = '[\n  {\n    "a": {"x": [1, 2]},\n    "b": "1",\n    "c": {}\n  }\n]\n'
    tree = compose_yaml(text)
    inside = entries(tree.items[0])
    del inside[1]
    inside.append(EditableYamlEntry("d", copy_node(inside[0].value)))
    inside[0].key = "k"
    spelt = write_yaml(text, tree, lambda key: f'"{key}"', str)
    assert spelt == '[\n  {\n    "k": {"x": [1, 2]},\n    "c": {},\n    "d": {"x": [1, 2]}\n  }\n]\n'
