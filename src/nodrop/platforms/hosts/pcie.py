"""What `lspci -vv` prints of network adapters: how fast the slot is at which each runs."""

import re
from collections.abc import Iterator

from nodrop import hardware
from nodrop.platforms.hosts.facts import HostFileContent, HostFileKind, line_span
from nodrop.syntax.places import Span

_PCI_DEVICE_LINE = re.compile(r"((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.*)")
_NETWORK_CONTROLLER_PATTERN = re.compile(r"(?:Ethernet|Infiniband|Network) controller(?: \[[0-9a-f]{4}\])?: (.*)")
_LINK_STATUS_LINE = re.compile(r"\s+LnkSta:\s+Speed ([0-9.]+)GT/s[^,]*, Width x([0-9]{1,2})\b")
_MELLANOX_DEVICE_ID_PATTERN = re.compile(r"\[15b3:([0-9a-f]{4})\]")
_MODEL_NAME_PATTERNS = (
    (re.compile(r"(BlueField)-([0-9])"), "{0}-{1}"),
    (re.compile(r"(ConnectX)-([0-9])(?: ?(Dx|Lx))?"), "{0}-{1}"),
    (re.compile(r"(BCM57608)"), "Thor-2"),
    (re.compile(r"(E810)"), "E810"),
    (re.compile(r"(Pollara)"), "Pollara-400"),
)
_LANE_MBPS_BY_GTPS = {
    2.5: 2000.0, 5: 4000.0, 8: 8000 * 128 / 130, 16: 16000 * 128 / 130, 32: 32000 * 128 / 130, 64: 64000.0,
}  # fmt: skip
"""By transfers a second, what a lane carries after line encoding (Linux, drivers/pci/pci.h, PCIE_SPEED2MBS_ENC)."""


def _is_lspci_output(head: str) -> bool:
    return "LnkSta:" in head and _NETWORK_CONTROLLER_PATTERN.search(head) is not None


def _parse_pcie_link_states(file_text: str) -> tuple[HostFileContent, ...]:
    parsed_facts = HostFileContent()
    for address, name, status, span in _physical_adapters(file_text):
        rate, lanes = _LANE_MBPS_BY_GTPS.get(float(status[1])), int(status[2])
        if rate is not None and lanes:
            parsed_facts.record_fact(address, "pcie_mbps", int(rate * lanes), span)
            parsed_facts.part_models[address] = (_nic_model(name),)
    return (parsed_facts,)


def _physical_adapters(text: str) -> Iterator[tuple[str, str, re.Match[str], Span]]:
    """Yield the address and name of each physical adapter, and the line with the state of its link."""
    address = name = ""
    for at, line in enumerate(text.splitlines(), 1):
        if (device := _PCI_DEVICE_LINE.match(line)) is not None:
            network = _NETWORK_CONTROLLER_PATTERN.match(device[2])
            address, name = device[1], network[1] if network and "Virtual Function" not in line else ""
        elif name and (status := _LINK_STATUS_LINE.match(line)) is not None:
            yield address, name, status, line_span(at, line)
            name = ""


def _nic_model(name: str) -> str:
    """Return the NIC model as the catalogue calls it, else the text that lspci has."""
    if (match := _MELLANOX_DEVICE_ID_PATTERN.search(name)) is not None:
        known_model = next((nic for nic in hardware.nics() if hardware.nic(nic).pci_device == match[1]), None)
        if known_model is not None:
            return known_model
    for shape, model_format in _MODEL_NAME_PATTERNS:
        if (words := shape.search(name)) is not None:
            return "-".join(filter(None, (model_format.format(*words.groups()), *words.groups()[2:])))
    return name[:80]


FILE_KIND = HostFileKind(_is_lspci_output, _parse_pcie_link_states, printed=True)
