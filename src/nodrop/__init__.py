"""nodrop: a compiler and linter for RoCEv2 GPU-cluster fabrics."""
