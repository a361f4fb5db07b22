"""Intents with ports that are broken out."""

EIGHTHS = {
    "topology.leaves.platform": "nvue",
    "topology.leaves.version": "5.14",
    "topology.leaves.ports": {"endpoints": "1, 3", "uplinks": "5, 7", "dead": "2, 4"},
    "topology.uplinks.per_spine": "4",
    "topology.uplinks.split": "8",
    "topology.uplinks.speed": "100G",
    "topology.uplinks.spine_split": "4",
    "topology.uplinks.media": "AOC",
    "endpoints.storage": None,
    "endpoints.gpu": {
        "ids": "1-8",
        "gpus": "8",
        "nic": "ConnectX-7",
        "ports": "1",
        "leaf_group": "8",
        "split": "8",
        "speed": "100G",
        "media": "AOC",
        "length": "3m",
    },
    "topology.leaves.model": "SN5600",
    "topology.spines.model": "SN5600",
}
