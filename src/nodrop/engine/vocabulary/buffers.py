"""Words about pools and the buffers that take from them: whether they fit the direction and each other."""

from nodrop import units
from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.scheduling import lossless_queues
from nodrop.engine.vocabulary.sides import queues_stopped_by_pause
from nodrop.hardware import asic_of, switch, switches
from nodrop.model import effects
from nodrop.model.buffers import BufferPool, BufferProfile
from nodrop.model.fabric import Port
from nodrop.model.pausing import lossless_priority_groups_shared_by_tcs
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, require_fact


@declare_word("function")
def uses_pool_of_direction(
    model: str | Unknown, pools: tuple[BufferPool, ...] | Unknown, direction: str, buffer: BufferProfile
) -> bool:
    """Whether a buffer uses a pool of one direction, on a chip with separate pools for each direction.

    Where it does, the model has to be known: not every chip keeps them apart.
    """
    far_pools = require_fact(pools, "device.buffer_pools")
    if not any(pool.name == buffer.pool and pool.direction == direction for pool in far_pools):
        return False
    chip = asic_of(model)
    if chip is None:
        raise UnknownFact("device.model")
    return chip.pools_keep_apart


def _is_known_buffer(buffer: object) -> bool:
    return isinstance(buffer, BufferProfile)


@declare_word("function")
def lossless_queues_with_lossy_buffer(qos: QosProfile) -> tuple[int, ...]:
    """Return the queues of lossless traffic that share the buffer profile of a lossy queue with a dynamic limit.

    Admitted packets must fit on the egress side, or they are dropped there, without any pause.
    """
    lossless = queues_stopped_by_pause(qos).intersection(lossless_queues(qos))
    queues = require_fact(qos.queues, "interface.qos.queues")
    lossy = [queue.buffer for queue in queues if queue.index not in lossless and _is_known_buffer(queue.buffer)]
    return tuple(
        queue.index
        for queue in queues
        if queue.index in lossless
        and _has_dynamic_limit(require_fact(queue.buffer, "queue.buffer"))
        and queue.buffer in lossy
    )


@declare_word("function")
def is_queue_used_by_packets(qos: QosProfile, queue: int) -> bool:
    """Whether packets of any DSCP or, where the port has such a map, PCP use a queue."""
    return queue in effects.used_queues(qos)


def _has_dynamic_limit(buffer: BufferProfile | None) -> bool:
    return (
        buffer is not None and buffer.dynamic_th is not None and buffer.dynamic_th < effects.NVIDIA_UNLIMITED_DYNAMIC_TH
    )


@declare_word("function")
def lossless_groups_of_several_tcs(qos: QosProfile) -> tuple[int, ...]:
    """Return the priority groups that pause their sender and that several traffic classes are mapped to."""
    return tuple(group for group, _ in lossless_priority_groups_shared_by_tcs(qos))


@declare_word("function", rests_on=("models",))
def speeds_possible_instead(
    model: str | Unknown, port: Port | None | Unknown, lanes: int | None | Unknown, mbps: int | None | Unknown
) -> str:
    """Return the speeds a port can have, `400G, 200G or 100G`, where its stated speed is none of them; else nothing.

    Without a known model, any speed of Ethernet will do.
    """
    if mbps is None or isinstance(mbps, Unknown):
        return ""
    speeds = _possible_port_speeds(model, port, lanes) or ETHERNET_MBPS
    if mbps in speeds:
        return ""
    *most, least = map(units.show_speed, sorted(speeds, reverse=True))
    return f"{', '.join(most)} or {least}" if most else least


ETHERNET_MBPS = frozenset(
    {10, 100, 1000, 2500, 5000, 10000, 20000, 25000, 40000, 50000, 100000, 200000, 400000, 800000, 1600000}
)
"""The rates of IEEE 802.3's physical layers, Mb/s, and the 20G that some switches have."""


def _possible_port_speeds(
    model: str | Unknown, port: Port | None | Unknown, lanes: int | None | Unknown
) -> frozenset[int]:
    """Return the speeds of a port of a known model, whole or broken out by its lanes; none where not known."""
    if isinstance(model, Unknown) or model not in switches() or port is None or isinstance(port, Unknown):
        return frozenset()
    group = switch(model).group(port.panel)
    splits = () if group is None else tuple(breakout for breakout in group.breakout_options if breakout.lanes == lanes)
    speeds = frozenset(speed for breakout in splits for speed in breakout.speeds)
    return speeds | group.speeds_of_odd_breakout_modes if speeds and group else speeds


@declare_word("function")
def lacks_cable_length(metres: int | None | Unknown, qos: QosProfile | None | Unknown) -> bool:
    """Whether a port's headroom follows from its cable's length, and that is not there, or 0 m.

    A priority group with a stated headroom keeps it (sonic-swss cfgmgr/buffermgr.cpp, buffermgrdyn.cpp).
    """
    if isinstance(metres, Unknown) or metres:
        return False
    qos = require_fact(qos, "interface.qos")
    groups = () if qos is None else require_fact(qos.priority_groups, "interface.qos.priority_groups")
    own_buffer_profiles = [require_fact(group.buffer, "priority_group.buffer") for group in groups if group.lossless]
    return not any(
        buffer_profile and buffer_profile.headroom and not require_fact(buffer_profile.headroom, "headroom").computed
        for buffer_profile in own_buffer_profiles
    )
