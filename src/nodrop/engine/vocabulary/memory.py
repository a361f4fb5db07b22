"""Words about a switch's packet memory: how much there is, and how much is given away before any is shared."""

from math import ceil

from nodrop.engine.vocabulary import declare_word
from nodrop.hardware import commitment, sharing
from nodrop.hardware.thresholds import headroom_is_beside_pool
from nodrop.model.buffers import BufferPool
from nodrop.model.fabric import Device, Interface
from nodrop.model.states import Unknown, require_fact


@declare_word("function", rests_on=("models",))
def model_packet_memory_bytes(device: Device) -> int:
    """Return the packet memory of a switch's model, in bytes; UNKNOWN where the catalogue does not have it."""
    return commitment.memory_bytes(device)


@declare_word("function", rests_on=("models",))
def max_chip_packet_memory_bytes(device: Device) -> int:
    """All packet memory of a switch's chip, in bytes, an upper bound; UNKNOWN without a source."""
    return commitment.max_packet_memory_bytes(device)


@declare_word("function", rests_on=("models",))
def pool_and_headroom_bytes(model: str | Unknown, pool: BufferPool) -> int:
    """Return the size of a pool with its shared headroom, in bytes; of the pool alone if its size contains both."""
    size, shared = require_fact(pool.size_bytes, "buffer_pool.size_bytes") or 0, pool.shared_headroom_bytes or 0
    return size + shared if headroom_is_beside_pool(require_fact(model, "device.model")) else size


@declare_word("function", rests_on=("models",))
def committed_bytes(device: Device) -> int:
    """Return the memory that headroom and reserves of all ports that are up, and shared headroom, take, in bytes."""
    return commitment.committed_bytes(device)


@declare_word("function")
def shared_headroom_bytes(device: Device) -> int:
    """Return the headroom that a switch's ports share, in bytes; 0 where each has its own."""
    return sum(pool.shared_headroom_bytes or 0 for pool in require_fact(device.buffer_pools, "device.buffer_pools"))


@declare_word("function", rests_on=("models",))
def shared_headroom_of_paused_port_bytes(device: Device, interface: Interface) -> int:
    """Return the shared headroom that a paused port uses in addition to its private headroom, in bytes."""
    return max(sharing.taken_shared_headroom_bytes(interface) - sharing.private_headroom_bytes(device), 0)


@declare_word("function", rests_on=("models",))
def headroom_oversubscription(device: Device) -> float:
    """How many times the shared headroom all ports that are up may take together, in tenths.

    0 where no headroom is shared, or is not known to be.
    """
    shared = 0 if isinstance(device.buffer_pools, Unknown) else shared_headroom_bytes(device)
    if not shared:
        return 0
    own_bytes = sharing.private_headroom_bytes(device)
    ports = [interface for interface in device.interfaces if require_fact(interface.enabled, "interface.enabled")]
    return ceil(sum(max(sharing.taken_shared_headroom_bytes(port) - own_bytes, 0) for port in ports) / shared * 10) / 10
