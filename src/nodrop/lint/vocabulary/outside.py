"""Words about ports that lossless traffic should not reach: service ports, management, neighbors outside the fabric."""

from nodrop.fabric.fabric import Port
from nodrop.fabric.index import Index
from nodrop.fabric.states import Unknown
from nodrop.hardware import asic, switch, switches
from nodrop.lint.vocabulary import word

MANAGEMENT_VRF = "mgmt"


@word("function", rests_on=("models", "cables", "hosts"))
def outside(
    model: str | Unknown,
    port: Port | None | Unknown,
    vrf: str | None | Unknown,
    side: str | None | Unknown,
    device: str,
    name: str,
    *,
    index: Index,
) -> str:
    """What makes a port one outside the fabric, as the end of a sentence; nothing where no source says so.

    A neighbor is outside if its cable is stated, hosts and switches are, and it is none of them.
    """
    if vrf == MANAGEMENT_VRF:
        return "is in the VRF for management"
    if isinstance(port, Port) and _is_service(model, port):
        return f"is a service port of {model}"
    if side is None and index.fabric.hosts:
        far = index.far_end(device, name)
        if far is not None and far.node not in index.devices and far.node not in index.hosts:
            return f"faces {far.node}, which is neither a switch nor a host of the fabric"
    return ""


def _is_service(model: str | Unknown, port: Port) -> bool:
    """Whether the panel port of a switch model is for service, not for the fabric."""
    if isinstance(model, Unknown) or model not in switches():
        return False
    return any(group.service and port.panel in group.panels_set for group in switch(model).ports)


@word("function", rests_on=("models",))
def waits_outside_chip(model: str | Unknown) -> bool:
    """Whether packets wait in memory beside the chip of a switch model, for what is under way on long cables."""
    return not isinstance(model, Unknown) and model in switches() and asic(switch(model).asic).external_memory
