"""Words about the PFC watchdog's timers."""

from nodrop.fabric.qos import PfcWatchdog
from nodrop.lint.vocabulary import word


@word("function")
def outlasted_timeout(watchdog: PfcWatchdog, polling_ms: int | None, timeout_ms: int, retries: int) -> str:
    """What a watchdog takes longer for than RDMA waits, as the end of a sentence; nothing where it is fast enough.

    It acts at the latest one polling after its detection time, and holds the queue for at least its restoration time.
    A QP sends again after `timeout_ms`, and gives up when it has done so `retries` times in vain.
    """
    if watchdog.detection_ms is None:
        return ""
    acts_ms = watchdog.detection_ms + (polling_ms or 0)
    if acts_ms >= timeout_ms:
        return f"acts after up to {acts_ms} ms, but QPs time out after {timeout_ms} ms"
    freed_ms, given_up_ms = acts_ms + (watchdog.restoration_ms or 0), timeout_ms * (retries + 1)
    if freed_ms >= given_up_ms:
        return f"drops until {freed_ms} ms have passed, but QPs give up after {given_up_ms} ms"
    return ""
