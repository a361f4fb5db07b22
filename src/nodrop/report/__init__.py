"""Everything that knows an output format: from an `Outcome` to text for a person or a program.

A module with a function `render(outcome, …)` is a format; adding one is adding a file. The others serve them.
"""
