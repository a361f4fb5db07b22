"""Batfish, asked about the configurations of a fabric."""
