"""Members of a port channel that treat traffic unlike the others: who is odd, and in what."""

from support.analysis_results import look

TWO = {"leaf1/@port_channels/PortChannel1": {"members": ["Ethernet0", "Ethernet8"]}}
THREE = {"leaf1/@port_channels/PortChannel1": {"members": ["Ethernet0", "Ethernet8", "Ethernet16"]}}


def said(changes: dict[str, object]) -> dict[str, tuple[object, ...]]:
    """Who is odd: its words, and those of another member."""
    found = look("port_channel_members", changes)
    return {key: (each["aspect"], each["own"], each["sibling_port"], each["usual"]) for key, each in found.items()}


def test_of_two_the_first_is_right_and_of_three_the_most() -> None:
    assert said(TWO) == {}
    odd = {"leaf1/Ethernet0/qos/dscp_to_tc/10": 0}
    maps, usual = "maps DSCP 10 to traffic class 0", "maps DSCP 10 to traffic class 2"
    assert said(TWO | odd) == {"leaf1/Ethernet8": ("classification", usual, "Ethernet0", maps)}
    assert said(THREE | odd) == {"leaf1/Ethernet0": ("classification", maps, "Ethernet8", usual)}


def test_pause_the_watchdogs_mask_and_action_and_queues_are_compared() -> None:
    changes = {"leaf1/Ethernet8/qos/pfc_rx_priorities": [3, 4]}
    assert said(TWO | changes)["leaf1/Ethernet8"][:2] == ("pause", "obeys pause on priority 3, 4")
    changes = {"leaf1/Ethernet8/qos/priority_groups/3": None}
    assert said(TWO | changes)["leaf1/Ethernet8"][:2] == ("pause", "has headroom in no priority group")
    changes = {"leaf1/Ethernet8/qos/pfc_watchdog/priorities": [4]}
    assert said(TWO | changes)["leaf1/Ethernet8"][:2] == ("watchdog", "has a watchdog of priority 4")
    forward = {"leaf1/Ethernet8/qos/pfc_watchdog/action": "forward"}
    assert said(TWO | forward)["leaf1/Ethernet8"][:2] == ("watchdog", "has watchdog action forward")
    changes = {"leaf1/Ethernet8/qos/tc_to_queue/1": 0}
    assert said(TWO | changes)["leaf1/Ethernet8"][:2] == ("scheduling", "maps traffic class 1 to queue 0")


def test_times_a_missing_watchdog_ports_that_are_shut_and_what_is_not_known_are_not() -> None:
    assert said(TWO | {"leaf1/Ethernet8/qos/pfc_watchdog/detection_ms": 400}) == {}
    assert said(TWO | {"leaf1/Ethernet8/qos/pfc_watchdog": None}) == {}
    assert said(TWO | {"leaf1/Ethernet8/enabled": False, "leaf1/Ethernet8/qos/dscp_to_tc/10": 0}) == {}
    assert said(TWO | {"leaf1/Ethernet8/qos/dscp_to_tc": "unknown"}) == {}
