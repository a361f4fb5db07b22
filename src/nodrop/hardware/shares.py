"""Which part of a switch's memory is kept for lossless traffic, by the pools that it has."""

from nodrop.model.buffers import BufferPool
from nodrop.model.states import Unknown, known

_POOL, _LOSSY = "ingress_lossless", "egress_lossy"


def lossless_share_percent(pools: tuple[BufferPool, ...] | Unknown) -> int:
    """Return the share of the memory to be shared that is kept for lossless traffic, in percent.

    That is the pool's own share of the ingress pools. Where it holds lossy traffic too, the egress pool of that limits
    it, and the rest is for the lossless class (Bai et al., NSDI 2023, section 6.2). All where nothing is kept apart.
    UnknownFact where the pools, or a size among them, are not known.
    """
    found = known(pools, "device.buffer_pools")
    ingress = [one for one in found if one.direction == "ingress" and one.size_bytes != 0]
    own = next((one for one in ingress if one.name == _POOL), None)
    if own is None:
        return 100
    if own.percentage is not None:
        return own.percentage
    if own.computed:
        return round(100 / sum(one.computed for one in ingress))
    if len(ingress) > 1:
        return _percent(own, sum(_size(one) for one in ingress))
    lossy = next((one for one in found if one.name == _LOSSY), None)
    return 100 if lossy is None else 100 - _percent(lossy, _size(own) - (own.shared_headroom_bytes or 0))


def _percent(pool: BufferPool, whole: int) -> int:
    return round(100 * _size(pool) / whole) if whole > 0 else 0


def _size(pool: BufferPool) -> int:
    return known(pool.size_bytes, "buffer_pool.size_bytes") or 0
