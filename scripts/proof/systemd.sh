#!/usr/bin/env bash
# Boots a Debian with systemd in a container of its own (no network but its own loopback), installs
# scanferry there as docs/operations.md says, and lets systemd-inside.sh put the unit to the proof.
#
#   sudo scripts/proof/systemd.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs mmdebstrap:mmdebstrap systemd-container:systemd-nspawn systemd:systemd-analyze
workplace

step "exposure, by systemd-analyze security (0 is best, 10 is worst)"
for unit in "$repository"/systemd/*.service; do
  saw "$(basename "$unit")" "$(systemd-analyze security --offline=true "$unit" |
    sed -n 's/.*Overall exposure level[^:]*: *\([0-9.]*\).*/\1/p')"
  systemd-analyze security --offline=true --threshold=12 "$unit" >/dev/null ||
    fail "it is more than 1.2"
done

step "a Debian with systemd"
machine=$work/machine
mkdir "$machine"
debian_root "$machine" systemd-sysv,procps
install_tree "$machine/opt/scanferry"
cp "$repository/scripts/proof/systemd-inside.sh" "$machine/opt"
cat >"$machine/etc/systemd/system/proof.service" <<UNIT
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=-/bin/bash /opt/systemd-inside.sh
ExecStopPost=/bin/systemctl --no-block start poweroff.target
StandardOutput=append:/var/log/proof
StandardError=inherit
TimeoutStartSec=9min
[Install]
WantedBy=default.target
UNIT
systemctl --quiet --root="$machine" enable proof.service
saw systemd "$(chroot "$machine" systemctl --version | head -1)"
saw node "$(chroot "$machine" /opt/scanferry/node_modules/node/bin/node --version)"

step "boot"
# A host that was not started by systemd has no place for the machine's state: it gets one here.
unshare --mount --propagation private bash -c '
  mkdir -p /run/systemd/nspawn && mount -t tmpfs tmpfs /run/systemd/nspawn
  exec timeout --kill-after=10 600 systemd-nspawn --quiet --register=no --keep-unit --boot \
    --directory="$1" --private-network --console=pipe --link-journal=no
' - "$machine" </dev/null >"$work/console" 2>&1 || saw nspawn "ended with $?"
cat "$machine/var/log/proof" || { cat "$work/console"; fail "the machine did not run the proof"; }
grep -q '^all as it should be$' "$machine/var/log/proof" || {
  tail -50 "$work/console"
  fail "see above"
}
step "proven at commit $(commit), $(date --utc +%Y-%m-%d)"
