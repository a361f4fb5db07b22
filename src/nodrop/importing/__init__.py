"""From configurations to an intent: the inverse of `design`, part by part, tried by building what was found.

A module per part gives keys and what it leaves over (`found.Found`); `leaving` takes out what is left to its default;
`trying` builds the intent, reads its files back and says which facts are not as they were.
"""

from nodrop.importing.derived import Imported, derive

__all__ = ["Imported", "derive"]
