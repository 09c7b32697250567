#!/usr/bin/env bash
# Boots a Debian in a virtual machine (a host's kernel may know neither NFS nor SMB) that serves two
# shares, mounts them, and lets another client write 1,000 documents into them while scanferry runs;
# shares-inside.sh is what happens there. The archive runs on the host, in a network of its own with
# the machine; nothing reaches any other.
#
#   sudo scripts/proof/shares.sh [DOCUMENTS]
#
# QEMU_ACCEL=kvm makes it quicker where that works; without it everything is emulated.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs mmdebstrap:mmdebstrap qemu-system-x86:qemu-system-x86_64 e2fsprogs:mkfs.ext4 iproute2:ip
documents=${1:-1000}
workplace
node=$repository/node_modules/node/bin/node
running=()

step "a Debian that serves NFS and SMB"
machine=$work/machine
mkdir "$machine"
debian_root "$machine" systemd-sysv,udev,linux-image-amd64,iproute2,kmod,procps,cifs-utils,samba,nfs-kernel-server,nfs-common
install_tree "$machine/opt/scanferry"
"$node" "$repository/scripts/proof/shares-documents.ts" "$machine/var/lib/documents" "$documents"
mkdir "$machine/opt/proof"
cp "$repository"/scripts/proof/shares-{inside.sh,writer.ts} "$machine/opt/proof"
cat >"$machine/etc/systemd/system/proof.service" <<'UNIT'
[Unit]
After=network.target
[Service]
Type=oneshot
ExecStart=-/bin/bash /opt/proof/shares-inside.sh
# An orderly end would wait for mounts whose server is stopped.
ExecStopPost=/bin/sh -c 'sync -f /; systemctl poweroff --force --force'
StandardOutput=file:/dev/ttyS1
StandardError=inherit
TimeoutStartSec=infinity
[Install]
WantedBy=multi-user.target
UNIT
systemctl --quiet --root="$machine" enable proof.service
# What only takes time: nobody logs in, and the proof starts its servers itself.
systemctl --quiet --root="$machine" mask serial-getty@ttyS0.service getty@tty1.service \
  apt-daily.timer apt-daily-upgrade.timer e2scrub_reap.service
for unit in smbd nmbd samba-ad-dc nfs-server rpcbind.socket; do
  systemctl --quiet --root="$machine" disable "$unit" 2>/dev/null || :
done
truncate -s 4G "$work/disk"
mkfs.ext4 -q -d "$machine" "$work/disk"
kernel=("$machine"/boot/vmlinuz-*)
saw kernel "${kernel##*/vmlinuz-}"
saw node "$("$node" --version)"
saw "documents to be scanned" "$documents"

step "an archive, and the machine beside it"
: >"$work/archive.log"
# shellcheck disable=SC2016
unshare --net bash -c 'ip link set lo up; exec "$@"' - \
  "$node" "$repository/dist/main.js" serve-archive --data "$work/archive" --listen 127.0.0.1:8480 \
  --account proof:kept-secret-4711 --folder /Scans/nfs/office --folder /Scans/nfs/server \
  --folder /Scans/smb/office --folder /Scans/smb/server >"$work/archive.log" 2>&1 </dev/null &
archive=$!
running+=("$archive")
until grep -q "listening on" "$work/archive.log"; do
  kill -0 "$archive" 2>/dev/null || fail "no archive: $(cat "$work/archive.log")"
  sleep 0.2
done
: >"$work/proof"
began=$SECONDS
nsenter --net="/proc/$archive/ns/net" qemu-system-x86_64 -accel "${QEMU_ACCEL:-tcg,thread=multi,tb-size=512}" \
  -cpu max,la57=off -m 2G -smp 2 -display none -no-reboot -kernel "${kernel[0]}" \
  -initrd "$machine"/boot/initrd.img-* \
  -append "root=/dev/vda rw console=ttyS0 quiet net.ifnames=0 systemd.show_status=0 mitigations=off" \
  -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" \
  -nic user,model=virtio-net-pci -serial "file:$work/console" -serial "file:$work/proof" </dev/null &
guest=$!
running+=("$guest")
tail --pid="$guest" --lines=+1 --follow "$work/proof" | sed -u 's/\r$//' &
running+=($!)
wait "$guest" || fail "the machine ended with $?"
sleep 2
tr -d '\r' <"$work/proof" | grep -q '^all as it should be$' || {
  tail -50 "$work/console"
  fail "see above"
}
saw "the machine ran for" "$((SECONDS - began)) s"

step "what the archive holds"
kill -TERM "$archive"
wait "$archive" || :
mkdir "$work/mounted"
# For writing: its own journal is to be played back first.
mount -o loop "$work/disk" "$work/mounted"
# A reader of the journal needs to write beside it.
cp -r "$work/mounted/var/lib/scanferry" "$work/journal"
"$node" "$repository/scripts/proof/shares-audit.ts" "$machine/var/lib/documents" \
  "$work/mounted/export" "$work/journal/journal.db" "$work/archive" || fail "see above"
step "proven at commit $(commit), $(date --utc +%Y-%m-%d)"
