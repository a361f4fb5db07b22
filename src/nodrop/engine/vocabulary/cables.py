"""Words about configured cable lengths: whether the switch has headroom for them."""

from nodrop.analyses._kinship import service_kind_of_port
from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.general import length, listed, speed
from nodrop.engine.vocabulary.headroom import headroom_needed_bytes
from nodrop.hardware.bounds import headroom_rows, missing_headroom_source
from nodrop.model import effects
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, require_fact


@declare_word("function")
def priorities_without_headroom(qos: QosProfile) -> tuple[int, ...]:
    """Return the PFC priorities whose priority group of the same number has no headroom.

    The traditional buffer model gives headroom by the numbers of `pfc_enable`, whatever the maps say (sonic-swss
    cfgmgr/buffermgr.cpp).
    """
    paused = require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    return tuple(
        index
        for index in paused
        if (buffer := effects.buffer_of_priority_group(qos, index)) is None or not buffer.lossless
    )


@declare_word("test")
def one_with_headroom_table(buffer_model: str | None | Unknown) -> bool:
    """Whether a switch is known to look headroom up by speed and cable length, in the traditional buffer model."""
    return not isinstance(buffer_model, Unknown) and buffer_model == "traditional"


@declare_word("function")
def has_headroom_row(device: Device, mbps: int | None, metres: int | None) -> bool:
    """Whether a device's headroom table has a row for a speed and a configured cable length.

    It is the device's own where its file is there, else the one that its SKU ships. UNKNOWN where the catalogue does
    not have the model, or not its table.
    """
    return metres in _headroom_cable_lengths(device, mbps)


@declare_word("function")
def lacks_headroom_row(device: Device, mbps: int | None | Unknown, metres: int | None | Unknown) -> bool:
    """Whether a device looks headroom up in a table that is known to have no row for a speed and a cable length.

    A port there stays without headroom if PFC is enabled on it.
    """
    if not one_with_headroom_table(device.buffer_model) or not isinstance(mbps, int) or not isinstance(metres, int):
        return False
    try:
        return metres not in _headroom_cable_lengths(device, mbps)
    except UnknownFact:
        return False


@declare_word("function", rests_on=("models", "cables"))
def is_for_services(device: Device, interface: Interface) -> bool:
    """Whether a port is one for management and services: by the switch model, or as the slow one of its switch.

    A port slower than all speeds of the headroom table, and one beside those of the fabric, is one unless a host or a
    switch is known to be at its far end.
    """
    service = service_kind_of_port(device, interface)
    if service is True or (not isinstance(interface.side, Unknown) and interface.side is not None):
        return service is True
    table_speeds = {row.speed_mbps for row in headroom_rows(device)}
    mbps = interface.speed_mbps
    return bool(service) or (isinstance(mbps, int) and mbps < min(table_speeds, default=0))


@declare_word("function")
def headroom_table_lengths(device: Device, mbps: int | None) -> str:
    """Return the cable lengths that a device's headroom table has at a speed: `only 5 m and 40 m`, `none at 10G`."""
    lengths = _headroom_cable_lengths(device, mbps)
    return f"only {listed(tuple(map(length, lengths)))}" if lengths else f"none at {speed(mbps)}"


def _headroom_cable_lengths(device: Device, mbps: int | None) -> tuple[int, ...]:
    rows = headroom_rows(device)
    if not rows and isinstance(device.headroom_table, Unknown):
        raise UnknownFact(missing_headroom_source(device))
    return tuple(sorted({row.cable_m for row in rows if row.speed_mbps == mbps}))


@declare_word("function", rests_on=("cables",))
def has_too_little_headroom(device: str, port: str, *, index: Index) -> bool:
    """Whether a priority group of a port is known to have less headroom than its cable needs, a separate fault."""
    owner, interface = index.devices.get(device), index.interface(device, port)
    if owner is None or interface is None:
        return False
    try:
        needed = headroom_needed_bytes(owner, interface, index=index)
        qos = require_fact(interface.qos, "interface.qos")
        groups = require_fact(qos.priority_groups, "interface.qos.priority_groups") if qos else ()
        buffers = [require_fact(group.buffer, "priority_group.buffer") for group in groups]
        rooms = [
            require_fact(buffer.headroom, "priority_group.buffer.headroom") for buffer in buffers if buffer is not None
        ]
        return any(require_fact(room.xoff_bytes, "xoff_bytes") < needed for room in rooms if room is not None)
    except UnknownFact:
        return False
