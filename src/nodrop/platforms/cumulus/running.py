"""Daemons that Cumulus Linux runs with separate files: those that /etc/frr/daemons turns on."""

from nodrop.platforms.kit.running import CUMULUS_DAEMONS as RUNS

__all__ = ["RUNS"]
