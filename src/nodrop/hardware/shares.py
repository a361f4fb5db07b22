"""Which part of a switch's memory is kept for lossless traffic, by the pools that it has."""

from nodrop.model.buffers import BufferPool
from nodrop.model.states import Unknown, require_fact

_POOL, _LOSSY = "ingress_lossless", "egress_lossy"


def lossless_pool_share_percent(pools: tuple[BufferPool, ...] | Unknown) -> int:
    """Return the share of the memory to be shared that is kept for lossless traffic, in percent.

    That is the pool's own share of the ingress pools. Where it holds lossy traffic too, the egress pool of that limits
    it, and the rest is for the lossless class (Bai et al., NSDI 2023, section 6.2). All where nothing is kept apart.
    UnknownFact where the pools, or a size among them, are not known.
    """
    found_pools = require_fact(pools, "device.buffer_pools")
    ingress = [pool for pool in found_pools if pool.direction == "ingress" and pool.size_bytes != 0]
    own_pool = next((pool for pool in ingress if pool.name == _POOL), None)
    if own_pool is None:
        return 100
    if own_pool.percentage is not None:
        return own_pool.percentage
    if own_pool.computed:
        return round(100 / sum(pool.computed for pool in ingress))
    if len(ingress) > 1:
        return _pool_percent(own_pool, sum(_pool_size_bytes(pool) for pool in ingress))
    lossy = next((pool for pool in found_pools if pool.name == _LOSSY), None)
    return (
        100
        if lossy is None
        else 100 - _pool_percent(lossy, _pool_size_bytes(own_pool) - (own_pool.shared_headroom_bytes or 0))
    )


def _pool_percent(pool: BufferPool, total_bytes: int) -> int:
    return round(100 * _pool_size_bytes(pool) / total_bytes) if total_bytes > 0 else 0


def _pool_size_bytes(pool: BufferPool) -> int:
    return require_fact(pool.size_bytes, "buffer_pool.size_bytes") or 0
