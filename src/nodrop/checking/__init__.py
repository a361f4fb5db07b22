"""A tree and its earlier state, checked side by side: changes, new findings, and the effect on routing."""
