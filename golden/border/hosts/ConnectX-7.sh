#!/bin/sh
# RoCE on every ConnectX-7 of this host, as the fabric border expects it.
# None of it outlives a restart: roce-ConnectX-7.service runs it at each boot.
set -eu
for net in /sys/class/net/*; do
    [ "$(cat "$net/device/vendor" 2>/dev/null):$(cat "$net/device/device" 2>/dev/null)" = 0x15b3:0x1021 ] || continue
    port=${net##*/}
    ip link set dev "$port" mtu 9216
    ethtool -A "$port" rx off tx off || true
    mlnx_qos -i "$port" --trust dscp
    mlnx_qos -i "$port" --pfc 0,0,0,1,0,0,0,0
    mlnx_qos -i "$port" --cable_len 3
    ethtool --set-tunable "$port" pfc-prevention-tout auto
    echo 1 > "$net/ecn/roce_np/enable/3"
    echo 1 > "$net/ecn/roce_rp/enable/3"
    echo 48 > "$net/ecn/roce_np/cnp_dscp"
    echo 6 > "$net/ecn/roce_np/cnp_802p_prio"
    for rdma in "$net"/device/infiniband/*; do
        cma_roce_mode -d "${rdma##*/}" -p 1 -m 2
        cma_roce_tos -d "${rdma##*/}" -t 106
        echo 106 > "/sys/class/infiniband/${rdma##*/}/tc/1/traffic_class"
    done
done
