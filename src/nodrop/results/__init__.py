"""Results of the commands, as data: what was found, changed, fixed or seen. `report` renders them.

A module here holds dataclasses and the totals that follow from them, and knows no output format.
"""
