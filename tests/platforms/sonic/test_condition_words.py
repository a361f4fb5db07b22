"""Conditions of SONiC's schema in plain words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nodrop.platforms.sonic import condition_words
from nodrop.platforms.sonic.condition_words import describe_condition

SCHEMA = Path(condition_words.__file__).with_name("schema.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pir >= cir", "pir is at least cir"),
        ("cir and cir > 0", "cir is set and cir is above 0"),
        (
            "contains(a, ':') and contains(b, ':') or (contains(a, '.') and contains(b, '.'))",
            "a and b are of one address family",
        ),
        (
            "not PFC_WD.GLOBAL or detection_time >= PFC_WD.GLOBAL.POLL_INTERVAL",
            "detection_time is at least POLL_INTERVAL of PFC_WD GLOBAL if PFC_WD GLOBAL is set",
        ),
        (
            "contains(ip_prefix, ':') and family == 'IPv6' or (contains(ip_prefix, '.') and family == 'IPv4')",
            "ip_prefix is IPv6 and family is 'IPv6', or ip_prefix is IPv4 and family is 'IPv4'",
        ),
        ("not INTERFACE[port]", "INTERFACE has no row port"),
        ("rows(VLAN_MEMBER, port=port, tagging_mode='untagged') <= 1",
         "the number of VLAN_MEMBER rows with port port and tagging_mode 'untagged' is at most 1"),
        ("not rows(PORT, lag=port) > 0", "the number of PORT rows with lag port is at most 0"),
        ("count(adv_speeds, 'all') == 0 or count(adv_speeds) == 1",
         "the number of values of adv_speeds that are 'all' is 0 or the number of values of adv_speeds is 1"),
        ("PACKET_ACTION in ('DROP', 'FORWARD')", "PACKET_ACTION is one of 'DROP', 'FORWARD'"),
    ],
)  # fmt: skip
def test_words(text: str, words: str) -> None:
    assert describe_condition(text) == words


def test_no_shipped_condition_keeps_its_notation() -> None:
    texts = [re.split(r" when |: ", line, maxsplit=1)[1] for line in _conditions(YAML(typ="safe").load(SCHEMA))]
    assert len(texts) > 100
    for text in texts:
        words = re.sub(r"'[^']*'", "", describe_condition(text))
        assert not re.search(r"==|!=|>=|<=|[<>()\[]", words), text


def _conditions(node: object) -> Iterator[str]:
    """The conditions that a schema has, of all releases."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from value if key == "must" else _conditions(value)
