"""Functions in the conditions of schema.yaml, which are those of XPath."""

import pytest

from nodrop.platforms.sonic.schema_conditions import ConditionTables, parse_condition

ROW = {"name": "Eth1/2.10", "vlan": 10, "absent-not": "", "many": ("a", "b"), "mode": "on"}
TABLES = ConditionTables(
    {
        "PORT": {"Ethernet1/2": {"speed": "9"}, "on": {"speed": "8"}},
        "MEMBER": {"x": {"port": "on", "tag-mode": "u"}, "y": {"port": "on"}, "z": {"tag-mode": "u", "port": "off"}},
    },
    lambda _table, _key, values: values or {},
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("row: before(name, '.') == 'Eth1/2'", True),
        ("row: before(name, '!') == ''", True),
        ("row: after(name, '.') == vlan", True),
        ("row: after(name, '!') == ''", True),
        ("row: after(absent, '.') == ''", True),
        ("row: starts(name, 'Eth')", True),
        ("row: starts(name, 'th')", False),
        ("row: part(name, 1, 3) == 'Eth'", True),
        ("row: part(name, 4, 1) == '1'", True),
        ("row: contains(name, '/')", True),
        ("row: length(name) == 9", True),
        ("row: PORT[concat('Ethernet', after(before(name, '.'), 'Eth'))]", True),
        ("row: PORT[name]", False),
        ("row: PORT[mode].speed == '8'", True),
        ("row: PORT[before(mode, 'n')].speed == '8'", False),
        ("row: count(many) == 2", True),
        ("row: count(mode) == 1", True),
        ("row: count(absent) == 0", True),
        ("row: rows(PORT) == 2", True),
        ("row: rows(NONE) == 0", True),
        ("row: rows(MEMBER, port=mode) == 2", True),
        ("row: rows(MEMBER, port=mode, tag_mode='u') == 1", True),
        ("row: rows(MEMBER, port='none') == 0", True),
        ("row: rows(MEMBER, tag_mode=absent) == 0", True),
        ("row: rows(NONE, port=mode) == 0", True),
        ("row: count(many, 'a') == 1", True),
        ("row: count(many, 'c') == 0", True),
        ("row: count(mode, 'on') == 1", True),
        ("row: count(absent, 'on') == 0", True),
        ("row: vlan in ('10', '11')", True),
        ("row: many in ('a', 'b')", False),
    ],
)
def test_a_function_returns_what_xpath_says(text: str, holds: bool) -> None:
    assert parse_condition(text).holds(ROW, TABLES) is holds


def test_a_condition_names_the_tables_and_fields_that_it_reads() -> None:
    condition = parse_condition("vlan: rows(DNS) > 0 and PORT[before(name, '.')]")
    assert (condition.subject, condition.tables, condition.names) == ("vlan", {"DNS", "PORT"}, {"name"})
