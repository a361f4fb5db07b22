"""Two fabrics side by side: what changes in the model's words, how risky it is on switches that run, and the patch.

`nodrop.plan(old, new)` is `planning.plan`.
"""
