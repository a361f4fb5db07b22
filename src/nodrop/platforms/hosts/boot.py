"""Programs for NICs that a host starts at each boot: by units of systemd, rules of udev and tables of cron."""

import re

from nodrop.platforms.hosts.facts import Form, Parsed, line_span

_STARTED = re.compile(
    r"""^\s*+(?:ExecStart(?:Pre|Post)?\s*=\s*[-@:+!]*|@reboot\s+(?:root\s+)?|[^#]*\bRUN(?:\{program\})?\+?=\s*")(.+)"""
)
_ABOUT = re.compile(
    r"(?i)roce|rdma|mlnx|mlx5|mellanox|\bnics?\b|\bpfc\b|\bqos\b|dcqcn|\becn\b|spectrum|bnxt|ainic|connectx|bluefield"
)
_AT_BOOT = re.compile(r"(?m)^[ \t]*+(?:(?:Wanted|Required)By\s*=|@reboot\b)|^[^#\n]*\bRUN(?:\{program\})?\+?=")
RESTORES = re.compile(
    r"(?m)^[^#\n]*(?:systemctl\s++(?>(?:--?\S++\s++)*)enable|/etc/systemd/system/|/etc/udev/rules\.d|/etc/rc\.(?:local|d)|@reboot"
    r"|crontab|/etc/cron|dispatcher\.d|if(?:up|-up|-pre-up)\.d|ifup-local|\bpost-up\b|\bbootcmd\s*:|kind:\s*DaemonSet)"
    r"|^[ \t]*+(?:Wanted|Required)By\s*=|^[^#\n]*\bRUN(?:\{program\})?\+?="
)
"""By what a file shows that what it sets is set at each boot."""


def _is_boot_file(head: str) -> bool:
    if not any(word in head for word in ("ExecStart", "@reboot", "RUN")) or not _ABOUT.search(head):
        return False
    return _AT_BOOT.search(head) is not None and any(_STARTED.match(line) for line in head.splitlines())


def _parse(file_text: str) -> tuple[Parsed, ...]:
    parsed_facts = Parsed()
    for number, line in enumerate(file_text.splitlines(), 1):
        if (started := _STARTED.match(line)) is not None:
            fact = parsed_facts.parts.get("", {}).get("starts")
            programs = (*(fact.value if fact else ()), started[1].rstrip('" ').strip())
            parsed_facts.say("", "starts", programs, fact.span if fact else line_span(number, line))
    return (parsed_facts,)


FORM = Form(_is_boot_file, _parse)
