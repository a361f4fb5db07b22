"""Commands of FRR: the lines of several findings in one sequence, each in the context that it needs."""

from nodrop.fix_commands import _fold_commands_over_ports
from nodrop.platforms.frr.command_lines import drop_openings_of_open_context

ROUTER, EXIT = "router bgp", "exit-address-family"


def _block(family: str, prefix: str) -> list[str]:
    return [ROUTER, f"address-family {family} unicast", f"network {prefix}", EXIT]


def test_each_network_statement_stays_in_its_address_family() -> None:
    blocks = [(_block("ipv4", "10.0.0.1/32")), (_block("ipv6", "fd00::1/128")), (_block("ipv4", "10.0.0.2/32"))]
    lines = [line for block in blocks for line in block]
    joined = [ROUTER, *(line for line in lines if line != ROUTER)]
    assert list(drop_openings_of_open_context(lines)) == joined
    assert list(_fold_commands_over_ports("frr", [("\n".join(block), "") for block in blocks])) == joined


def test_a_context_that_was_left_is_opened_again() -> None:
    lines = (
        ROUTER,
        "no neighbor swp1 shutdown",
        "no ip route 10.0.0.0/8 blackhole",
        ROUTER,
        "bgp suppress-fib-pending",
    )
    assert drop_openings_of_open_context(lines) == lines
    entries = ("route-map A permit 10", "no set community", "route-map A permit 20", "no set community")
    assert drop_openings_of_open_context(entries) == entries
