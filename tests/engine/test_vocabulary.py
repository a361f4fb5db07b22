"""The words of every area, and how a word is declared and found."""

from dataclasses import replace
from types import ModuleType

import pytest

from nodrop.engine import vocabulary
from nodrop.engine.vocabulary import declare_word, general
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, Unknown


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("priorities", (3,), "priority 3"),
        ("priorities", (3, 4), "priorities 3 and 4"),
        ("priorities", (1, 2, 3), "priorities 1, 2 and 3"),
        ("priorities", (), "no priority"),
        ("priorities", None, "no priority"),
        ("listed", ("a", "b", "c"), "a, b and c"),
        ("listed", ("a",), "a"),
        ("listed", (), "none"),
        ("ranges", (0, 1, 2, 5), "0-2, 5"),
        ("ranges", (), "none"),
        ("bytes", 1_500_000, "1.5 MB"),
        ("bytes", 9216, "9.216 kB"),
        ("bytes", 999, "999 B"),
        ("bytes", 0, "0 B"),
        ("bytes", None, "none"),
        ("speed", 400_000, "400G"),
        ("speed", 2500, "2.5G"),
        ("speed", 100, "100M"),
        ("speed", None, "none"),
        ("ms", 200, "200 ms"),
        ("ms", 1_000_000, "1000000 ms"),
        ("ms", 0.5, "0.5 ms"),
        ("ms", None, "none"),
        ("length", 5, "5 m"),
        ("length", None, "none"),
        ("percent", 100.0, "100 %"),
        ("percent", 2 / 3, "0.667 %"),
    ],
)
def test_filters_spell_quantities(name: str, value: object, expected: str) -> None:
    assert vocabulary.vocabulary()["filter", name].function(value) == expected


def test_tests_and_functions() -> None:
    assert general.count(((), ())) == 2
    assert general.contains("uplink to spine1", "spine") is True
    assert general.contains("uplink", "spine") is False
    assert general.contains(None, "spine") is False
    assert general.within((3,), (3, 4)) is True
    assert general.within((3, 5), (3, 4)) is False
    assert general.known(None) is True
    assert general.known(UNKNOWN) is False


def test_a_word_is_what_its_function_says() -> None:
    @declare_word("function", rests_on=("classes",))
    def needed_bytes_(
        name: str, share: int | float = 1, fact: int | None | Unknown = None, *, index: Index
    ) -> int | None:
        """How much."""
        return len(index.fabric.devices)

    made = vars(needed_bytes_)["nodrop_word"]
    assert (made.kind, made.name, made.required, made.indexed) == ("function", "needed_bytes", 1, True)
    assert [(name, kind.describe(), kind.unknown) for name, kind in made.parameters] == [
        ("name", "text", False),
        ("share", "a number", False),
        ("fact", "a number or none", True),
    ]
    assert (made.result.describe(), made.rests_on, made.doc) == ("a number or none", {"classes"}, "How much.")
    assert made.function is needed_bytes_


def test_words_belong_to_the_module_that_declares_them() -> None:
    importing = ModuleType("importing")
    importing.__dict__["speed"] = general.speed
    assert vocabulary.words_declared_in(importing) == []
    assert {each.name for each in vocabulary.words_declared_in(general)} >= {"speed", "bytes", "count", "known"}


def test_two_words_of_one_name_are_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each module of the folder is asked; here each is said to declare what `general` does."""
    monkeypatch.setattr(vocabulary, "words_declared_in", lambda module: [_renamed(module.__name__)])
    with pytest.raises(TypeError, match="two filters are called speed"):
        vocabulary.vocabulary.__wrapped__()


def _renamed(module: str) -> vocabulary.VocabularyWord:
    return replace(vocabulary.vocabulary()["filter", "speed"], doc=f"The speed of {module}.")


def test_every_word_has_a_page_and_types_of_the_model() -> None:
    for (kind, name), each in vocabulary.vocabulary().items():
        assert each.doc.strip().endswith("."), name
        assert (each.kind, each.name) == (kind, name)
        assert each.parameters or each.indexed, name
        assert kind != "test" or each.result.describe() == "true or false", name
