"""Decide whether files of a host are for RoCE or InfiniBand, which share commands, libraries and variables."""

from nodrop.model.index import Index
from nodrop.model.nics import Nic, value_or_none

LINK_LAYER_FACT = "nic.link_layer"
"""The fact that settles it."""
_ROCE_ONLY_SETTINGS = (
    *("trust", "pfc_priorities", "dscp_to_priority", "tos", "traffic_class", "driver_traffic_class"),
    *("ucx_traffic_class", "gin_traffic_class", "nvshmem_traffic_class", "cnp_dscp", "roce_version"),
)
"""Settings that only RoCE has, or that only RoCE gives a meaning."""
_INFINIBAND_GID_COUNT = 2
"""How many GID indexes InfiniBand has, too: more than its port GID and an alias are addresses of IP (`show_gids`)."""


def is_nic_file_for_roce(index: Index, nic: Nic) -> bool | None:
    """Return whether a file is for RoCE: by its link layer, the switches, or settings; None if nothing states it."""
    by_host: dict[str, bool | None] = index.compute_once("link layers", dict)
    if nic.host not in by_host:
        by_host[nic.host] = _is_roce_host(index, nic.host)
    return by_host[nic.host]


def link_layers_of_host(index: Index, host: str) -> frozenset[str]:
    """Return the link layers that the files of a host state."""
    layers = {value_or_none(nic, "link_layer") for nic in index.nics_by_host.get(host, ())}
    return frozenset(layers - {None})


def _is_roce_host(index: Index, host: str) -> bool | None:
    own_nics = index.nics_by_host.get(host, ())
    layers = link_layers_of_host(index, host)
    if "infiniband" in layers:
        return False
    if index.fabric.devices or "ethernet" in layers or any(own_nic.spectrum_x is True for own_nic in own_nics):
        return True
    if any(value_or_none(own_nic, field) is not None for own_nic in own_nics for field in _ROCE_ONLY_SETTINGS):
        return True
    return (
        True
        if any((value_or_none(own_nic, "gid_index") or 0) >= _INFINIBAND_GID_COUNT for own_nic in own_nics)
        else None
    )
