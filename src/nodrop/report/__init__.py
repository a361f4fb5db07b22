"""Everything that knows an output format: an `Outcome` goes in, what a person or a program reads comes out.

A module with a function `render(outcome, …)` is a format; adding one is adding a file. The others serve them.
"""
