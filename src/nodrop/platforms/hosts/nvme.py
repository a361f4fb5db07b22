"""Connections of NVMe over fabrics: `nvme connect` in scripts, discovery.conf, and nvme-fabrics.conf.

The option is `--tos`, or `tos`, of linux-nvme/nvme-cli (Documentation/fabrics-options.txt, nvme-fabrics.conf.txt). Its
page mentions only TCP; Linux sets it for RDMA too, from 5.4 on (drivers/nvme/host/rdma.c: rdma_set_service_type where
`tos` is not negative, and drivers/nvme/host/tcp.c). The kernel reduces values above 255 to 255
(drivers/nvme/host/fabrics.c).
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nodrop.limits import MAX_EXPANDED_LINE_CHARACTERS
from nodrop.model.nics import UNSET_TOS
from nodrop.platforms.hosts.facts import HostFileContent, HostFileKind, line_span
from nodrop.syntax.places import Span
from nodrop.units import parse_whole_number

TOS_FIELD_BY_NVME_TRANSPORT = {"rdma": "nvme_rdma_tos", "tcp": "nvme_tcp_tos"}
"""The field of `Nic` that the ToS of a connection states, by transport."""
_LONG_NAME_BY_SHORT_OPTION = {"-t": "transport", "-a": "traddr", "-T": "tos"}
_CONNECT_ARGUMENTS_LINE = re.compile(r"(?m)^[ \t]*(?=-)(?:[^#\n]*[ \t])?(?:-t[ \t]*|--transport[= \t])(?:rdma|tcp)\b")
_CONTROLLER_LINE = re.compile(r"(?m)^[ \t]*controller[ \t]*=[^#\n]*\btransport=(?:rdma|tcp)\b")
_SECTION_HEADER_LINE = re.compile(r"\[([^\]]{1,60})\]")
_SETTING_LINE = re.compile(r"([a-z-]+)\s*=\s*(.*)")
_DEFAULT_TOS_REASON = "nvme-cli sets no ToS unless an option states one"
_MAX_TOS = 255


def read_connection_arguments(line_words: Sequence[str]) -> Mapping[str, str]:
    """Return the transport, address and ToS among the arguments of `nvme connect`, as far as they are stated."""
    connect_options: dict[str, str] = {}
    remaining_words = list(line_words)
    while remaining_words:
        word = remaining_words.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
        else:
            name, equals, value = _LONG_NAME_BY_SHORT_OPTION.get(word[:2], ""), "", word[2:]
        if name in _LONG_NAME_BY_SHORT_OPTION.values():
            connect_options[name] = value if equals or value or not remaining_words else remaining_words.pop(0)
    return connect_options


def record_connection_tos(parsed_facts: HostFileContent, stated: Mapping[str, str], span: Span) -> None:
    """Note the ToS of a connection; nothing where its transport is another one, or its ToS is a variable."""
    name = TOS_FIELD_BY_NVME_TRANSPORT.get(stated.get("transport", ""))
    tos = stated.get("tos", "")
    value = UNSET_TOS if tos in ("", "-1") else parse_whole_number(tos, 10**9 - 1)
    if name is not None and value is not None:
        address = stated.get("traddr", "")
        parsed_facts.record_fact(
            "" if "$" in address else address, name, min(value, _MAX_TOS), span, "" if tos else _DEFAULT_TOS_REASON
        )


def _parse_nvme_connect_lines(file_text: str) -> tuple[HostFileContent, ...]:
    parsed_facts = HostFileContent()
    for number, line in enumerate(file_text.splitlines(), 1):
        try:
            words = shlex.split(line[:MAX_EXPANDED_LINE_CHARACTERS], comments=True)
        except ValueError:
            words = line[:MAX_EXPANDED_LINE_CHARACTERS].split()
        record_connection_tos(parsed_facts, read_connection_arguments(words), line_span(number, line))
    return (parsed_facts,)


def _parse_nvme_fabrics_conf(file_text: str) -> tuple[HostFileContent, ...]:
    """Read nvme-fabrics.conf: a controller line overrides its section, that `[Host]`, that the defaults of its kind."""
    parsed_facts = HostFileContent()
    sections: list[_FabricsConfSection] = []
    for number, raw in enumerate(file_text.splitlines(), 1):
        line = raw.strip()
        if (header := _SECTION_HEADER_LINE.fullmatch(line)) is not None:
            sections.append(_FabricsConfSection(header[1]))
        elif sections and (setting := _SETTING_LINE.fullmatch(line)) is not None:
            if setting[1] == "controller":
                pairs = dict(pair.partition("=")[::2] for pair in setting[2].split(";"))
                sections[-1].controllers.append((pairs, line_span(number, raw)))
            elif setting[1] == "tos":
                sections[-1].tos = setting[2]
    shared = {config_section.name: config_section.tos for config_section in sections if config_section.tos is not None}
    for section in sections:
        scopes = (section.tos, shared.get("Host"), shared.get("I/O Controller Defaults"))
        tos = next((scope for scope in scopes if scope is not None), "")
        for pairs, span in section.controllers if section.name == "Subsystem" else ():
            record_connection_tos(parsed_facts, {"tos": tos, **pairs}, span)
    return (parsed_facts,)


@dataclass
class _FabricsConfSection:
    """A section of nvme-fabrics.conf: its name, its ToS, and its controllers with their places."""

    name: str
    tos: str | None = None
    controllers: list[tuple[dict[str, str], Span]] = field(default_factory=list)


_CONNECT_AGAIN = "disconnect the host's NVMe controllers and connect them again"
DISCOVERY_FILE_KIND = HostFileKind(
    lambda head: bool(_CONNECT_ARGUMENTS_LINE.search(head)), _parse_nvme_connect_lines, then=_CONNECT_AGAIN
)
"""discovery.conf: each line holds the arguments of `nvme connect-all`."""
FABRICS_FILE_KIND = HostFileKind(
    lambda head: bool(_CONTROLLER_LINE.search(head)), _parse_nvme_fabrics_conf, then=_CONNECT_AGAIN
)
"""nvme-fabrics.conf, of nvme-cli 3."""
