"""Commands that are not understood where they stand: wrong there, or unknown."""

import pytest

from nodrop.platforms.frr.refused import explain_refused_command

PROCESS = ("router bgp 65001",)
SESSIONS = frozenset({"SPINES", "192.0.2.1"})
HAS_VALUES = "is modelled, and has values that FRR is not known to take"


@pytest.mark.parametrize(
    ("blocks", "command", "reason"),
    [
        ((), "zebra nexthop kernel enable", ""),
        ((), "router ospf", ""),
        (("router ospf",), "passive-interface default", ""),
        (PROCESS, "bgp dampening 15", ""),
        (PROCESS, "no bgp dampening", ""),
        (PROCESS, "neighbor SPINES addpath-tx-bestpath-per-AS", ""),
        ((*PROCESS, "address-family ipv4 unicast"), "neighbor 192.0.2.1 addpath-tx-all-paths", ""),
        ((), "maximum-paths 4", "belongs in `router bgp`"),
        ((), "no maximum-paths 4", "belongs in `router bgp`"),
        ((), "neighbor SPINES timers delayopen 5", "belongs in `router bgp`"),
        ((), "network 2001:db8::/32", "belongs in `address-family ipv6 unicast` of `router bgp`"),
        (PROCESS, "network 2001:db8::/32", "belongs in `address-family ipv6 unicast` of `router bgp`"),
        (PROCESS, "match tag 5", "belongs in `route-map`"),
        ((), "detect-multiplier 3", "belongs in `profile` of `bfd`"),
        (
            PROCESS,
            "neighbor 192.0.2.9 timers delayopen 5",
            "is about 192.0.2.9, which is no neighbor and no peer group",
        ),
        (PROCESS, "neighbor SPINES local-as 0", HAS_VALUES),
        (PROCESS, "bgp router-id x", HAS_VALUES),
        ((), "router bgp 65002", "opens another BGP process than the switch has"),
    ],
)
def test_a_command_is_refused_with_the_reason_or_unknown(blocks: tuple[str, ...], command: str, reason: str) -> None:
    said = explain_refused_command(blocks, command, SESSIONS)
    assert said.startswith(reason)
    assert bool(said) is bool(reason)
