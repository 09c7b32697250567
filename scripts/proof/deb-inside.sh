#!/usr/bin/env bash
# Run by deb.sh inside the machine that it boots: the package's whole life.
set -euo pipefail
export CREDENTIALS_DIRECTORY=/etc/scanferry/secrets DEBIAN_FRONTEND=noninteractive
say() { printf '%s\n' "$*"; }
step() { printf '\n-- %s\n' "$*"; }
saw() { printf '   %-44s %s\n' "$1" "$2"; }
fail() {
  say "NOT SO: $*"
  journalctl --no-pager --unit=scanferry.service --unit=archive.service --lines=60 || :
  exit 1
}
property() { systemctl show --property="$1" --value "${2:-scanferry}"; }
is_then() {
  saw "$1" "$2"
  [ "$2" = "$3" ] || fail "it should be: $3"
}
# until_true SECONDS WHAT COMMAND...
until_true() {
  local left=$(($1 * 10)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((left-- > 0)) || fail "waited in vain for $what"
    sleep 0.1
  done
}
converted() { scanferry list --json --state converted | wc -l; }
all_converted() { [ "$(converted)" = "$1" ]; }
listening() { journalctl --no-pager --unit=archive --grep "listening on"; }
state_of() { dpkg-query -W -f='${db:Status-Abbrev} ${Version}' scanferry 2>/dev/null || echo none; }
apply() { dpkg "$@" >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; fail "dpkg $*"; }; }

step "install, with nothing but what the machine has"
apply --install /opt/scanferry.deb
saw state "$(state_of)"
saw "says" "$(grep -c '^scanferry: ' /tmp/dpkg.log) lines on what to do"
is_then "runs before it is configured" "$(property ActiveState)" inactive
is_then "failed units" "$(systemctl --failed --no-legend | wc -l)" 0
saw "its own Node, as a host's Node is missing" "$(/usr/lib/scanferry/node_modules/node/bin/node --version), $(command -v node || echo none)"
saw version "$(scanferry --version)"
man --warnings -E UTF-8 -l /usr/share/man/man1/scanferry.1.gz >/tmp/man 2>/tmp/man.warnings
is_then "manual page: warnings" "$(wc -l </tmp/man.warnings)" 0
saw "manual page: lines" "$(wc -l </tmp/man)"
. /usr/share/bash-completion/completions/scanferry
COMP_WORDS=(scanferry veri) COMP_CWORD=1
_scanferry
is_then "completes veri to" "${COMPREPLY[*]}" verify
saw "the demo" "$(scanferry demo --once | tail -1)"
is_then "secrets' directory" "$(stat -c '%a %U' /etc/scanferry/secrets)" "700 root"

step "configure and start, as docs/install.md and docs/systemd.md say"
systemd-run --quiet --unit=archive --property=StateDirectory=archive --property=DynamicUser=yes \
  /usr/bin/scanferry serve-archive --data /var/lib/archive --listen 127.0.0.1:8480 \
  --account proof:kept-secret-4711 --folder /Scans
until_true 30 "the archive" listening
install -d -m 755 /srv/scans
printf %s proof >/etc/scanferry/secrets/account.key
printf %s kept-secret-4711 >/etc/scanferry/secrets/signing.secret
chmod 600 /etc/scanferry/secrets/*
sed -i -e 's|url: .*|url: http://127.0.0.1:8480|' -e 's|#settle: 10s|settle: 500ms|' \
  -e 's|#poll: .*|poll: { initial: 500ms, max: 2s }|' /etc/scanferry/scanferry.yaml
install -d /etc/systemd/system/scanferry.service.d
scanferry systemd >/etc/systemd/system/scanferry.service.d/configured.conf
systemctl daemon-reload
systemctl enable --quiet --now scanferry || fail "it did not start"
samples=(/usr/lib/scanferry/samples/Invoices/*/*.pdf)
# Each is another content: the same once more is not what is proven here.
scan() { (cat "${samples[0]}"; printf '%%%s\n' "$1") >"/srv/scans/$1.pdf"; }
scan first
until_true 120 "CONVERTED" all_converted 1
saw "documents CONVERTED" "$(converted)"

step "upgrade over the running version"
pid=$(property MainPID)
config=$(sha256sum </etc/scanferry/scanferry.yaml)
# Something is always under way.
(for n in $(seq 30); do cp "${samples[1]}" "/srv/scans/during-$n.pdf"; printf '%%%s\n' "$n" >>"/srv/scans/during-$n.pdf"; sleep 0.2; done) &
sleep 2
apply --install /opt/later.deb
wait
saw state "$(state_of)"
is_then "service" "$(property ActiveState), $([ "$(property MainPID)" != "$pid" ] && echo restarted)" "active, restarted"
is_then "configuration" "$([ "$(sha256sum </etc/scanferry/scanferry.yaml)" = "$config" ] && echo kept)" kept
until_true 120 "CONVERTED" all_converted 31
is_then "verify" "$(scanferry verify | tail -1)" "31 as journaled, 0 missing, 0 changed, 0 unknown"

step "remove, and install again"
apply --remove scanferry
is_then "service" "$(property ActiveState)" inactive
is_then "program, configuration, journal" \
  "$(ls -d /usr/lib/scanferry /etc/scanferry/scanferry.yaml /var/lib/private/scanferry/journal.db 2>/dev/null | tr '\n' ' ')" \
  "/etc/scanferry/scanferry.yaml /var/lib/private/scanferry/journal.db "
apply --install /opt/later.deb
systemctl start scanferry
until_true 60 "its documents" all_converted 31
saw "documents known again" "$(converted)"

step "purge"
apply --purge scanferry
saw "says" "$(grep '^scanferry: ' /tmp/dpkg.log)"
is_then "state" "$(state_of)" none
is_then "left beside the proof" "$(find / -xdev \( -path /proc -o -path /sys -o -path /run -o -path /opt -o -path /var/backups/scanferry -o -path /var/log -o -path /tmp -o -path /srv \) -prune -o -iname '*scanferry*' -print | tr '\n' ' ')" ""
is_then "failed units" "$(systemctl --failed --no-legend | wc -l)" 0

step "install once more, and restore"
apply --install /opt/scanferry.deb
printf %s proof >/etc/scanferry/secrets/account.key
printf %s kept-secret-4711 >/etc/scanferry/secrets/signing.secret
chmod 600 /etc/scanferry/secrets/*
sed -i -e 's|url: .*|url: http://127.0.0.1:8480|' -e 's|#settle: 10s|settle: 500ms|' /etc/scanferry/scanferry.yaml
scanferry restore /var/backups/scanferry/scanferry.1/journal.db >/dev/null
is_then "documents known again" "$(converted)" 31
install -d /etc/systemd/system/scanferry.service.d
scanferry systemd >/etc/systemd/system/scanferry.service.d/configured.conf
systemctl daemon-reload
systemctl start scanferry || fail "it did not start"
scan last
until_true 120 "CONVERTED" all_converted 32
is_then "verify" "$(scanferry verify | tail -1)" "32 as journaled, 0 missing, 0 changed, 0 unknown"

step "back to a copy, as docs/install.md and docs/systemd.md say"
install -d -m 700 /var/backups/scanferry
scanferry backup /var/backups/scanferry/journal.db >/dev/null
scan after-the-copy
until_true 120 "CONVERTED" all_converted 33
systemctl stop scanferry
scanferry restore /var/backups/scanferry/journal.db >/dev/null
saw "adopt" "$(scanferry adopt | tail -1)"
systemctl start scanferry || fail "it did not start"
scan last-of-all
until_true 120 "CONVERTED" all_converted 34
is_then "verify" "$(scanferry verify | tail -1)" "34 as journaled, 0 missing, 0 changed, 0 unknown"

say
say "all as it should be"
