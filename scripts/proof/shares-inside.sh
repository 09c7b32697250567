#!/usr/bin/env bash
# Run by shares.sh inside the machine that it boots: two servers, the daemon's read-only mounts of
# them, and another client, in a network namespace and under a host name of its own.
set -euo pipefail
export PATH=/opt/scanferry/bin:/usr/sbin:/sbin:$PATH
config=/etc/scanferry/scanferry.yaml log=/var/log/scanferry.log
node=/opt/scanferry/node_modules/node/bin/node
nfs_options=ro,vers=4.2,hard,actimeo=1,nosuid,nodev,noexec
smb_options=ro,vers=3.1.1,soft,cache=strict,actimeo=1,echo_interval=10,uid=4242,file_mode=0440,dir_mode=0550,nosuid,nodev,noexec,guest

say() { printf '%s\n' "$*"; }
step() { printf '\n-- %s\n' "$*"; }
saw() { printf '   %-44s %s\n' "$1" "$2"; }
fail() {
  say "NOT SO: $*"
  grep -E '"msg":"(reader|source|scanned|started)' $log | tail -n 40 || :
  tail -n 10 $log || :
  dmesg | tail -n 15 || :
  exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
# until_true SECONDS WHAT COMMAND... The seconds are for a machine of its own; emulated beside other work it
# may take ten times as long, and only what never comes is wrong.
until_true() {
  local end=$((SECONDS + 10 * $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "waited in vain for $what"
    sleep 1
  done
}
count() { find "$1" -type f | wc -l; }
# The daemon's own figures: a command of its own would take seconds where everything is emulated.
metrics() {
  exec 3<>/dev/tcp/127.0.0.1/8470
  printf 'GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:8470\r\n\r\n' >&3
  cat <&3
  exec 3>&-
}
converted() { metrics | awk '/^scanferry_documents\{.*state="converted"/ { n += $NF } END { print n + 0 }'; }
has_converted() { [ "$(converted)" -ge "$1" ]; }
logged() { [ "$(grep -c "$1" $log)" -ge "${2:-1}" ]; }
# times MIRROR: how often its source was said to be offline.
times() { grep "\"mirror\":\"$1\"" $log | grep -c "source offline" || :; }
last_said() { grep "\"mirror\":\"$1\"" $log | grep "$2" | tail -1 | sed 's/.*"msg":"\([^"]*\)".*/\1/'; }
offline() { [ "$(times "$1")" -ge "$2" ]; }
online() { grep "\"mirror\":\"$1\"" $log | grep -q "source online again"; }
check() { scanferry --config $config check 2>&1 || :; }

mount_nfs() { mount -t nfs4 -o "$1" 10.1.0.1:/ "$2"; }
mount_smb() { mount -t cifs -o "$1" //10.1.0.1/scans "$2"; }
# As another machine does it: what a client remembers is kept for each network namespace apart.
in_office() { nsenter --net=/run/netns/office unshare --uts bash -c 'hostname office; "$@"' - "$@"; }

step "two servers"
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
ip netns add office
ip link add server type veth peer name office netns office
ip addr add 10.1.0.1/24 dev server
ip link set server up
ip -n office addr add 10.1.0.2/24 dev office
ip -n office link set office up
ip -n office link set lo up
mkdir -p /export/{nfs,smb}/{office,server} /srv/{nfs,smb} /mnt/{nfs,smb} /etc/scanferry /var/lib/scanferry
chmod -R 777 /export
echo '/export/nfs 10.1.0.0/24(rw,no_root_squash,no_subtree_check,fsid=0,insecure)' >/etc/exports
# A server that comes back waits this long for clients that held something open.
printf '[nfsd]\nvers3=n\ngrace-time=10\nlease-time=10\n' >/etc/nfs.conf
cat >/etc/samba/smb.conf <<'CONF'
[global]
map to guest = bad user
server min protocol = SMB3
[scans]
path = /export/smb
writeable = yes
guest ok = yes
force user = root
CONF
servers() { systemctl "$1" nfs-server smbd; }
servers start
saw kernel "$(uname -r)"
saw "SMB server" "$(smbd --version)"
saw "NFS server's versions" "$(cat /proc/fs/nfsd/versions)"

step "scanferry is started while nothing is mounted yet"
printf %s proof >/etc/scanferry/account.key
printf %s kept-secret-4711 >/etc/scanferry/signing.secret
cat >$config <<YAML
archive:
  url: http://10.0.2.2:8480
  accountKeyFile: /etc/scanferry/account.key
  signing: { scheme: hmac, secretFile: /etc/scanferry/signing.secret }
mirrors:
  - { source: /srv/nfs, target: /Scans/nfs, settle: 3s }
  - { source: /srv/smb, target: /Scans/smb, settle: 3s }
journal: /var/lib/scanferry/journal.db
web: { listen: 127.0.0.1:8470 }
YAML
chmod 400 /etc/scanferry/*.key /etc/scanferry/*.secret
chown -R 4242:4242 /etc/scanferry /var/lib/scanferry
setpriv --reuid 4242 --regid 4242 --clear-groups /opt/scanferry/bin/scanferry --config $config run \
  >$log 2>&1 </dev/null &
daemon=$!
until_true 180 "the daemon" logged '"started"'
mount_nfs "$nfs_options" /srv/nfs
mount_smb "$smb_options" /srv/smb
in_office mount -t nfs4 -o vers=4.2 10.1.0.1:/ /mnt/nfs
in_office mount -t cifs -o vers=3.1.1,hard,guest //10.1.0.1/scans /mnt/smb
for kind in nfs smb; do
  saw "/srv/$kind" "$(findmnt -no FSTYPE,OPTIONS "/srv/$kind" | tr -s ' ')"
  if touch "/srv/$kind/x" 2>/dev/null; then fail "/srv/$kind can be written to"; fi
done
saw "clients of the NFS server" "$(cat /proc/fs/nfsd/clients/*/info | grep -c '^name:')"
saw "connections to the SMB server" "$(grep -c '^[0-9]*) ConnectionId' /proc/fs/cifs/DebugData), dialect $(grep -o 'Dialect 0x[0-9]*' /proc/fs/cifs/DebugData | sort -u | tr '\n' ' ')"
until_true 180 "the mounts to be noticed" logged '"started"' 2
check | sed 's/^/   check: /'
[ "$(check | grep -c 'watched by polling')" = 2 ] || fail "check should say that both are polled"

step "another client writes, a piece at a time, with pauses of 0.2 to 8 s"
written=$(count /var/lib/documents)
writers=()
for way in nfs/office smb/office nfs/server smb/server; do
  case $way in */office) to=/mnt/$way ;; *) to=/export/$way ;; esac
  UV_THREADPOOL_SIZE=16 "$node" /opt/proof/shares-writer.ts "/var/lib/documents/$way" "$to" 120 \
    >"/tmp/${way/\//-}" 2>&1 &
  writers+=($!)
done
until_true 600 "a quarter to be archived" has_converted $((written / 4))

step "both servers are stopped"
stopped=$SECONDS so_far=$(converted)
servers stop
saw "CONVERTED so far; servers" "$so_far; $(systemctl is-active nfs-server smbd | tr '\n' ' ')"
for kind in smb nfs; do
  until_true 180 "the $kind share to be found offline" offline $kind 1
  saw "$kind, after $((SECONDS - stopped)) s" "$(last_said $kind 'source offline')"
done
check | grep 'mirror .*: source' | sed 's/^/   check: /'
[ "$(converted)" -ge "$so_far" ] || fail "CONVERTED documents were taken back"

step "they are back after $((SECONDS - stopped)) s"
began=$SECONDS
servers start
for kind in smb nfs; do
  until_true 300 "the $kind share to be found online" online $kind
  saw "$kind online again" "after $((SECONDS - began)) s"
done
wait "${writers[@]}" || fail "a writer failed: $(cat /tmp/{nfs,smb}-*)"
for way in nfs-office nfs-server smb-office smb-server; do saw "written to $way" "$(cat /tmp/$way)"; done
saw "on the servers" "$(count /export)"
began=$SECONDS
until_true 900 "all to be CONVERTED" has_converted "$written"
saw "all CONVERTED" "$(converted), $((SECONDS - began)) s after the last was written"

step "the shares are unmounted, and mounted again, the SMB one on demand (autofs)"
declare -A before=([nfs]=$(times nfs) [smb]=$(times smb))
# While a scan is in it, a share is busy: as a person would, another time.
for kind in smb nfs; do until_true 120 "/srv/$kind to be unmounted" umount /srv/$kind; done
for kind in smb nfs; do
  until_true 180 "$kind to be found offline" offline $kind $((before[$kind] + 1))
  saw "$kind" "$(last_said $kind 'source offline')"
done
scans=$(grep -c '"msg":"scanned"' $log)
mount_nfs "$nfs_options" /srv/nfs
cat >/run/systemd/system/srv-smb.mount <<UNIT
[Mount]
What=//10.1.0.1/scans
Where=/srv/smb
Type=cifs
Options=$smb_options
UNIT
printf '[Automount]\nWhere=/srv/smb\n' >/run/systemd/system/srv-smb.automount
systemctl daemon-reload
systemctl start srv-smb.automount
until_true 180 "both to be scanned" logged '"msg":"scanned"' $((scans + 2))
check | grep 'watched by' | sed 's/^/   check: /'
saw "documents" "$(metrics | sed -n 's/^scanferry_documents{mirror="\([^"]*\)",state="\([^"]*\)"} \([1-9].*\)/\1 \2 \3/p' | tr '\n' ' ')"

step "stop"
kill -TERM $daemon
wait $daemon && code=0 || code=$?
saw "exit code" "$code"
[ "$code" = 0 ] || fail "it did not end with 0"
systemctl stop srv-smb.automount srv-smb.mount
umount /srv/nfs /mnt/nfs /mnt/smb
servers stop
sync
say
say "all as it should be"
