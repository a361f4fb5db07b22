"""What people ask for when they size a fabric, in GPUs and models, and the fabric that carries it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from nodrop.hardware import asic, nic, switch
from nodrop.hardware.schema import SwitchModel
from nodrop.sizing.counting import (
    AlikeHosts,
    CannotSize,
    FabricDemand,
    FabricShape,
    PanelPortsForSpeed,
    best_port_use_of_speed,
    find_smallest_fabric_shape,
)
from nodrop.sizing.fabric import MaxCableLengths, SizedFabric, expand_shape_to_sized_fabric
from nodrop.units import show_speed


class StorageRequest(NamedTuple):
    """Storage nodes on separate leaves: how many, the ports of each, and the speed of a port."""

    nodes: int
    ports: int
    speed_mbps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRequest:
    """GPUs, the ports of their servers, and the models to build with."""

    gpus: int
    gpus_of_server: int
    ports: int
    """Of each server."""
    rails: bool
    rails_per_leaf: int = 1
    platform: str
    leaf: str
    spine: str
    storage_leaf: str
    nic: str
    speed_mbps: int | None = None
    """Of the servers' ports; None is the fastest that NIC and leaf have."""
    ratio: Fraction = Fraction(1)
    """Oversubscription of a leaf, at most."""
    storage: StorageRequest | None = None
    lengths: MaxCableLengths = field(default_factory=MaxCableLengths)


def size_request(request: SizeRequest) -> SizedFabric:
    """Return the fabric with the fewest switches for a request.

    CannotSize where there is none, with the nearest number of GPUs that works. Links between switches are as fast as
    ports of servers, so that each carries a whole flow, or faster where that saves switches. KeyError for a model or
    NIC that the catalogue lacks.
    """
    if request.gpus % request.gpus_of_server:
        raise CannotSize(_explain_gpus_of_partial_server(request))
    if request.ports % request.rails_per_leaf:
        raise CannotSize(f"{request.ports} rails are no whole leaves of {request.rails_per_leaf}; expected a divisor")
    best: tuple[FabricDemand, FabricShape] | None = None
    refused: CannotSize | None = None
    for demand in _demands_by_uplink_speed(request):
        try:
            shape = find_smallest_fabric_shape(demand)
        except CannotSize as reason:
            refused = reason if refused is None or reason.largest > refused.largest else refused
            continue
        if best is None or shape.switch_count < best[1].switch_count:
            best = demand, shape
    if best is None:
        raise _explain_refusal(request, refused)
    return expand_shape_to_sized_fabric(*best, request.lengths)


def _explain_gpus_of_partial_server(request: SizeRequest) -> str:
    below = request.gpus // request.gpus_of_server * request.gpus_of_server
    above = below + request.gpus_of_server
    nearest = f"{below} or {above}" if below else str(above)
    return f"{request.gpus} GPUs are no whole servers of {request.gpus_of_server}; nearest: --gpus {nearest}"


def _explain_refusal(request: SizeRequest, refused: CannotSize | None) -> CannotSize:
    models = " and ".join(dict.fromkeys((request.leaf, request.spine)))
    if refused is None:
        return CannotSize(f"{models} have no common speed of {show_speed(_server_port_speed(request))} or more")
    if not refused.largest:
        storage = f" and {request.storage.nodes} storage nodes" if request.storage else ""
        return CannotSize(f"{request.gpus} GPUs{storage}: {refused.reason} ({models})")
    largest = refused.largest * request.gpus_of_server
    return CannotSize(f"{request.gpus} GPUs: {refused.reason} ({models}); nearest: --gpus {largest}", refused.largest)


def _demands_by_uplink_speed(request: SizeRequest) -> Iterator[FabricDemand]:
    """Yield the demand with links between switches of each speed that there can be, the slowest first."""
    speed = _server_port_speed(request)
    leaf, spine, storage_leaf = map(switch, (request.leaf, request.spine, request.storage_leaf))
    servers = AlikeHosts(
        name="gpu",
        count=request.gpus // request.gpus_of_server,
        gpus=request.gpus_of_server,
        ports=request.ports,
        nic=request.nic,
        apart=request.rails and request.ports > request.rails_per_leaf,
        rails=request.rails,
        ports_per_leaf=request.rails_per_leaf,
        down=_require_port_use(leaf, request.platform, speed, f"--speed {show_speed(speed)}"),
        up=_require_port_use(leaf, request.platform, speed, f"--speed {show_speed(speed)}"),
    )
    hosts, leaves = [servers], [leaf]
    if request.storage:
        nodes, ports, storage_speed = request.storage
        option = f"--storage {nodes}x{ports}x{show_speed(storage_speed)}"
        use = _require_port_use(storage_leaf, request.platform, storage_speed, option)
        _require_nic_speed(request.nic, storage_speed, option)
        apart = ports > 1
        hosts.append(
            AlikeHosts(name="storage", count=nodes, gpus=0, ports=ports, nic=request.nic, apart=apart, down=use, up=use)
        )
        leaves.append(storage_leaf)
    fastest = max(speed, request.storage.speed_mbps if request.storage else 0)
    for uplink in sorted({rate for group in leaf.ports for way in group.breakout_options for rate in way.speeds}):
        uses = [_port_use_with_headroom(model, request.platform, uplink) for model in (*leaves, spine)]
        known = [use for use in uses if use is not None]
        if uplink >= fastest and len(known) == len(uses):
            joined = (replace(each, up=use) for each, use in zip(hosts, known, strict=False))
            yield FabricDemand(hosts=tuple(joined), upper=known[-1], ratio=request.ratio)


def _server_port_speed(request: SizeRequest) -> int:
    """Return the speed of a server's port: the stated one, else the fastest that NIC and leaf have."""
    if request.speed_mbps is not None:
        _require_nic_speed(request.nic, request.speed_mbps, f"--speed {show_speed(request.speed_mbps)}")
        return request.speed_mbps
    leaf = switch(request.leaf)
    known = [speed for speed in nic(request.nic).lanes if _port_use_with_headroom(leaf, request.platform, speed)]
    if not known:
        raise CannotSize(f"{request.leaf} has no port for {request.nic}")
    return max(known)


def _require_nic_speed(name: str, speed_mbps: int, option: str) -> None:
    if speed_mbps not in nic(name).lanes:
        speeds = ", ".join(map(show_speed, nic(name).lanes))
        raise CannotSize(f"{option}: {name} has no {show_speed(speed_mbps)} port; expected {speeds}")


def _require_port_use(model: SwitchModel, platform: str, speed_mbps: int, option: str) -> PanelPortsForSpeed:
    use = _port_use_with_headroom(model, platform, speed_mbps)
    if use is None:
        rates = sorted({rate for group in model.ports for way in group.breakout_options for rate in way.speeds})
        known = [show_speed(rate) for rate in rates if _port_use_with_headroom(model, platform, rate)]
        expected = f"; expected {', '.join(known)}" if known else ""
        raise CannotSize(f"{option}: {model.name} has no {show_speed(speed_mbps)} port with a known headroom{expected}")
    return use


def _port_use_with_headroom(model: SwitchModel, platform: str, speed_mbps: int) -> PanelPortsForSpeed | None:
    """Return how a model gives ports of a speed; None where it has none, or none whose headroom is known."""
    computed = asic(model.asic).has_headroom_terms or speed_mbps in model.sonic.headroom_speeds_mbps
    return best_port_use_of_speed(model, platform, speed_mbps) if computed else None
