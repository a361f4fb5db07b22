"""Results of the commands, as data: findings, changes, fixes and observations. `report` renders them.

A module here holds dataclasses and the totals that follow from them, and knows no output format.
"""
