"""Intents with a second lossless class, for storage over RoCE."""

from support.designs import Data, shipped

NVME: Data = {
    "purpose": "nvme-rdma", "dscp": "34", "priority": "4", "lossless": True, "share": "20%",
    "ecn": {"min": "150kB", "max": "1500kB", "probability": "100%"},
}  # fmt: skip


def with_nvme(name: str, changes: Data | None = None, **of_class: object) -> Data:
    """Return an intent whose storage is NVMe over RoCE, with other values of its class, and changes elsewhere."""
    nvme = {key: value for key, value in (NVME | of_class).items() if value is not None}
    return shipped(name, {"classes.storage": None, "classes.nvme": nvme, "hosts.pfc": ["3", "4"], **(changes or {})})
