"""How long RDMA waits: the time that the watchdogs of switches must beat.

NCCL's defaults, src/transport/net_ib: NCCL_IB_TIMEOUT 20, NCCL_IB_RETRY_CNT 7. The timeout is 4.096 µs times 2 to that
power (InfiniBand Architecture Specification, volume 1, section 9.7.6.1.3).
"""

QP_RETRANSMIT_TIMEOUT_MS = 4294
"""After how long a queue pair sends again, ms."""
QP_RETRIES = 7
"""How often it does so before it gives up."""
