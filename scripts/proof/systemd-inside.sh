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

status() { property StatusText "$@"; }
has_status() { [[ $(status) == $1 ]]; }
started() { [ "$(logged '"started"' | grep -c '"started"')" -ge "$1" ]; }
# What a process sees of a directory, in the place that systemd made for it.
sees() { nsenter --target "$(property MainPID)" --mount ls "$1" 2>&1 | tr '\n' ' '; }

step "installed as docs/install.md and docs/systemd.md say, with the drop-in that scanferry writes"
groupadd --system scans
install -d /etc/scanferry /srv/done /srv/private /etc/systemd/system/scanferry.service.d
install -d -m 770 -g scans "/srv/My Scans" /srv/done
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
  - source: /srv/My Scans
    target: /Scans
    settle: 500ms
conversion: { poll: { initial: 500ms, max: 2s } }
YAML
cp /opt/scanferry/systemd/*.service /etc/systemd/system/
drop_in() { scanferry --config $config systemd >/etc/systemd/system/scanferry.service.d/configured.conf; }
drop_in
printf '[Service]\nSupplementaryGroups=scans\nWatchdogSec=20s\n' \
  >/etc/systemd/system/scanferry.service.d/proof.conf
systemctl daemon-reload
saw "exposure with it" "$(systemd-analyze security scanferry | sed -n 's/.*exposure level[^:]*: *\([0-9.]*\).*/\1/p')"
mapfile -t samples < <(find /opt/scanferry/samples -type f -name '*.pdf' | sort)
scan() { install -m 640 -g scans "${samples[$1]}" "/srv/My Scans/$2.pdf"; }

step "start"
scan 0 first
systemctl start scanferry || fail "it did not start"
saw state "$(property ActiveState), $(property SubState), ready by its own word ($(property Type))"
pid=$(property MainPID)
saw "user of the daemon" "$(stat -c %u "/proc/$pid"), chosen by systemd"
[ "$(stat -c %u "/proc/$pid")" != 0 ] || fail "it runs as root"
until_true 120 "CONVERTED" all_converted 1
until_true 60 "the status" has_status "idle; 1 converted"
saw "status" "$(status)"
saw "sees of /srv" "$(sees /srv)"
saw "sees of /home" "$(sees /home)"
[ "$(sees /srv)" = "My Scans " ] || fail "it sees other things"
saw "secret in its environment" "$(tr '\0' '\n' <"/proc/$pid/environ" | grep -c 4711 || :) times"

step "watchdog: the process is stopped (SIGSTOP), limit $(property WatchdogUSec)"
kill -STOP "$pid"
until_true 120 "a restart" restarts 1
saw "systemd says" "$(logged 'Watchdog timeout' | tail -1 | sed 's/.*: //')"
until_true 120 "the start" started 2
scan 1 second
until_true 120 "CONVERTED" all_converted 2
saw "restarts, documents CONVERTED" "$(property NRestarts), $(converted)"

step "restart after a kill"
systemctl kill --signal=KILL --kill-whom=main scanferry
until_true 120 "a restart" restarts 2
until_true 120 "the start" started 3
scan 2 third
until_true 120 "CONVERTED" all_converted 3
saw "restarts, documents CONVERTED" "$(property NRestarts), $(converted)"

step "reload: a bad configuration, then a good one"
pid=$(property MainPID)
cp $config $config.good
sed -i 's/^mirrors:/mirors:/' $config
systemctl reload scanferry
until_true 60 "the refusal" logged 'the new config is refused'
until_true 60 "the status" has_status "*the new config is refused"
saw "status" "$(status)"
sed 's/settle: 500ms/settle: 400ms/' $config.good >$config
systemctl reload scanferry
until_true 60 "the new configuration" started 4
scan 3 fourth
until_true 120 "CONVERTED" all_converted 4
[ "$(property MainPID)" = "$pid" ] || fail "the process is another one"
saw "same process, documents CONVERTED" "$pid, $(converted)"
saw state "$(property ActiveState), $(property SubState)"

step "another source setting: the drop-in made anew opens what after: move needs"
echo "    after: move:/srv/done" >$config.after
sed -i "/settle:/r $config.after" $config
drop_in
systemctl daemon-reload
systemctl restart scanferry
scan 4 fifth
until_true 120 "the move" test -e /srv/done/fifth.pdf
saw "moved to" "$(find /srv/done -type f | tr '\n' ' ')"
saw "sees of /srv" "$(sees /srv)"

step "a name server at a link-local address, which the unit drops until the drop-in is made anew"
printf '[Match]\nName=lo\n[Network]\nAddress=169.254.7.7/32\n' >/etc/systemd/network/lo.network
systemctl start systemd-networkd
cat >/opt/names.mjs <<'JS'
// Answers every question for an A record with 127.0.0.1, and no other.
import { createSocket } from "node:dgram";
const server = createSocket("udp4", (asked, { port, address }) => {
  const end = asked.indexOf(0, 12) + 5;
  const isA = asked.readUInt16BE(end - 4) === 1;
  const head = Buffer.from([0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
  const parts = [asked.subarray(0, 2), head, asked.subarray(12, end), isA ? record : Buffer.alloc(0)];
  server.send(Buffer.concat(parts), port, address);
});
server.bind(53, "169.254.7.7");
JS
has_address() { getent hosts archive.test; }
cp /etc/resolv.conf /etc/resolv.conf.good
echo "nameserver 169.254.7.7" >/etc/resolv.conf
systemd-run --quiet --unit=names --property=Restart=on-failure --property=RestartSec=1 \
  /opt/scanferry/node_modules/node/bin/node /opt/names.mjs
until_true 30 "the name server" has_address
sed -i 's,http://127.0.0.1:8480,http://archive.test:8480,' $config
sed -i '/IPAddress/d; /No other address/d' /etc/systemd/system/scanferry.service.d/configured.conf
systemctl daemon-reload
systemctl restart scanferry
scan 5 sixth
until_true 200 "the outage" has_status "*Cannot reach the archive*"
saw "status" "$(status)"
checked() { scanferry --config $config check | grep -F scanferry.service || :; }
saw "check" "$(checked)"
checked | grep -q '^FAIL.*the name servers: 169.254.7.7' || fail "check does not say so"
drop_in
systemctl daemon-reload
systemctl restart scanferry
until_true 120 "CONVERTED" all_converted 6
until_true 60 "the status" has_status "idle; 6 converted"
saw "drop-in made anew" "$(status)"
saw "check" "$(checked)"
checked | grep -q '^ok' || fail "check is not content"
sed -i 's,http://archive.test:8480,http://127.0.0.1:8480,' $config
mv /etc/resolv.conf.good /etc/resolv.conf
drop_in
systemctl daemon-reload
systemctl restart scanferry

step "a hook that speaks to systemd in the daemon's place"
cat >/opt/forger <<'SH'
#!/bin/sh
env >>/var/lib/scanferry/hook-saw
NOTIFY_SOCKET=/run/systemd/notify systemd-notify STATUS=forged
while [ ! -e /var/lib/scanferry/seen ]; do sleep 0.1; done
echo '{}'
SH
chmod 755 /opt/forger
cp $config $config.plain
echo "    hooks: { before: { command: [/opt/forger], timeout: 1m } }" >$config.hooks
sed -i "/settle:/r $config.hooks" $config
systemctl restart scanferry
install -m 640 -g scans <(cat "${samples[0]}" - <<<"% another") "/srv/My Scans/forged.pdf"
state=/var/lib/private/scanferry
until_true 60 "the hook" test -s $state/hook-saw
saw "told by the manager in the hook's environment" "$(grep -cE '^(NOTIFY|WATCHDOG|LISTEN)_' $state/hook-saw || :) variables"
! grep -qE '^(NOTIFY|WATCHDOG|LISTEN)_' $state/hook-saw || fail "it gets them"
sleep 2
saw "who is believed" "$(property NotifyAccess): $(status)"
if [ "$(systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p')" -ge 254 ]; then
  [ "$(property NotifyAccess)" = main ] || fail "others are believed"
  has_status "*forged*" && fail "the hook is believed"
fi
touch $state/seen
until_true 60 "CONVERTED" all_converted 7
mv $config.plain $config
drop_in
systemctl daemon-reload

step "stop, and start again"
systemctl stop scanferry
saw "result, exit code" "$(property Result), $(property ExecMainStatus)"
[ "$(property ExecMainStatus)" = 0 ] || fail "it did not end with 0"
saw "journal kept" "$(stat -c '%n, %s bytes, mode %a' /var/lib/scanferry/journal.db)"
systemctl start scanferry
saw "documents CONVERTED" "$(converted)"
scanferry --config $config verify | sed 's/^/   verify: /'
scanferry --config $config verify | grep -q '^7 as journaled, 0 missing, 0 changed, 0 unknown$' ||
  fail "the archive does not hold just these"

step "an unusable configuration is not started again and again"
systemctl stop scanferry
sed -i 's/^mirrors:/mirors:/' $config
systemctl start scanferry && fail "it started"
sleep 6
saw "result, exit code, restarts" "$(property Result), $(property ExecMainStatus), $(property NRestarts)"
[ "$(property ActiveState)" = failed ] || fail "it is started again"

step "a second instance"
install -d -m 700 /etc/scanferry/secrets/office
cp /etc/scanferry/secrets/*.{key,secret} /etc/scanferry/secrets/office
install -d -m 755 /srv/office
sed 's/My Scans/office/; s/^mirors:/mirrors:/' $config.good >/etc/scanferry/office.yaml
cat >>/etc/scanferry/office.yaml <<YAML
journal: /var/lib/scanferry-office/journal.db
web: { listen: 127.0.0.1:8471 }
YAML
config=/etc/scanferry/office.yaml
install -d /etc/systemd/system/scanferry@office.service.d
scanferry --config $config systemd --instance >/etc/systemd/system/scanferry@office.service.d/configured.conf
systemctl daemon-reload
systemctl start scanferry@office || fail "it did not start"
install -m 644 "${samples[5]}" /srv/office/office.pdf
until_true 120 "CONVERTED" all_converted 1
saw "scanferry@office" "$(property ActiveState scanferry@office), $(converted) CONVERTED"
systemctl stop scanferry@office

say
say "all as it should be"
