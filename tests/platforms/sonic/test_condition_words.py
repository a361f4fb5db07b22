"""Conditions of SONiC's schema in plain words."""

import pytest

from nodrop.platforms.sonic.condition_words import describe_condition


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pir >= cir", "pir is at least cir"),
        ("cir and cir > 0", "cir is set and cir is above 0"),
        (
            "contains(ip_prefix, ':') and contains(gwaddr, ':') or (contains(ip_prefix, '.') and contains(gwaddr, '.'))",
            "gwaddr and ip_prefix are of one address family",
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
        ("not rows(MIRROR_SESSION, dst_port=port) > 0", "the number of MIRROR_SESSION rows with dst_port port is at most 0"),
        ("count(adv_speeds, 'all') == 0 or count(adv_speeds) == 1",
         "the number of values of adv_speeds that are 'all' is 0 or the number of values of adv_speeds is 1"),
        ("PACKET_ACTION in ('DROP', 'FORWARD')", "PACKET_ACTION is one of 'DROP', 'FORWARD'"),
    ],
)  # fmt: skip
def test_words(text: str, words: str) -> None:
    assert describe_condition(text) == words
