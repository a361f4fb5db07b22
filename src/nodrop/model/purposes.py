"""Purposes of classes by their traffic: storage by protocol, and whether it is RoCE."""

from nodrop.model.fabric import Purpose, StorageProtocol

RDMA_STORAGE: frozenset[StorageProtocol] = frozenset({"nvme-rdma", "lustre-o2ib", "nfs-rdma"})
"""Storage over RoCE: it needs a lossless class where the fabric has PFC."""
TCP_STORAGE: frozenset[StorageProtocol] = frozenset({"nvme-tcp", "lustre-tcp"})
"""Storage over TCP, which needs loss to slow down and so belongs in a lossy class."""
STORAGE_PURPOSES: frozenset[Purpose] = frozenset({"storage", *RDMA_STORAGE, *TCP_STORAGE})
"""All storage, whether its protocol is stated or not."""
ROCE_PURPOSES: frozenset[Purpose] = frozenset({"rdma", *RDMA_STORAGE})
"""All traffic that is RoCE: of GPUs, and of storage."""
