"""The part of a message that states the cause of a finding, used to group findings: not the words that only name it."""

from nodrop.model.subject import FABRIC, Subject, cable_ends


def names_of(subject: Subject, at: Subject) -> frozenset[str]:
    """Return the names of the part that a finding points at, and of the ends of a link."""
    names = {name for name in at[:2] if not name.startswith("@")}
    if subject[:2] == (FABRIC, "links"):
        names |= {name for end in cable_ends(subject[2]) for name in end}
    return frozenset(names)


def names_only(piece: str, subject: Subject, names: frozenset[str]) -> bool:
    """Whether a piece of a message is a part of the subject, or made of names of its ends or of the part pointed at.

    So `leaf1 Ethernet0` and `leaf1:Ethernet0` are.
    """
    return piece in subject or names.issuperset(piece.replace(":", " ").split(" "))


def unnamed(piece: str, rows: tuple[str, ...]) -> str:
    """Return a piece of a message with `*` for each of `rows` where it stands as a whole; the longest go first."""
    for name in rows:
        if name in piece:
            piece = starred(piece, name)
    return piece


def starred(text: str, name: str) -> str:
    """Return a text with `*` for a name where no letter, digit or one of `_.:-` goes before or after it.

    A pattern for each name would cost as much as the rest of a finding: many remarks have many names.
    """
    pieces, last, at = [], 0, text.find(name)
    while at >= 0:
        end = at + len(name)
        if _ends_name(text[at - 1 : at]) and _ends_name(text[end : end + 1]):
            pieces += [text[last:at], "*"]
            last = end
        else:
            end = at + 1
        at = text.find(name, end)
    return "".join((*pieces, text[last:]))


def _ends_name(char: str) -> bool:
    """Whether a character, or none, ends a name."""
    return not (char.isalnum() or (char and char in "_.:-"))
