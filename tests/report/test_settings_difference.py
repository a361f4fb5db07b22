"""What differs between files of a switch, setting by setting."""

import json

from nodrop.report.settings_difference import diff_settings

FILE = "leaf1/config_db.json"


def of_json(before: object, after: object) -> list[str]:
    return diff_settings({FILE: json.dumps(before)}, {FILE: json.dumps(after)}, "sonic")[1:]


def of_yaml(before: str, after: str) -> list[str]:
    return diff_settings({"a/startup.yaml": f"- set:\n{before}"}, {"a/startup.yaml": f"- set:\n{after}"}, "nvue")[1:]


def test_equal_files_differ_in_nothing() -> None:
    assert diff_settings({"a": "x\n"}, {"a": "x\n"}, "sonic") == []


def test_a_changed_setting_goes_and_comes_with_its_path() -> None:
    assert of_json({"PORT": {"e0": {"speed": "1"}}}, {"PORT": {"e0": {"speed": "2"}}}) == [
        "- PORT e0 speed: 1",
        "+ PORT e0 speed: 2",
    ]


def test_changes_that_differ_in_numbers_are_shown_once() -> None:
    old, new = ({"PORT": {f"e{number}": {"mtu": mtu} for number in range(3)}} for mtu in ("9216", "1500"))
    assert of_json(old, new) == ["- PORT e0 mtu: 9216", "+ PORT e0 mtu: 1500", "  (and 2 more that differ in numbers)"]


def test_a_name_that_settings_refer_to_is_no_change_by_itself() -> None:
    old, new = ({"P": {name: {"min": "1"}}, "Q": {"e0": {"p": name}}} for name in ("low", "high"))
    assert of_json(old, new) == ["  (low has the name high)"]


def test_a_row_with_another_key_that_nothing_refers_to_is_a_change() -> None:
    assert of_json({"PG": {"e0|3": {"p": "x"}}}, {"PG": {"e0|3-4": {"p": "x"}}}) == [
        "- PG e0|3 p: x",
        "+ PG e0|3-4 p: x",
    ]


def test_ranges_of_ports_are_compared_port_by_port() -> None:
    before = "    interface:\n      swp1-3: {link: {mtu: 9216}}\n"
    after = "    interface:\n      swp1: {link: {mtu: 1500}}\n      swp2-3: {link: {mtu: 9216}}\n"
    assert of_yaml(before, after) == ["- interface swp1 link mtu: 9216", "+ interface swp1 link mtu: 1500"]


def test_a_port_in_two_ranges_has_the_settings_of_both() -> None:
    before = "    interface:\n      swp1-3: {link: {mtu: 9216}}\n      swp1: {type: swp}\n"
    after = "    interface:\n      swp1: {type: swp, link: {mtu: 9216}}\n      swp2-3: {link: {mtu: 9216}}\n"
    assert of_yaml(before, after) == []


def test_other_files_are_compared_line_by_line_and_a_new_one_is_named() -> None:
    assert diff_settings({"a.conf": "x\n y 1\n"}, {"a.conf": "x\n y 2\n", "b.sh": "z\n"}, "sonic") == [
        "@@ a.conf",
        "- y 1",
        "+ y 2",
        "@@ b.sh",
        "+ the whole file",
    ]


def test_a_file_that_cannot_be_read_is_compared_line_by_line() -> None:
    assert of_yaml("    a: 1\n", "    a: 1\n    b: [\n") == ["+ b: ["]
