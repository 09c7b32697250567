#!/usr/bin/env bash
# Boots Debian 12 and 13 in containers of their own (no network but their own loopback), installs
# scanferry there as docs/install.md and docs/systemd.md say, and lets systemd-inside.sh put the unit to the proof.
#
#   sudo scripts/proof/systemd.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs mmdebstrap:mmdebstrap systemd-container:systemd-nspawn systemd:systemd-analyze
workplace

step "exposure, by systemd-analyze security (0 is best, 10 is worst)"
for unit in "$repository"/systemd/*.service; do
  saw "$(basename "$unit")" "$(systemd-analyze security --offline=true "$unit" 2>/dev/null |
    sed -n 's/.*Overall exposure level[^:]*: *\([0-9.]*\).*/\1/p')"
  systemd-analyze security --offline=true --threshold=12 "$unit" >/dev/null 2>&1 ||
    fail "it is more than 1.2"
done

for suite in bookworm trixie; do
  step "$suite"
  machine=$work/$suite
  mkdir "$machine"
  debian_root "$machine" systemd-sysv,procps "$suite"
  install_tree "$machine/opt/scanferry"
  saw systemd "$(chroot "$machine" systemctl --version | head -1)"
  saw node "$(chroot "$machine" /opt/scanferry/node_modules/node/bin/node --version)"
  boot "$machine" systemd-inside.sh
  rm -rf --one-file-system "$machine"
done
step "proven at commit $(commit), $(date --utc +%Y-%m-%d)"
