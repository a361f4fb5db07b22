"""Sizes of fabrics: the fewest switches for a number of GPUs, and first intents. It is pure and knows tiers by name."""
