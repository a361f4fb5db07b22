#!/bin/bash
# What a docker-sonic-vs container does with /nodrop: `before` lays the device's tables and its lane map where the
# image's start-up script looks for them; `after` gives FRR its configuration, once its daemons run.
case $1 in
before)
  mkdir -p /etc/sonic
  cp /nodrop/config_db.json /etc/sonic/config_db.json
  for file in lanemap.ini port_config.ini; do
    cp "/nodrop/$file" "/usr/share/sonic/device/${PLATFORM:-x86_64-kvm_x86_64-r0}/${HWSKU:-Force10-S6000}/$file.orig"
  done
  exec /bin/bash
  ;;
after)
  [ -f /nodrop/frr.conf ] || exit 0
  runs() { vtysh -d "$1" -c 'show version' >/dev/null 2>&1; }
  # From FRR 10 on, static routes go to mgmtd.
  for daemon in zebra mgmtd staticd bgpd; do
    [ -x "/usr/lib/frr/$daemon" ] || continue
    for second in $(seq 180); do
      runs "$daemon" && continue 2
      # Images up to 202605 do not start bgpd by themselves.
      [ "$daemon" = bgpd ] && supervisorctl start bgpd >/dev/null 2>&1
      sleep 1
    done
    echo "$daemon does not run after $second s: see /var/log/syslog" >&2
    exit 1
  done
  vtysh -f /nodrop/frr.conf
  ;;
esac
