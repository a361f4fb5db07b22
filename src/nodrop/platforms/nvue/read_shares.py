"""Shares that do not fit together: more than there is of a whole, and lossless classes that have one half of two.

Sources: Cumulus Linux 5.16, Quality of Service (traffic pools, flow control buffers, egress scheduling, caveats) and
RDMA over Converged Ethernet (which pool is the lossless one).
"""

from collections.abc import Iterable, Iterator
from functools import partial

from nodrop.platforms.nvue.macro_contradictions import choices_for_single_lossless_pool
from nodrop.platforms.nvue.read_qos import GLOBAL_PROFILE
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile, is_on, render_path
from nodrop.platforms.nvue.tree import Path

_FULL_PERCENT = 100
_SERVICE_POOLS = ("ingress-service-pool", "ingress-pool", "egress-service-pool", "egress-pool")
"""Before 5.11 they were called without `service`."""
_LOSSLESS, _OF_MACRO = "default-lossless", "roce-lossless"

ShareAtPath = tuple[str, int, Path]
"""Whose it is, percent, and where it stands."""


def check_shares_and_lossless_pools(config: NvueConfigFile, macro: str | None) -> None:
    """Remark shares that add up to more than the whole, and PFC or a lossless pool without the other.

    `macro` is the mode of `qos roce`, None where it is off: with it the pools and PFC are the macro's.
    """
    qos = config.top.below("qos")
    for path, shares in _shares_by_path(qos):
        total = sum(percent for _, percent, _ in shares)
        if total > _FULL_PERCENT:
            share_list = ", ".join(f"{name} {percent}" for name, percent, _ in shares)
            config.remark(
                "shares-exceed-whole", (), shares[-1][2], what=render_path(path), total=str(total), parts=share_list
            )
    if macro is None:
        _check_pfc_and_pools(config, qos)


def _shares_by_path(qos: ConfigNodeView) -> Iterator[tuple[Path, list[ShareAtPath]]]:
    """Yield each whole that is shared out, and its shares."""
    pools = qos.below("traffic-pool")
    yield pools.path, _stated_percents(pools, "memory-percent")
    advanced = qos.below("advance-buffer-config", GLOBAL_PROFILE)
    for kind in _SERVICE_POOLS:
        service = advanced.below(kind)
        yield (
            service.path,
            [row for row in _stated_percents(service, "memory-percent") if not _is_infinite_pool(service, row[0])],
        )
    for name in qos.below("egress-scheduler").node:
        profile = qos.below("egress-scheduler", name)
        shares = []
        for tc, node in profile.items_by_number("traffic-class", 7):
            percent = node.integer("bw-percent", 0, _FULL_PERCENT, "percent")
            if percent and node.text("mode") != "strict":
                shares.append((f"traffic class {tc}", percent, (*node.path, "bw-percent")))
        yield profile.path, shares


def _stated_percents(node: ConfigNodeView, key: str) -> list[ShareAtPath]:
    percents = (
        (name, inside.integer(key, 0, _FULL_PERCENT, "percent"), (*inside.path, key)) for name, inside in node.items()
    )
    return [(name, percent, path) for name, percent, path in percents if percent]


def _is_infinite_pool(pools: ConfigNodeView, name: str) -> bool:
    return pools.below(name).text("infinite") in ("true", "on", "enabled")


def _check_pfc_and_pools(config: NvueConfigFile, qos: ConfigNodeView) -> None:
    """Report settings without their other half: a lossless class needs PFC and a pool, and there is one such pool.

    Link pause makes use of a lossless pool too, without PFC.
    """
    pools = qos.below("traffic-pool")
    shared = [name for name in (_LOSSLESS, _OF_MACRO) if pools.below(name).has("memory-percent")]
    if len(shared) > 1:
        roce = qos.below("roce")
        is_macro_on = qos.has("roce") and is_on(roce) is not False
        correct = partial(choices_for_single_lossless_pool, qos, _OF_MACRO if is_macro_on else _LOSSLESS)
        facts = {"first": _LOSSLESS, "second": _OF_MACRO}
        config.remark("two-lossless-pools", (), (*pools.path, _OF_MACRO), correct, **facts)
        return
    paused = dict(_pfc_priorities(qos))
    is_full_config = config.tree is not None and bool(config.tree.header)
    if not is_full_config and not pools:
        return  # A part of a configuration may leave the pools to what the switch has.
    if paused and not shared and not qos.has("advance-buffer-config"):
        lacks = f"{_LOSSLESS} in qos traffic-pool with a share of the memory"
        _remark_half_lossless_setup(
            config, next(iter(paused.values())), f"priority {_render_priorities(paused)}", "PFC", lacks
        )
    for name in shared:
        pooled = {priority for priority, _ in pools.below(name).items_by_number("switch-priority", 7)}
        missing, unpaused = paused.keys() - pooled, pooled - paused.keys()
        if pooled and missing:
            lacks = f"place in {name}, which is for priority {_render_priorities(pooled)}"
            _remark_half_lossless_setup(
                config, (*pools.path, name, "switch-priority"), f"priority {_render_priorities(missing)}", "PFC", lacks
            )
        elif not qos.has("link-pause") and (unpaused or (is_full_config and not paused)):
            who = f"priority {_render_priorities(unpaused)}" if unpaused else "the switch"
            _remark_half_lossless_setup(config, (*pools.path, name), who, f"the lossless pool {name}", "PFC")


def _render_priorities(priorities: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(priorities)))


def _remark_half_lossless_setup(config: NvueConfigFile, path: Path, subject: str, has: str, lacks: str) -> None:
    config.remark("lossless-half-configured", (), path, what=subject, has=has, lacks=lacks)


def _pfc_priorities(qos: ConfigNodeView) -> Iterator[tuple[int, Path]]:
    """Yield the priorities with PFC in either direction, in any profile, and where they stand."""
    for name in qos.below("pfc").node:
        profile = qos.below("pfc", name)
        if any(profile.text(direction) not in ("disable", "disabled", "off") for direction in ("tx", "rx")):
            for priority, node in profile.items_by_number("switch-priority", 7):
                yield priority, node.path
