"""What `mlnx_qos -i <interface>` prints (Mellanox/mlnx-tools, python/mlnx_qos)."""

import re

from nodrop.platforms.hosts.facts import HostFileContent, HostFileKind, line_span, parse_priority_on_off_list
from nodrop.syntax.places import Span

_TRUST_LINE = re.compile(r"Priority trust state:\s*(dscp|pcp|both)\b")
_PRIORITY_DSCPS_LINE = re.compile(r"\s*prio:([0-7])\s+dscp:((?:[0-9]{1,2}[, ]{0,2}){1,64})")
_PFC_TABLE_ROW_LINE = re.compile(r"\s*(enabled|buffer)((?:\s+[0-7]){8})\s*$")
_CABLE_LENGTH_LINE = re.compile(r"Cable len:\s*([0-9]{1,6})\b")


def _is_qos_output(head: str) -> bool:
    return "\nPFC configuration:" in f"\n{head}" or "\nPriority trust state:" in f"\n{head}"


def _parse_mlnx_qos_output(file_text: str) -> tuple[HostFileContent, ...]:
    parsed_facts = HostFileContent()
    table: list[int | None] = [None] * 64
    mapped: Span | None = None
    for number, line in enumerate(file_text.splitlines(), 1):
        span = line_span(number, line)
        if (trust := _TRUST_LINE.match(line)) is not None and trust[1] != "both":
            parsed_facts.record_fact("", "trust", trust[1], span)
        elif (dscps := _PRIORITY_DSCPS_LINE.match(line)) is not None:
            for word in dscps[2].replace(",", " ").split():
                if int(word) < 64:
                    table[int(word)] = int(dscps[1])
                    mapped = mapped or span
        elif (cable := _CABLE_LENGTH_LINE.match(line)) is not None:
            parsed_facts.record_fact("", "cable_length_m", int(cable[1]), span)
        elif (row := _PFC_TABLE_ROW_LINE.match(line)) is not None:
            if row[1] == "buffer":
                parsed_facts.record_fact("", "priority_to_buffer", tuple(map(int, row[2].split())), span)
            elif (priorities := parse_priority_on_off_list(row[2])) is not None:
                parsed_facts.record_fact("", "pfc_priorities", priorities, span)
    if mapped is not None:
        parsed_facts.record_fact("", "dscp_to_priority", tuple(table), mapped)
    return (parsed_facts,)


FILE_KIND = HostFileKind(_is_qos_output, _parse_mlnx_qos_output, printed=True)
