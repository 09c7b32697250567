#!/usr/bin/env bash
# Run by arm64.sh inside a Debian for arm64: installs the package, and carries documents with it.
set -euo pipefail
export CREDENTIALS_DIRECTORY=/etc/scanferry/secrets DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
step() { printf '\n-- %s\n' "$*"; }
saw() { printf '   %-44s %s\n' "$1" "$2"; }
fail() {
  printf 'NOT SO: %s\n' "$*"
  tail -n 40 /tmp/*.log || :
  exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
is_then() {
  saw "$1" "$2"
  [ "$2" = "$3" ] || fail "it should be: $3"
}

step "install"
dpkg --install /opt/scanferry.deb >/tmp/dpkg.log 2>&1 || fail "dpkg --install"
saw state "$(dpkg-query -W -f='${db:Status-Abbrev} ${Version} ${Architecture}' scanferry)"
saw machine "$(uname -m), Debian $(cat /etc/debian_version)"
saw "its own Node" "$(/usr/lib/scanferry/node_modules/node/bin/node -p '`${process.version}, ${process.arch}`')"
saw "scanferry --version" "$(scanferry --version)"

step "an archive, and check"
scanferry serve-archive --data /var/lib/archive --listen 127.0.0.1:8480 --account proof:kept-secret-4711 \
  --folder /Scans >/tmp/archive.log 2>&1 &
archive=$!
for ((left = 600; left > 0; left--)); do
  if grep -q "listening on" /tmp/archive.log; then break; fi
  kill -0 $archive || fail "no archive"
  sleep 0.2
done
install -d -m 755 /srv/scans
printf %s proof >/etc/scanferry/secrets/account.key
printf %s kept-secret-4711 >/etc/scanferry/secrets/signing.secret
chmod 600 /etc/scanferry/secrets/*
sed -i -e 's|url: .*|url: http://127.0.0.1:8480|' -e 's|#settle: 10s|settle: 500ms|' \
  -e 's|#poll: .*|poll: { initial: 500ms, max: 2s }|' /etc/scanferry/scanferry.yaml
# 3 is documents that wait, which there are none of; warnings are for a person to read.
scanferry check >/tmp/check.log 2>&1 && code=0 || code=$?
sed 's/^/   check: /' /tmp/check.log
is_then "check: exit code" "$code" 0

step "carry what is there"
# A PDF, a TIFF, a picture and a container: each is read by other code.
find /usr/lib/scanferry/samples -type f | sort | awk -F. '{ n[$NF]++ } n[$NF] <= 2' | while read -r sample; do
  cp "$sample" /srv/scans
done
files=$(find /srv/scans -type f | wc -l)
saw files "$(cd /srv/scans && ls | tr '\n' ' ')"
began=$SECONDS
scanferry sync >/tmp/sync.log 2>&1 || fail "sync"
saw "sync, in $((SECONDS - began)) s" "$(tail -1 /tmp/sync.log)"
is_then "CONVERTED" "$(scanferry list --json --state converted | wc -l)" "$files"
is_then verify "$(scanferry verify | tail -1)" "$files as journaled, 0 missing, 0 changed, 0 unknown"
kill -TERM $archive
wait $archive && code=0 || code=$?
is_then "the archive's exit code" "$code" 0
printf '\nall as it should be\n'
