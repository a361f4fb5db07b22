"""What Cumulus Linux with NCLU runs: what /etc/frr/daemons turns on."""

from nodrop.platforms.kit.running import CUMULUS_DAEMONS as RUNS

__all__ = ["RUNS"]
