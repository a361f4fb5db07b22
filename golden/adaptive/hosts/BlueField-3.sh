#!/bin/sh
# RoCE on every BlueField-3 of this host, as the fabric adaptive expects it.
# None of it outlives a restart: roce-BlueField-3.service runs it at each boot.
set -eu
unmarked=
for net in /sys/class/net/*; do
    [ "$(cat "$net/device/vendor" 2>/dev/null):$(cat "$net/device/device" 2>/dev/null)" = 0x15b3:0xa2dc ] || continue
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
    # Switches spray the packets that the NIC marks for it. The first setting works after a restart and stays.
    pci=$(basename "$(readlink -f "$net/device")")
    mlxconfig -d "$pci" query ROCE_ADAPTIVE_ROUTING_EN | grep -q 'True(1)' ||
        mlxconfig -d "$pci" --yes set ROCE_ADAPTIVE_ROUTING_EN=1
    mlxreg -d "$pci" --yes --reg_name ROCE_ACCL --set adaptive_routing_forced_en=1 || unmarked="$unmarked $port"
done
if [ -n "$unmarked" ]; then
    echo "No adaptive routing on$unmarked: restart this host, for ROCE_ADAPTIVE_ROUTING_EN works from then on" >&2
    exit 1
fi
