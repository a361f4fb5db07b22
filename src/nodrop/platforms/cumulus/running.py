"""What Cumulus Linux with files of its own runs: what /etc/frr/daemons turns on."""

from nodrop.platforms.kit.running import CUMULUS as RUNS

__all__ = ["RUNS"]
