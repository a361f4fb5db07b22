"""The bad examples of rules, on every platform that can express them."""

from collections.abc import Iterator

from nodrop.engine.example_setup import TIER_CHANGES_BY_PLATFORM, PlatformExamples, UnsupportedExample
from nodrop.engine.examples import FabricOnPlatform, build_example_views
from nodrop.engine.rule import Rule


def views(rule: Rule) -> Iterator[tuple[str, FabricOnPlatform]]:
    """Yield the bad examples of a rule on every platform that can express them."""
    for example in rule.examples:
        for platform in TIER_CHANGES_BY_PLATFORM if example.kind == "bad" else ():
            setting = PlatformExamples(platform)
            try:
                setting.raise_if_example_unsupported(example)
                seen = build_example_views(
                    example,
                    setting.build_base_fabric,
                    setting.read_fabric_from_platform_files,
                    setting.views_of_edited_artifacts,
                )
                yield from ((example.name, view) for view in seen if view.platform == platform or example.artifact)
            except (UnsupportedExample, ValueError):
                continue
