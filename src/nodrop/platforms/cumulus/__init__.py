"""Cumulus Linux as its files say it, of any release: QoS, interfaces, ports and FRR, read and never written."""
