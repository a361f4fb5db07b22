#!/bin/sh
# RoCE on every Pollara-400 of this host, as the fabric uec expects it.
# roce-Pollara-400.service runs it at each boot.
# Not written: shares of the classes (nicctl update qos scheduling), for no source says the unit of --rate-limit.
# Not written: nicctl update port --pause-type without PFC, for no source says the word for it.
# Not written: DCQCN turned off, for no source says how.
set -eu
nicctl update port --all --mtu 9194
nicctl update qos --classification-type pcp
nicctl update qos --classification-type dscp
nicctl update qos dscp-to-priority --dscp 0-10,12-25,27-45,47-55,57-63 --priority 0
nicctl update qos dscp-to-priority --dscp 26 --priority 3
nicctl update qos dscp-to-priority --dscp 11,46 --priority 5
nicctl update qos dscp-to-priority --dscp 56 --priority 7
nicctl update qos pfc --priority 0 --no-drop disable || true
for net in /sys/class/net/*; do
    [ "$(cat "$net/device/vendor" 2>/dev/null):$(cat "$net/device/device" 2>/dev/null)" = 0x1dd8:0x1002 ] || continue
    port=${net##*/}
    ip link set dev "$port" mtu 9194
    for rdma in "$net"/device/infiniband/*; do
        rdma=${rdma##*/}
        mkdir -p "/sys/kernel/config/rdma_cm/$rdma"
        echo "RoCE v2" > "/sys/kernel/config/rdma_cm/$rdma/ports/1/default_roce_mode"
        echo 106 > "/sys/kernel/config/rdma_cm/$rdma/ports/1/default_roce_tos"
        rmdir "/sys/kernel/config/rdma_cm/$rdma"
    done
done
