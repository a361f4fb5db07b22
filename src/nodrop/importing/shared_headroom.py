"""How many times less shared headroom there is than all ports need, on switches that have headroom from tables."""

from nodrop.design.modes import has_pfc
from nodrop.design.static_buffers import design_static_buffers, has_static_headroom
from nodrop.design.topology import model_of, topology_of
from nodrop.importing.tier_view import TierView, most_common_value
from nodrop.intent.schema import MAX_HEADROOM_OVERSUBSCRIPTION, Intent
from nodrop.model.buffers import BufferPool
from nodrop.model.states import known_rows


def find_shared_headroom_ratio(tier_view: TierView, intent: Intent) -> int | None:
    """Return the ratio that gives an intent without a stated ratio the existing shared headroom.

    It is read from the highest tier, whose ports follow from their model; None where none is needed, or none fits.
    """
    group = topology_of(intent).groups[-1]
    if not has_pfc(intent.mode) or not has_static_headroom(model_of(group)):
        return None
    own_boxes = [box for each in tier_view.groups_of_tier(group.tier) for box in each.boxes]
    pools = (known_rows(box.device.buffer_pools) for box in own_boxes)
    target_bytes = most_common_value(size for own_pools in pools if (size := _shared_headroom_bytes(own_pools)))
    ratios: tuple[int | None, ...] = (None, *range(2, MAX_HEADROOM_OVERSUBSCRIPTION + 1))
    for candidate in ratios:
        shared = intent.buffers.model_copy(update={"shared_headroom": "off" if candidate is None else candidate})
        buffers = design_static_buffers(intent.model_copy(update={"buffers": shared}), group, model_of(group))
        if _shared_headroom_bytes(buffers.pools) == target_bytes:
            return candidate
    return None


def _shared_headroom_bytes(pools: tuple[BufferPool, ...]) -> int | None:
    headrooms = [pool.shared_headroom_bytes for pool in pools if pool.shared_headroom_bytes]
    return headrooms[0] if headrooms else None
