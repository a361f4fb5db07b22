"""A tree and what it was, judged side by side: what changes, which findings are new, and what becomes of routing."""
