"""Programs for NICs that a host starts at each boot: by units of systemd, rules of udev and tables of cron."""

import re

from nodrop.platforms.hosts.facts import HostFileContent, HostFileKind, line_span

_PROGRAM_START_LINE = re.compile(
    r"""^\s*+(?:ExecStart(?:Pre|Post)?\s*=\s*[-@:+!]*|@reboot\s+(?:root\s+)?|[^#]*\bRUN(?:\{program\})?\+?=\s*")(.+)"""
)
_NIC_WORDS_PATTERN = re.compile(
    r"(?i)roce|rdma|mlnx|mlx5|mellanox|\bnics?\b|\bpfc\b|\bqos\b|dcqcn|\becn\b|spectrum|bnxt|ainic|connectx|bluefield"
)
_BOOT_START_PATTERN = re.compile(
    r"(?m)^[ \t]*+(?:(?:Wanted|Required)By\s*=|@reboot\b)|^[^#\n]*\bRUN(?:\{program\})?\+?="
)
BOOT_PERSISTENCE_PATTERN = re.compile(
    r"(?m)^[^#\n]*(?:systemctl\s++(?>(?:--?\S++\s++)*)enable|/etc/systemd/system/|/etc/udev/rules\.d|/etc/rc\.(?:local|d)|@reboot"
    r"|crontab|/etc/cron|dispatcher\.d|if(?:up|-up|-pre-up)\.d|ifup-local|\bpost-up\b|\bbootcmd\s*:|kind:\s*DaemonSet)"
    r"|^[ \t]*+(?:Wanted|Required)By\s*=|^[^#\n]*\bRUN(?:\{program\})?\+?="
)
"""By what a file shows that what it sets is set at each boot."""


def _is_boot_file(head: str) -> bool:
    if not any(word in head for word in ("ExecStart", "@reboot", "RUN")) or not _NIC_WORDS_PATTERN.search(head):
        return False
    return _BOOT_START_PATTERN.search(head) is not None and any(
        _PROGRAM_START_LINE.match(line) for line in head.splitlines()
    )


def _parse_programs_started_at_boot(file_text: str) -> tuple[HostFileContent, ...]:
    parsed_facts = HostFileContent()
    for number, line in enumerate(file_text.splitlines(), 1):
        if (started := _PROGRAM_START_LINE.match(line)) is not None:
            fact = parsed_facts.parts.get("", {}).get("starts")
            programs = (*(fact.value if fact else ()), started[1].rstrip('" ').strip())
            parsed_facts.record_fact("", "starts", programs, fact.span if fact else line_span(number, line))
    return (parsed_facts,)


FILE_KIND = HostFileKind(_is_boot_file, _parse_programs_started_at_boot)
