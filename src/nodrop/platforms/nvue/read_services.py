"""Settings of the switch itself: loopbacks, management port, servers, collectors, hash seed, trimming."""

from collections.abc import Mapping

from nodrop.model.fabric import Collector, Loopback, Management, Trimming
from nodrop.model.subject import Subject
from nodrop.platforms.nvue.read_ports import FileInterfaces, read_addresses, read_vrf_of_interface
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path

MANAGEMENT, LOOPBACK = "eth0", "lo"
MANAGEMENT_VRF = "mgmt"
DEFAULT_OTLP_PORT = 8443
GNMI_PATH: Path = ("system", "gnmi-server")
DEFAULT_GNMI_PORT = 9339
SNMP_PATHS: tuple[Path, ...] = (("system", "snmp-server"), ("service", "snmp-server"))
PACKET_TRIM_PATH: Path = ("system", "forwarding", "packet-trim")
OTLP_EXPORT_PATH: Path = ("system", "telemetry", "export", "otlp")
DEFAULT_TRIM_PROFILE = "packet-trim-default"
TRIM_SIZE_BYTES, TRIM_DSCP, TRIM_PRIORITY = 256, 11, 4
DEFAULT_TRIM_CLASSES = (1, 2, 3)
"""The default trimming profile (5.14, Packet Trimming)."""


def read_loopbacks(root_view: ConfigNodeView, ports: FileInterfaces) -> tuple[Loopback, ...]:
    """Return the loopback interface, and the separate addresses of VRFs, sorted by name."""
    found_loopbacks: dict[str, Loopback] = {}
    own_view = ports.view(LOOPBACK)
    if LOOPBACK in ports.names():
        found_loopbacks[LOOPBACK] = Loopback(
            name=LOOPBACK, addresses=read_addresses(own_view), vrf=read_vrf_of_interface(own_view)
        )
    for name, inside in root_view.below("vrf").items():
        extra = inside.below("loopback", "ip").texts("address")
        if extra and name == "default":
            first_addresses = found_loopbacks[LOOPBACK].addresses if LOOPBACK in found_loopbacks else ()
            found_loopbacks[LOOPBACK] = Loopback(name=LOOPBACK, addresses=(*first_addresses, *extra))
        elif extra:
            found_loopbacks[name] = Loopback(name=name, addresses=extra, vrf=name)
    return tuple(found_loopbacks[name] for name in sorted(found_loopbacks))


def read_management_port(ports: FileInterfaces) -> Management | None:
    """Return the out-of-band port; None where the file does not name it."""
    if MANAGEMENT not in ports.names():
        return None
    view = ports.view(MANAGEMENT)
    gateways = tuple(text for family in ("ip", "ipv4", "ipv6") for text in view.below(family).texts("gateway"))
    return Management(
        interface=MANAGEMENT,
        addresses=read_addresses(view),
        gateway=gateways[0] if gateways else None,
        own_vrf=read_vrf_of_interface(view) == MANAGEMENT_VRF,
    )


def server_paths(root_view: ConfigNodeView, object_kind: str) -> tuple[Path, ...]:
    """Return where servers of a kind (`ntp`, `syslog`) stand: below `system`, or below the VRFs of `service`."""
    service = root_view.below("service", object_kind)
    paths: list[Path] = [("service", object_kind, name) for name in service.node]
    return (("system", object_kind), *paths)


def read_servers(root_view: ConfigNodeView, object_kind: str) -> tuple[str, ...]:
    """Return the servers of a kind, sorted."""
    return tuple(
        sorted(
            {text for path in server_paths(root_view, object_kind) for text in root_view.below(*path).texts("server")}
        )
    )


def read_snmp_text(root_view: ConfigNodeView, key: str) -> str | None:
    """Return the system facts that the switch reports by SNMP, in the words of any release; None if not stated."""
    return next((text for path in SNMP_PATHS if (text := root_view.below(*path).text(key)) is not None), None)


def read_otlp_collectors(root_view: ConfigNodeView) -> tuple[Collector, ...]:
    """Return where counters are sent to by OTLP over gRPC, sorted by address; none unless that is on."""
    otlp = root_view.below(*OTLP_EXPORT_PATH)
    if otlp.flag("state") is not True:
        return ()
    grpc = otlp.below("grpc")
    usual = grpc.integer("port", 1, 65535) or DEFAULT_OTLP_PORT
    found_collectors = [
        Collector(address=address, port=inside.integer("port", 1, 65535) or usual)
        for address, inside in grpc.below("destination").items()
    ]
    return tuple(sorted(found_collectors, key=lambda collector: collector.address))


def read_gnmi_port(root_view: ConfigNodeView) -> int | None:
    """Return the port on which the gNMI server listens; None where it is off, as it is by default."""
    node = root_view.below(*GNMI_PATH)
    return node.integer("port", 1, 65535) or DEFAULT_GNMI_PORT if node.flag("state") else None


def is_trimming_on(root_view: ConfigNodeView, by_macro: bool) -> bool | None:
    """Return whether trimming is on: True, False, or None if no setting states it."""
    node = root_view.below(*PACKET_TRIM_PATH)
    state = node.flag("state")
    if state is None and (by_macro or node.text("profile") == DEFAULT_TRIM_PROFILE):
        return True
    return state


def is_trimming_profile_on(root_view: ConfigNodeView, by_macro: bool) -> bool:
    """Whether the default profile of trimming is in effect unless set explicitly."""
    return by_macro or root_view.below(*PACKET_TRIM_PATH).text("profile") == DEFAULT_TRIM_PROFILE


def default_trimmed_classes(top: ConfigNodeView, by_macro: bool) -> tuple[int, ...] | None:
    """Return the traffic classes trimmed on ports that name none; None where trimming is off."""
    if not is_trimming_on(top, by_macro):
        return None
    return DEFAULT_TRIM_CLASSES if is_trimming_profile_on(top, by_macro) else ()


def read_trimming(
    root_view: ConfigNodeView, by_macro: bool, queue_of: tuple[int, ...], derived_subjects: dict[Subject, str]
) -> Trimming | None:
    """Return the switch's packet trimming; None if it is off. Derived parts are noted, below the device."""
    if not is_trimming_on(root_view, by_macro):
        return None
    node = root_view.below(*PACKET_TRIM_PATH)
    remark = node.below("remark")
    by_port = remark.text("dscp") == "port-level"
    size = node.integer("size", 256, 1024, "bytes")
    dscp = None if by_port else remark.integer("dscp", 0, 63)
    priority = node.integer("switch-priority", 0, 7)
    usual: Mapping[str, int | None] = (
        {"size_bytes": TRIM_SIZE_BYTES, "tc": TRIM_PRIORITY} if is_trimming_profile_on(root_view, by_macro) else {}
    )
    for field, value in (("size_bytes", size), ("dscp", dscp), ("tc", priority)):
        if value is None and not (field == "dscp" and by_port):
            derived_subjects["@trimming", field] = f"the profile {DEFAULT_TRIM_PROFILE} says so"
    priority = usual.get("tc") if priority is None else priority
    return Trimming(
        size_bytes=usual.get("size_bytes") if size is None else size,
        dscp="from-tc" if by_port else TRIM_DSCP if dscp is None else dscp,
        tc=priority,
        queue=None if priority is None else queue_of[priority],
    )
