"""Batfish's comments on lines that it does not read, and the lines among them that do not affect the checked items.

A line that neither Batfish nor nodrop reads makes an answer worthless. A line that nodrop reads is followed: the
routing without it is compared with the routing with it (blind.py). The remaining lines are listed here, each with the
reason why it changes neither a session, nor a route, nor the destination of packets.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from nodrop.model.reading import FilePlace
from nodrop.routing.observation import RefusedLine
from nodrop.validating.batfish.names import NodeNames
from nodrop.validating.batfish.service import AnswerRow


class HarmlessLine(NamedTuple):
    """Lines that do not matter, as a regular expression, and why."""

    line: str
    because: str


HARMLESS_LINES: Final = (
    HarmlessLine(r"exit|end|exit-.*|line .*|!.*", "it ends a block, which Batfish knows by what follows"),
    HarmlessLine(r"frr .*|hostname .*|log .*|service .*|debug .*|banner .*|password .*|agentx|username .*",
             "it is about the daemon and its log, not about routes"),
    HarmlessLine(r"(no )?(zebra|fpm|ip nht|ipv6 nht|ipv6 forwarding) ?.*|ip forwarding",
             "it controls how routes reach the kernel, or next hops without a link"),
    HarmlessLine(r"bgp community-list standard \S+ permit graceful-shutdown",
             "a route has the community only where another line, which is named, sets it"),
    HarmlessLine(r"bgp session-dscp .*", "it marks the packets of the sessions"),
    HarmlessLine(r"no bgp ebgp-requires-policy", "Batfish never asks for policies"),
    HarmlessLine(r"no bgp network import-check", "Batfish announces networks without asking for a route"),
    HarmlessLine(r"bgp graceful-restart.*|bgp (select-defer-time|rib-stale-time).*"
             r"|.*graceful-restart(-helper|-disable)?",
             "it is about a daemon that comes back, not about a fabric at rest"),
    HarmlessLine(r"(no )?bgp (fast-external-failover|fast-convergence|conditional-advertisement .*|coalesce-time .*"
             r"|update-delay .*|minimum-holdtime .*|default-originate timer .*|tcp-keepalive .*)",
             "it is about how soon, not about what"),
    HarmlessLine(r"(no )?bgp suppress-(duplicates|fib-pending)( .*)?", "it is about when an update is sent"),
    HarmlessLine(r"(no )?bgp (default show-.*|log-neighbor-changes|snmp .*)", "it is about what is shown"),
    HarmlessLine(r"(no )?bgp (input|output)-queue-limit .*|(read|write)-quanta .*", "it is about queues of the daemon"),
    HarmlessLine(r"(no )?bgp lu-vpn-.*|(no )?bgp retain route-target.*",
             "it is about VPN routes, which are not asked for"),
    HarmlessLine(r"address-family (l2vpn )?evpn", "EVPN routes are not computed, which is stated"),
    HarmlessLine(r"neighbor \S+ (capability (dynamic|extended-nexthop|fqdn|software-version).*|tcp-mss .*)",
             "it is about how the session is opened"),
    HarmlessLine(r"neighbor \S+ (soft-reconfiguration .*|send-community (both|all|large|extended)"
             r"|maximum-prefix-out .*)",
             "standard communities are passed on with it or without it"),
    HarmlessLine(r"ipv6 (route|prefix-list|nd|protocol) .*|(no )?ipv6 .*|v6only.*", "IPv6 is not asked of Batfish"),
    HarmlessLine(r"bfd|profile \S+|peer \S+.*|(no )?(detect-multiplier|receive-interval|transmit-interval|echo-mode|"
             r"minimum-ttl|passive-mode|echo .*interval).*", "BFD only tells a failure sooner"),
)  # fmt: skip
"""FRR's commands that Batfish 0.36 does not know (its parser `frr`, which SONiC and Cumulus share)."""

HARMLESS_ISSUES: Final = (
    HarmlessLine(r"vni \d+ for vrf \S+ does not exist", "EVPN routes are not computed, which is stated"),
)
"""What Batfish 0.36 says of parts of a device, as whole texts, where it does not matter."""

_COMPILED_HARMLESS_ISSUES = [re.compile(harmless_line.line) for harmless_line in HARMLESS_ISSUES]
_REASON_BY_HARMLESS_PATTERN = [
    (re.compile(harmless_line.line), harmless_line.because) for harmless_line in HARMLESS_LINES
]
_IGNORED_ISSUE_KINDS: Final = ("Parse warning", "Parse warning (unimplemented)", "Convert warning (unimplemented)")
"""Kinds of issues that are told line by line elsewhere, or of tables that are handed over on no account."""

SkippedLines = Mapping[str, Mapping[int, str]]
"""By file of the snapshot, the lines that Batfish did not read."""
IsLineReadByNodrop = Callable[[str, int], bool]
"""Whether nodrop reads a line of a file of the snapshot, so that it is known what hangs on it."""


def why_line_is_harmless(line: str) -> str:
    """Why a line does not matter; "" where it may."""
    text = " ".join(line.split())
    return next((because for pattern, because in _REASON_BY_HARMLESS_PATTERN if pattern.fullmatch(text)), "")


def skipped_lines_of_parse_warnings(warnings: Iterable[AnswerRow]) -> SkippedLines:
    """Return the lines that were not read (`parseWarning`)."""
    comments_by_file: dict[str, dict[int, str]] = {}
    for row in warnings:
        comments_by_file.setdefault(str(row["Filename"]), {})[int(row["Line"])] = str(row["Comment"])
    return comments_by_file


def skipped_routing_lines_by_device(
    lines: SkippedLines, node_names: NodeNames, followed: IsLineReadByNodrop
) -> dict[str, dict[str, FilePlace | None]]:
    """Return the lines that were not read and bear on routing, each with the devices that have it and a place there.

    What hangs on those that nodrop reads is compared, and the device is taken in part all the same.
    """
    places_by_text: dict[str, dict[str, FilePlace | None]] = {}
    for file, line, device, place in _locate_unread_lines(lines, node_names):
        text = " ".join(node_names.line(file, line).split())
        if followed(file, line) and not why_line_is_harmless(text):
            places_by_text.setdefault(text, {}).setdefault(device, place)
    return places_by_text


def lines_of_parse_warnings(
    lines: SkippedLines, node_names: NodeNames, followed: IsLineReadByNodrop
) -> Iterator[RefusedLine]:
    """Yield the unread lines, one by one, those that matter and those that do not."""
    for file, line, device, place in _locate_unread_lines(lines, node_names):
        text = node_names.line(file, line)
        matters = not why_line_is_harmless(text) and not followed(file, line)
        yield RefusedLine(device=device, text=text, said=lines[file][line], place=place, matters=matters)


def _locate_unread_lines(lines: SkippedLines, names: NodeNames) -> Iterator[tuple[str, int, str, FilePlace | None]]:
    """Yield each line of a device that was not read: the file and its line in the snapshot, the device, its place."""
    for file, comments in lines.items():
        for line in sorted(comments):
            device, place = names.device_and_place_of_line(file, line)
            if device is not None:
                yield file, line, device, place


def lines_of_init_issues(issues: Iterable[AnswerRow], node_names: NodeNames) -> Iterator[RefusedLine]:
    """Yield faults of whole files and tables (`initIssues`): parts not read, or lost in converting."""
    for row in issues:
        kind, details = str(row["Type"]), str(row["Details"])
        if kind in _IGNORED_ISSUE_KINDS:
            continue
        matters = not any(pattern.fullmatch(details) for pattern in _COMPILED_HARMLESS_ISSUES)
        places = [
            (str(source_range["filename"]), line)
            for source_range in row["Source_Lines"] or ()
            for line in source_range["lines"] or [None]
        ]
        for file, line in places:
            device, place = node_names.device_and_place_of_line(file, line)
            if device is not None:
                text = str(row["Line_Text"] or node_names.line(file, line))
                yield RefusedLine(device=device, text=text, said=f"{kind}: {details}", place=place, matters=matters)
        if not places:
            for node in row["Nodes"] or ():
                device = node_names.device(node)
                if device is not None:
                    yield RefusedLine(device=device, text="", said=f"{kind}: {details}", matters=matters)


def lines_of_undefined_references(
    answer_rows: Iterable[AnswerRow], lines: SkippedLines, node_names: NodeNames
) -> Iterator[RefusedLine]:
    """Yield references to missing objects (`undefinedReferences`); objects that a skipped line defines exist."""
    for row in answer_rows:
        file, name = str(row["File_Name"]), str(row["Ref_Name"])
        defined = any(name in node_names.line(file, line).split() for line in lines.get(file, ()))
        for line in row["Lines"]["lines"] or [None]:
            device, place = node_names.device_and_place_of_line(file, line)
            if device is not None:
                message = f"{row['Struct_Type']} {name} is not defined ({row['Context']})"
                text = node_names.line(file, line)
                yield RefusedLine(device=device, text=text, said=message, place=place, matters=not defined)
