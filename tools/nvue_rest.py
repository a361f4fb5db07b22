"""The part of the published settings that platforms/nvue/schema.yaml leaves open."""

from dataclasses import replace

from nodrop.platforms.nvue.schema import WordsAfterPath
from nvue_merge import Merged


def left_open(place: WordsAfterPath, tree: Merged) -> Merged | None:
    """Return the words of a tree that are below an open place of schema.yaml, with those that lead to it, or None."""
    if place.open and not place.words and place.chosen is None:
        return tree if tree.words or tree.values else None
    names = {word for word in tree.words if word.startswith("<")}
    found: dict[str, Merged] = {}
    for word, one in tree.words.items():
        chosen = place.chosen if word in names else None
        node = chosen.below if chosen else place.words.get(word)
        name = f"<{chosen.name}>" if chosen else word
        if node is None and place.open:
            found[name] = one
        elif isinstance(node, WordsAfterPath) and (below := left_open(node, one)) is not None:
            found[name] = below
    stated = place.open and bool(tree.places) and not tree.open
    return replace(tree, values={}, words=found) if found or stated else None
