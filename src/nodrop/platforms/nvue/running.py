"""The services that Cumulus Linux with NVUE runs: nv config apply starts those that a configuration needs."""

from nodrop.platforms.kit.running import CUMULUS_DAEMONS as RUNS

__all__ = ["RUNS"]
