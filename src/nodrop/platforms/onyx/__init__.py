"""NVIDIA Onyx (before: MLNX-OS Ethernet) on Spectrum-1 to Spectrum-3: a running-config, read and never written."""
