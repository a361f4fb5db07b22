"""Ports with PFC that lead out of the fabric: service ports, those of management, and neighbors that are not of it."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._kinship import service_kind_of_port
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, known_rows

RESTS_ON = frozenset({"models", "cables", "hosts"})
READS_NEARBY_FACTS = True

MANAGEMENT_VRF = "mgmt"


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the ports in use that have PFC and that a source states to be outside the fabric."""
    paused: dict[QosProfile, bool] = {}
    for device in index.fabric.devices:
        for port in device.interfaces:
            why, doubt = _reason_port_leads_outside(index, device, port)
            if not why or port.enabled is False or not isinstance(port.qos, QosProfile):
                continue
            if paused.setdefault(port.qos, _has_pfc(port.qos)):
                yield AnalysisHit(
                    subject=(device.name, port.name),
                    at=(device.name, port.name, "qos", "pfc_priorities"),
                    facts={"port": port.name, "outside": why},
                    doubt=doubt,
                )


def _reason_port_leads_outside(index: Index, device: Device, port: Interface) -> tuple[str, str]:
    """Return why a port leads outside the fabric, as the end of a sentence, and why that is not certain; else "", "".

    A neighbor is outside if its cable is stated, hosts and switches are, and it is none of them. An extra port that no
    source calls a service port is outside unless a host or switch is known to be at its far end.
    """
    if not isinstance(port.vrf, Unknown) and port.vrf == MANAGEMENT_VRF:
        return "is in the VRF for management", ""
    service = service_kind_of_port(device, port)
    if service == "extra":
        if port.side is not None and not isinstance(port.side, Unknown):
            return "", ""
        return f"is an extra port beside the fabric's ports of {device.model}", "no file names what is at its far end"
    if service:
        return f"is a service port of {device.model}", ""
    if port.side is None and index.fabric.hosts:
        far = index.far_end(device.name, port.name)
        if far is not None and far.node not in index.devices and far.node not in index.hosts:
            return f"faces {far.node}, which is neither a switch nor a host of the fabric", ""
    return "", ""


def _has_pfc(qos: QosProfile) -> bool:
    return bool(known_rows(qos.pfc_rx_priorities) or known_rows(qos.pfc_tx_priorities))
