"""Lines of FRR that change no session, no route and no forwarding: the list that a reader ignores.

A line is in the model, on this list, or unknown: its effect is not known, and the run reports that. Each row has the
reason and its source in FRR. A nightly test adds and removes every example in running FRR, starts FRR with all of them
and without, and compares tables and sessions.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from nodrop.platforms.frr.commands import CommandForm, command_form_of_context

BlockKind = Literal["top", "process", "session", "interface", "vrf", "bfd profile"]
"""Where a line stands; those of a session follow `neighbor NAME`, and address families take them too."""


class HarmlessLine(NamedTuple):
    """A harmless line.

    `*` is any word, `[*]` one that may be missing, `...` any words to the end; a block that it opens is ignored.
    `takes_no` is whether the line with `no` is harmless, too, and `takes_line` whether that without is. `example` is
    the line as a test gives it to FRR.
    """

    block: BlockKind
    line: str
    because: str
    source: str
    example: str = ""
    takes_no: bool = True
    takes_line: bool = True

    @property
    def example_command(self) -> str:
        """The line as a test gives it to FRR, without its block."""
        return self.example or self.line


_LOGGING_REASON = "it decides what is logged, and where"
_TERMINAL_REASON = "it is about terminals of the daemons"
_TIMING_ONLY_REASON = "it changes when routes are sent or computed, not which"
_STORED_ROUTES_REASON = "it keeps routes as they were received, for `show` and soft resets"
_GRACEFUL_RESTART_REASON = "it counts while BGP restarts; a session that is up has the same routes"
_SHOW_OUTPUT_REASON = "it changes what `show` prints"
_VTYSH_BANNER_REASON = "vtysh prints it above a configuration"

_HARMLESS_COMMANDS: tuple[HarmlessLine, ...] = (
    # Of no block
    HarmlessLine("top", "log ...", _LOGGING_REASON, "lib/log_vty.c", "log timestamp precision 3"),
    HarmlessLine("top", "debug ...", _LOGGING_REASON, "bgpd/bgp_debug.c, zebra/debug.c", "debug bgp updates"),
    HarmlessLine("top", "service ...", _TERMINAL_REASON, "lib/command.c (service_cmd)", "service advanced-vty"),
    HarmlessLine("top", "line ...", _TERMINAL_REASON, "lib/vty.c (line_vty_cmd)", "line vty"),
    HarmlessLine("top", "banner ...", _TERMINAL_REASON, "lib/command.c (banner_motd_cmd)", "banner motd line welcome"),
    HarmlessLine(
        "top", "password ...", _TERMINAL_REASON, "lib/command.c (config_password_cmd)", "password 8 abcdefghijklm"
    ),
    HarmlessLine(
        "top",
        "enable ...",
        _TERMINAL_REASON,
        "lib/command.c (config_enable_password_cmd)",
        "enable password 8 abcdefghijk",
    ),
    HarmlessLine(
        "top", "username ...", _TERMINAL_REASON, "vtysh/vtysh_user.c (username_cmd)", "username admin nopassword"
    ),
    HarmlessLine("top", "hostname ...", "it is a name", "lib/command.c (hostname_cmd)", "hostname other"),
    HarmlessLine("top", "domainname ...", "it is a name", "lib/command.c (domainname_cmd)", "domainname example.net"),
    HarmlessLine("top", "agentx", "it connects FRR to an SNMP agent, which only reads", "lib/agentx.c"),
    HarmlessLine("top", "Building ...", _VTYSH_BANNER_REASON, "vtysh/vtysh.c (vtysh_write_terminal)"),
    HarmlessLine("top", "Current ...", _VTYSH_BANNER_REASON, "vtysh/vtysh.c (vtysh_write_terminal)"),
    HarmlessLine(
        "top",
        "allow-external-route-update",
        "it lets other programs replace routes of the kernel; FRR's own routes are the same",
        "zebra/zebra_vty.c (allow_external_route_update_cmd)",
    ),
    HarmlessLine(
        "top",
        "fpm ...",
        "it is how zebra hands over the routes that it has chosen",
        "zebra/dplane_fpm_nl.c (fpm_set_address_cmd)",
        "fpm address 127.0.0.1",
    ),
    HarmlessLine(
        "top",
        "zebra nexthop-group keep *",
        "it is how long zebra keeps groups that no route uses",
        "zebra/zebra_vty.c (nexthop_group_keep)",
        "zebra nexthop-group keep 1",
    ),
    HarmlessLine(
        "top",
        "bgp update-delay ...",
        _TIMING_ONLY_REASON,
        "bgpd/bgp_vty.c (bgp_global_update_delay_config_vty, of no block: inside one it ends the block)",
        "bgp update-delay 10",
    ),
    HarmlessLine(
        "top",
        "zebra route-map delay-timer *",
        _TIMING_ONLY_REASON,
        "zebra/zebra_routemap.c",
        "zebra route-map delay-timer 5",
    ),
    HarmlessLine(
        "top",
        "zebra work-queue *",
        _TIMING_ONLY_REASON,
        "zebra/zebra_vty.c (zebra_workqueue_timer)",
        "zebra work-queue 20",
    ),
    HarmlessLine(
        "top",
        "zebra zapi-packets *",
        _TIMING_ONLY_REASON,
        "zebra/zebra_vty.c (zebra_packet_process)",
        "zebra zapi-packets 100",
    ),
    HarmlessLine(
        "top",
        "zebra dplane limit *",
        _TIMING_ONLY_REASON,
        "zebra/zebra_vty.c (zebra_dplane_queue_limit)",
        "zebra dplane limit 200",
    ),
    *(
        HarmlessLine(
            "top",
            f"{family} nht resolve-via-default",
            "next hops of sessions over a link are in a subnet of that link, before any default route",
            "zebra/zebra_rnh.c (rnh_resolve_via_default)",
        )
        for family in ("ip", "ipv6")
    ),
    *(
        HarmlessLine(
            "top",
            f"{family} forwarding",
            "a switch forwards already",
            "zebra/ipforward_proc.c",
            takes_no=False,
        )
        for family in ("ip", "ipv6")
    ),
    # Of interfaces
    HarmlessLine(
        "interface", "description ...", "it is a text", "zebra/interface.c (description)", "description to leaf1"
    ),
    HarmlessLine(
        "interface",
        "link-detect",
        "it is the default: a link without carrier is down",
        "zebra/interface.c (linkdetect_cmd)",
        takes_no=False,
    ),
    HarmlessLine(
        "interface",
        "ipv6 nd suppress-ra",
        "bgpd has zebra send router advertisements for a session over an interface in any case",
        "bgpd/bgp_zebra.c (bgp_zebra_initiate_radv), zebra/rtadv.c (zebra_interface_radv_set)",
    ),
    *(
        HarmlessLine(
            "interface",
            f"ipv6 nd {words} *",
            "every advertisement names the address of the link, however often it comes and how long it is valid",
            "zebra/rtadv.c (rtadv_process_advert)",
            f"ipv6 nd {words} {value}",
        )
        for words, value in (("ra-interval", 10), ("ra-lifetime", 1800), ("reachable-time", 30000))
    ),
    HarmlessLine(
        "interface",
        "ipv6 nd ra-fast-retrans",
        "it is how often advertisements are sent",
        "zebra/rtadv.c (ipv6_nd_ra_fast_retrans)",
    ),
    # Of BGP processes
    HarmlessLine(
        "process", "bgp log-neighbor-changes", _LOGGING_REASON, "bgpd/bgp_vty.c (bgp_log_neighbor_changes_cmd)"
    ),
    HarmlessLine(
        "process", "bgp default show-hostname", _SHOW_OUTPUT_REASON, "bgpd/bgp_vty.c (bgp_default_show_hostname_cmd)"
    ),
    HarmlessLine(
        "process",
        "bgp default show-nexthop-hostname",
        _SHOW_OUTPUT_REASON,
        "bgpd/bgp_vty.c (bgp_default_show_nexthop_hostname_cmd)",
    ),
    HarmlessLine(
        "process",
        "bgp graceful-restart ...",
        _GRACEFUL_RESTART_REASON,
        "bgpd/bgp_fsm.c (bgp_graceful_restart_timer_expire)",
        "bgp graceful-restart stalepath-time 300",
    ),
    HarmlessLine(
        "process",
        "bgp graceful-restart-disable",
        _GRACEFUL_RESTART_REASON,
        "bgpd/bgp_vty.c (bgp_graceful_restart_disable_cmd)",
    ),
    HarmlessLine(
        "process",
        "bgp hard-administrative-reset",
        "it is how a session is reset by hand",
        "bgpd/bgp_vty.c (bgp_administrative_reset_cmd)",
    ),
    HarmlessLine(
        "process",
        "bgp suppress-duplicates",
        "it leaves out updates that say what was said before",
        "bgpd/bgp_packet.c (bgp_adj_out_set_subgroup)",
    ),
    HarmlessLine(
        "process",
        "bgp deterministic-med",
        "routes of one AS are compared before others, as nodrop computes them",
        "bgpd/bgp_route.c (bgp_best_selection)",
        takes_no=False,
    ),
    HarmlessLine(
        "process",
        "bgp fast-external-failover",
        "it is whether a session ends with its link at once, or after its hold time",
        "bgpd/bgp_zebra.c (bgp_ifp_down)",
    ),
    *(
        HarmlessLine("process", f"{words} ...", _TIMING_ONLY_REASON, source, f"{words} {values}")
        for words, values, source in (
            ("update-delay", "10", "bgpd/bgp_vty.c (bgp_update_delay_config_vty)"),
            ("bgp route-map delay-timer", "3", "bgpd/bgp_vty.c (bgp_set_route_map_delay_timer)"),
            ("coalesce-time", "1000", "bgpd/bgp_vty.c (bgp_coalesce_config_vty)"),
            ("read-quanta", "10", "bgpd/bgp_vty.c (bgp_rpkt_quanta_config_vty)"),
            ("write-quanta", "64", "bgpd/bgp_vty.c (bgp_wpkt_quanta_config_vty)"),
        )
    ),
    HarmlessLine(
        "process",
        "bgp listen limit *",
        "it bounds sessions that a listen range opens, which is an unknown line itself",
        "bgpd/bgpd.c (peer_lookup_dynamic_neighbor)",
        "bgp listen limit 200",
    ),
    HarmlessLine(
        "process",
        "bmp ...",
        "it sends copies of routes to a monitoring station",
        "bgpd/bgp_bmp.c",
        "bmp targets collector",
    ),
    # Of profiles of BFD
    *(
        HarmlessLine(
            "bfd profile",
            f"{words} *",
            "it is how fast BFD notices that a path is lost",
            "bfdd/bfdd_cli.c",
            f"{words} {value}",
        )
        for words, value in (
            ("detect-multiplier", 3),
            ("receive-interval", 300),
            ("transmit-interval", 300),
            ("echo-interval", 50),
            ("echo transmit-interval", 50),
            ("echo receive-interval", 50),
        )
    ),
    # Of sessions
    HarmlessLine(
        "session",
        "timers connect *",
        "it is how long bgpd waits before it tries again",
        "bgpd/bgp_fsm.c (bgp_connect_check)",
        "timers connect 5",
    ),
    HarmlessLine(
        "session",
        "timers delayopen *",
        "it is how long bgpd waits before it sends OPEN",
        "bgpd/bgp_fsm.c (bgp_delayopen_timer)",
        "timers delayopen 2",
    ),
    HarmlessLine(
        "session", "advertisement-interval *", _TIMING_ONLY_REASON, "bgpd/bgp_updgrp_adv.c", "advertisement-interval 1"
    ),
    HarmlessLine(
        "session",
        "soft-reconfiguration ...",
        _STORED_ROUTES_REASON,
        "bgpd/bgp_route.c (bgp_update)",
        "soft-reconfiguration inbound",
    ),
    *(
        HarmlessLine("session", words, _GRACEFUL_RESTART_REASON, "bgpd/bgp_fsm.c (bgp_neighbor_graceful_restart)")
        for words in ("graceful-restart", "graceful-restart-helper", "graceful-restart-disable")
    ),
    HarmlessLine(
        "session",
        "enforce-first-as",
        "FRR prepends its own AS number to each route to another AS, except for clients of a route server",
        "bgpd/bgp_attr.c (bgp_packet_attribute, bgp_attr_aspath_check)",
    ),
    HarmlessLine(
        "session",
        "capability dynamic",
        "both ends change capabilities without a reset; the session starts the same",
        "bgpd/bgp_packet.c (bgp_capability_receive)",
    ),
    HarmlessLine(
        "session",
        "send-community ...",
        "all communities are sent by default",
        "bgpd/bgpd.c (peer_create)",
        "send-community both",
        takes_no=False,
    ),
    HarmlessLine(
        "session",
        "maximum-prefix * warning-only",
        _LOGGING_REASON,
        "bgpd/bgp_route.c (bgp_maximum_prefix_overflow)",
        "maximum-prefix 100 warning-only",
    ),
    HarmlessLine(
        "session",
        "maximum-prefix * * warning-only",
        _LOGGING_REASON,
        "bgpd/bgp_route.c (bgp_maximum_prefix_overflow)",
        "maximum-prefix 100 80 warning-only",
    ),
    *(
        HarmlessLine(
            "session",
            line,
            "with `no` it takes back what another line sets; without such a line it is the default",
            "bgpd/bgpd.c (peer_flag_modify, peer_af_flag_modify)",
            example,
            takes_line=False,
        )
        for line, example in (
            ("dont-capability-negotiate", ""),
            ("override-capability", ""),
            ("strict-capability-match", ""),
            ("capability orf prefix-list *", "capability orf prefix-list both"),
            ("attribute-unchanged ...", "attribute-unchanged next-hop"),
            ("nexthop-local unchanged", ""),
            ("route-server-client", ""),
        )
    ),
)


class _HarmlessLinesByFirstWord:
    """The rows of a block by the first word of their lines."""

    def __init__(self, rows: Iterable[HarmlessLine]) -> None:
        self._rows: dict[str, list[tuple[CommandForm, HarmlessLine]]] = {}
        for row in rows:
            self._rows.setdefault(row.line.split()[0], []).append((command_form_of_context(row.line), row))

    def row(self, words: Sequence[str], *, on: bool) -> HarmlessLine | None:
        """Return the row of a line; `words` are its words without `no`."""
        for command_form, row in self._rows.get(words[0], ()) if words else ():
            if (row.takes_line if on else row.takes_no) and command_form.values_of_command(
                words, is_enabled=on
            ) is not None:
                return row
        return None


def harmless_rows() -> tuple[HarmlessLine, ...]:
    """Return the whole list."""
    return _HARMLESS_COMMANDS


@lru_cache(maxsize=1)
def _harmless_indexes() -> Mapping[BlockKind, _HarmlessLinesByFirstWord]:
    blocks: dict[BlockKind, list[HarmlessLine]] = {}
    for row in _HARMLESS_COMMANDS:
        blocks.setdefault(row.block, []).append(row)
    return {block: _HarmlessLinesByFirstWord(block_rows) for block, block_rows in blocks.items()}


@lru_cache(maxsize=4096)
def find_harmless_row(block: BlockKind, words: tuple[str, ...], on: bool) -> HarmlessLine | None:
    """Return the row of a line in a block; `words` are its words without `no`. None where it is not harmless."""
    index = _harmless_indexes().get(block)
    return None if index is None else index.row(words, on=on)
