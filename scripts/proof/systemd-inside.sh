#!/usr/bin/env bash
# Run by systemd.sh inside the machine that it boots: the unit as installed, put to the proof.
set -euo pipefail
export PATH=/opt/scanferry/bin:$PATH CREDENTIALS_DIRECTORY=/etc/scanferry/secrets
config=/etc/scanferry/scanferry.yaml
say() { printf '%s\n' "$*"; }
step() { printf '\n-- %s\n' "$*"; }
saw() { printf '   %-44s %s\n' "$1" "$2"; }
fail() {
  say "NOT SO: $*"
  journalctl --no-pager --unit=scanferry.service --unit=archive.service --lines=60 || :
  exit 1
}
property() { systemctl show --property="$1" --value "${2:-scanferry}"; }
# until_true SECONDS WHAT COMMAND...
until_true() {
  local left=$(($1 * 10)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((left-- > 0)) || fail "waited in vain for $what"
    sleep 0.1
  done
}
converted() { scanferry --config "$config" list --json --state converted | wc -l; }
all_converted() { [ "$(converted)" = "$1" ]; }
logged() { journalctl --no-pager --unit="${2:-scanferry}" --grep "$1"; }
restarts() { [ "$(property NRestarts)" = "$1" ]; }

step "an archive in the same machine"
systemd-run --quiet --unit=archive --property=StateDirectory=archive --property=DynamicUser=yes \
  /opt/scanferry/bin/scanferry serve-archive --data /var/lib/archive --listen 127.0.0.1:8480 \
  --account proof:kept-secret-4711 --folder /Scans
until_true 20 "the archive" logged "listening on" archive

step "installed as docs/operations.md says"
install -d /etc/scanferry /srv/scans
install -d -m 700 /etc/scanferry/secrets
printf %s proof >/etc/scanferry/secrets/account.key
printf %s kept-secret-4711 >/etc/scanferry/secrets/signing.secret
chmod 600 /etc/scanferry/secrets/*
cat >$config <<YAML
archive:
  url: http://127.0.0.1:8480
  accountKeyFile: account.key
  signing: { scheme: hmac, secretFile: signing.secret }
mirrors:
  - source: /srv/scans
    target: /Scans
    settle: 500ms
conversion: { poll: { initial: 500ms, max: 2s } }
YAML
cp /opt/scanferry/systemd/scanferry.service /etc/systemd/system/
systemctl daemon-reload
mapfile -t samples < <(find /opt/scanferry/samples -type f -name '*.pdf' | sort)
cp "${samples[0]}" /srv/scans/first.pdf

step "start"
systemctl start scanferry || fail "it did not start"
saw state "$(property ActiveState), $(property SubState)"
pid=$(property MainPID)
saw "user of the daemon" "$(stat -c %u "/proc/$pid"), chosen by systemd"
[ "$(stat -c %u "/proc/$pid")" != 0 ] || fail "it runs as root"
until_true 30 "CONVERTED" all_converted 1
saw "documents CONVERTED" "$(converted)"
saw "account key in the environment" "$(tr '\0' '\n' <"/proc/$pid/environ" | grep -c 4711 || :) times"

step "restart after a kill"
systemctl kill --signal=KILL --kill-whom=main scanferry
until_true 30 "a restart" restarts 1
until_true 30 "the page" logged '"started"'
cp "${samples[1]}" /srv/scans/second.pdf
until_true 30 "CONVERTED" all_converted 2
saw "restarts, documents CONVERTED" "$(property NRestarts), $(converted)"

step "reload"
pid=$(property MainPID)
sed -i 's/settle: 500ms/settle: 400ms/' $config
systemctl reload scanferry
until_true 30 "the new configuration" logged 'config read again'
cp "${samples[2]}" /srv/scans/third.pdf
until_true 30 "CONVERTED" all_converted 3
[ "$(property MainPID)" = "$pid" ] || fail "the process is another one"
saw "same process, documents CONVERTED" "$pid, $(converted)"

step "stop"
systemctl stop scanferry
saw "result, exit code" "$(property Result), $(property ExecMainStatus)"
[ "$(property ExecMainStatus)" = 0 ] || fail "it did not end with 0"
saw "journal kept" "$(stat -c '%n, %s bytes, mode %a' /var/lib/scanferry/journal.db)"
systemctl start scanferry
saw "documents CONVERTED after another start" "$(converted)"
scanferry --config $config verify | sed 's/^/   verify: /'
systemctl stop scanferry

say
say "all as it should be"
