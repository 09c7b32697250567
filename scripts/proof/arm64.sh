#!/usr/bin/env bash
# Installs and runs the Debian package for arm64 in a Debian for arm64, emulated (QEMU's user mode):
# arm64-inside.sh is what happens there, in a network of its own.
#
#   sudo scripts/proof/arm64.sh [PACKAGE.deb]
#
# Without a package it makes one. A machine that is arm64 itself runs it without emulation.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs mmdebstrap:mmdebstrap arch-test:arch-test dpkg:dpkg-deb npm:npm
workplace
running=()
node=$repository/node_modules/node/bin/node
package=${1:-}

emulate_arm64

if [ -z "$package" ]; then
  step "make the package"
  nice -n 10 "$node" "$repository/scripts/package/deb.ts" --to "$work" --architecture arm64 >/dev/null
  package=$(echo "$work"/*_arm64.deb)
fi
saw package "$(basename "$package"), $(($(stat -c %s "$package") / 1000000)) MB, SHA-256 $(sha256sum "$package" | cut -c1-16)..."

step "a Debian for arm64"
machine=$work/machine
mkdir "$machine"
debian_root "$machine" libstdc++6,procps "" arm64
cp "$package" "$machine/opt/scanferry.deb"
cp "$repository/scripts/proof/arm64-inside.sh" "$machine/opt"
# A root of its own in the table of mounts, in which sources are looked up.
mount --bind "$machine" "$machine"
mount -t proc proc "$machine/proc"
mount --rbind /dev "$machine/dev"
mount --make-rslave "$machine/dev"
began=$SECONDS
unshare --net --pid --fork --kill-child bash -c 'ip link set lo up && exec env --ignore-environment "$(command -v chroot)" "$1" /bin/bash /opt/arm64-inside.sh' \
  - "$machine" </dev/null 2>&1 | tee "$work/seen"
grep -q '^all as it should be$' "$work/seen" || fail "see above"
saw "it took" "$((SECONDS - began)) s"
step "proven at commit $(commit), $(date --utc +%Y-%m-%d)"
