"""Proofs about lossless fabrics: which buffers wait for which, whether any circle of them can form, and how far a
pause spreads.
"""
