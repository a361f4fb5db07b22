"""NVIDIA Cumulus Linux 5.x as NVUE configures it, on Spectrum switches."""
