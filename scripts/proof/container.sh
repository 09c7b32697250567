#!/usr/bin/env bash
# Builds the image of the Dockerfile without a registry of images (on a base made of Debian's
# packages and the pinned Node), runs it as it should be run, and looks at it from outside.
#
#   sudo scripts/proof/container.sh [ARCHITECTURE]
#
# Without one: amd64, then arm64. What is not this machine's own is emulated (QEMU's user mode) and takes its time.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [ $# = 0 ]; then
  for each in amd64 arm64; do "${BASH_SOURCE[0]}" "$each"; done
  exit
fi
architecture=$1
own=$(dpkg --print-architecture)
needs mmdebstrap:mmdebstrap buildah:buildah crun:crun npm:npm arch-test:arch-test file:file iproute2:ip
workplace
node=$repository/node_modules/node/bin/node
version=$("$node" --version)
any_uid=4242
running=()

# crun wants a host with one kind of control groups; one that has both hides them from it.
alone() {
  unshare --mount --propagation private bash -c '
    if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
      umount -l /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
    fi
    exec "$@"' - "$@"
}
container() { alone crun --root "$work/crun" --cgroup-manager=disabled "$@"; }
# A container outlives the crun that runs it.
end_containers() {
  local name
  for name in $(container list -q 2>/dev/null); do container delete --force "$name" 2>/dev/null || :; done
}
at_the_end end_containers
patience=1
[ "$architecture" != arm64 ] || emulate_arm64
[ "$architecture" = "$own" ] || patience=10
pid_of() { container state "$1" | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p'; }
# until_true SECONDS WHAT COMMAND...
until_true() {
  local left=$(($1 * 5 * patience)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((left-- > 0)) || {
      tail -n 30 "$work"/*.log
      fail "waited in vain for $what"
    }
    sleep 0.2
  done
}
builder() { STORAGE_DRIVER=vfs buildah --root "$work/images" --runroot "$work/run" "$@"; }

step "a base like node:${version#v}-bookworm, of Debian's packages and the pinned Node, for $architecture"
mkdir -p "$work/add/usr/local/bin" "$work/add/usr/local/lib/node_modules" "$work/add/etc/ssl/certs"
# The registry may be behind an authority of the host's own.
cp /etc/ssl/certs/ca-certificates.crt "$work/add/etc/ssl/certs/"
(cd "$work" && npm pack --silent "npm@$(npm --version)" >/dev/null && tar -xzf npm-*.tgz)
mv "$work/package" "$work/add/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/add/usr/local/bin/npm"
chmod +x "$work/add/usr/local/lib/node_modules/npm/bin/npm-cli.js"
builder manifest create localhost/node-base >/dev/null
for each in $(printf '%s\n' "$own" "$architecture" | sort -u); do
  # Unpacked and not configured: none of its programs need that, and nothing has to be emulated.
  debian_root "$work/base.tar" \
    bash,binutils,ca-certificates,coreutils,dash,findutils,grep,libc-bin,libstdc++6,sed "" "$each" extract
  runtime=$("$node" -e 'import(process.argv[1]).then((it) => console.log(it.nodeRuntime(process.argv[2])))' \
    "$repository/scripts/package/node-runtime.ts" "$each")
  cp "$runtime/bin/node" "$work/add/usr/local/bin/node"
  base=$(builder from --arch "$each" scratch)
  builder add --quiet "$base" "$work/base.tar" / >/dev/null
  builder add --quiet "$base" "$work/add" / >/dev/null
  builder config --arch "$each" "$base"
  builder commit --quiet --rm "$base" "localhost/node-base-$each" >/dev/null
  builder manifest add localhost/node-base "localhost/node-base-$each" >/dev/null
  rm "$work/base.tar"
done
rm -rf "$work/add"

step "npm run package; npm install --global of its file in that base, without a network"
"$node" "$repository/scripts/package/npm.ts" --to "$work/package" >/dev/null
saw "package" "$(stat -c '%s bytes' "$work"/package/scanferry-*.tgz)"
clean=$(builder from --arch "$architecture" "localhost/node-base-$architecture")
builder copy --quiet "$clean" "$work"/package/scanferry-*.tgz /scanferry.tgz >/dev/null
cat >"$work/install.sh" <<'SH'
set -eu
export PATH=/usr/local/bin:/usr/bin:/bin HOME=/root
mkdir -p /root && cd /root
npm install --global --no-audit --no-fund /scanferry.tgz
echo "installed: $(du --apparent-size -sm /usr/local/lib/node_modules/scanferry | cut -f1) MB"
scanferry demo --once >demo 2>&1 || { cat demo; exit 1; }
echo "demo: $(tail -1 demo)"
scanferry serve-archive --data archive --listen 127.0.0.1:8480 --account proof:kept-secret --folder /Scans >served 2>&1 &
until grep -q "listening on" served; do sleep 1; done
mkdir scans
printf proof >key && printf kept-secret >secret
scanferry init --yes --source scans --target /Scans --url http://127.0.0.1:8480 --account-key-file key --secret-file secret >said
scanferry check >checked || { cat said checked; exit 1; }
echo "check: $(grep -c '^ok' checked) ok, $(grep -c '^warn' checked || :) warn, 0 FAIL"
kill $!
SH
builder copy --quiet "$clean" "$work/install.sh" /install.sh >/dev/null
unshare --net bash -c 'ip link set lo up && exec "$@"' - env STORAGE_DRIVER=vfs \
  buildah --root "$work/images" --runroot "$work/run" run --isolation chroot "$clean" -- /bin/sh /install.sh \
  >"$work/install.log" 2>&1 || {
  tail -30 "$work/install.log"
  fail "the package does not work in a clean root"
}
for each in installed demo check; do saw "$each" "$(sed -n "s/^$each: //p" "$work/install.log")"; done
[ "$(sed -n 's/^installed: \([0-9]*\) MB$/\1/p' "$work/install.log")" -le 130 ] || fail "it is larger than 130 MB"
builder rm "$clean" >/dev/null

step "build"
cat "$(npm config get globalconfig)" "$(npm config get userconfig)" >"$work/npmrc" 2>/dev/null || :
printf '\ncafile=/etc/ssl/certs/ca-certificates.crt\n' >>"$work/npmrc"
builder bud --isolation chroot --platform "linux/$architecture" --build-arg "BUILDPLATFORM=linux/$own" \
  --build-arg "TARGETPLATFORM=linux/$architecture" --build-arg BASE=localhost/node-base \
  --secret "id=npmrc,src=$work/npmrc" --format docker --tag localhost/scanferry "$repository" >"$work/build.log" 2>&1 || {
  tail -40 "$work/build.log"
  fail "the image cannot be built"
}
mounted=$(builder from localhost/scanferry)
root=$(builder mount "$mounted")
bytes=$(du --apparent-size --block-size=1 -s "$root" | cut -f1)
saw "architecture of the image, of its Node" \
  "$(builder inspect --type image --format '{{.Docker.Architecture}}' localhost/scanferry), $(file -b "$root/bin/node" | cut -d, -f2)"
saw "size, unpacked" "$((bytes / 1000000)) MB"
[ "$bytes" -le 150000000 ] || fail "it is larger than 150 MB"
saw "largest parts" "$(cd "$root" && du --apparent-size -B1000000 -s bin lib lib64 usr app/node_modules app/dist 2>/dev/null |
  awk '{ printf "%s %s MB  ", $2, $1 }')"
programs=$(find "$root" -xdev -type f -perm /111 ! -name '*.so*' ! -name '*.node' -printf '/%P ')
saw "programs" "$programs"
saw "shells" "$(find "$root" -xdev -name '*sh' -perm /111 | wc -l)"
saw "files with setuid or setgid" "$(find "$root" -xdev -type f -perm /6000 | wc -l)"
saw "files that anyone may change" "$(find "$root" -xdev -type f -perm /022 | wc -l)"
[ "$(find "$root" -xdev -type f -perm /6022 | wc -l)" = 0 ] || fail "see above"
saw user "$(builder inspect --type image --format '{{.Docker.Config.User}}' localhost/scanferry)"

# bundle NAME [OPTIONS OF bundle.ts] [-- COMMAND...]: one container, as any uid, with a volume.
bundle() {
  local name=$1
  shift
  mkdir -p "$work/$name" "$work/$name-volume"
  # As Docker makes a new volume: with the rights of the directory in the image.
  chmod --reference="$root/var/lib/scanferry" "$work/$name-volume"
  "$node" "$repository/scripts/proof/bundle.ts" --image "$work/image.json" --root "$root" \
    --user $any_uid --write "/var/lib/scanferry=$work/$name-volume" "$@" >"$work/$name/config.json"
}
builder inspect --type image localhost/scanferry >"$work/image.json"

step "the demo, as uid $any_uid: root read-only, no capability, no network"
bundle demo -- demo --once
container run --bundle "$work/demo" demo >"$work/demo.log" 2>&1 </dev/null || {
  cat "$work/demo.log"
  fail "the demo did not end with 0"
}
saw "says" "$(tail -1 "$work/demo.log")"

step "the daemon beside the archive, secrets as files; two accounts, hooks, channels"
mkdir -p "$work/secrets" "$work/config" "$work/scans" "$work/legal"
printf %s proof >"$work/secrets/account.key"
printf %s proof-too >"$work/secrets/legal.key"
printf %s kept-secret-4711 >"$work/secrets/signing.secret"
chmod 400 "$work"/secrets/*
chown $any_uid "$work"/secrets/*
# Hooks and a channel, for the one program that the image has.
cat >"$work/config/before.mjs" <<'JS'
import { readFileSync } from "node:fs";
const { path } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({ name: `hooked ${path}`, metadata: { keywords: "by a hook" } }));
JS
cat >"$work/config/keep.mjs" <<'JS'
import { appendFileSync, readFileSync } from "node:fs";
appendFileSync(process.argv[2], `${readFileSync(0, "utf8").trim()}\n`);
JS
cat >"$work/config/scanferry.yaml" <<YAML
archives:
  main:
    url: http://127.0.0.1:8480
    accountKeyFile: /run/secrets/account.key
    signing: { scheme: hmac, secretFile: /run/secrets/signing.secret }
  legal:
    url: http://127.0.0.1:8480
    accountKeyFile: /run/secrets/legal.key
    signing: { scheme: hmac, secretFile: /run/secrets/signing.secret }
mirrors:
  - source: /srv/scans
    target: /Scans
    settle: 500ms
    hooks:
      before: { command: [/bin/node, /etc/scanferry/before.mjs] }
      after: { command: [/bin/node, /etc/scanferry/keep.mjs, /var/lib/scanferry/after] }
  - { source: /srv/legal, archive: legal, target: /Scans, settle: 500ms }
conversion: { poll: { initial: 500ms, max: 2s } }
notify:
  command:
    - run: [/bin/node, /etc/scanferry/keep.mjs, /var/lib/scanferry/told]
  webhook:
    - url: http://127.0.0.1:8490/told
YAML
bundle archive -- serve-archive --data /var/lib/scanferry/archive --listen 127.0.0.1:8480 \
  --account proof:kept-secret-4711 --account proof-too:kept-secret-4711 --folder /Scans
container run --bundle "$work/archive" archive >"$work/archive.log" 2>&1 </dev/null &
running+=($!)
until_true 30 "the archive" grep -q "listening on" "$work/archive.log"
bundle daemon --network "/proc/$(pid_of archive)/ns/net" --read "/etc/scanferry=$work/config" \
  --read "/run/secrets=$work/secrets" --read "/srv/scans=$work/scans" --read "/srv/legal=$work/legal"
container run --bundle "$work/daemon" daemon >"$work/daemon.log" 2>&1 </dev/null &
daemon=$!
running+=("$daemon")
until_true 30 "the daemon" grep -q '"started"' "$work/daemon.log"
nsenter --net="/proc/$(pid_of archive)/ns/net" "$node" -e '
  require("http").createServer((request, response) => {
    request.resume().on("end", () => { console.log(request.method, request.url); response.end(); });
  }).listen(8490, "127.0.0.1")' >"$work/webhook" 2>&1 &
running+=($!)
find "$repository/samples" -name '*.pdf' -exec cp -t "$work/scans" {} +
find "$repository/samples" -name '*.tif*' -exec cp -t "$work/legal" {} +
scans=$(find "$work/scans" "$work/legal" -type f | wc -l)
hooked=$(find "$work/scans" -type f | wc -l)
# As `docker exec daemon scanferry ...`.
scanferry() { container exec --user $any_uid:$any_uid daemon scanferry "$@"; }
all_converted() { [ "$(scanferry list --json --state converted | wc -l)" = "$scans" ]; }
until_true 60 "CONVERTED" all_converted
saw "documents CONVERTED" "$scans of $scans"
is_then() {
  saw "$1" "$2"
  [ "$2" = "$3" ] || fail "it should be $3"
}
in_each=$(scanferry status --json | "$node" -p '
  JSON.parse(require("fs").readFileSync(0)).mirrors.map((it) => `${it.archive} ${it.documents.converted}`).join(", ")')
is_then "archives" "$in_each" "main $hooked, legal $((scans - hooked))"
told() { [ "$(wc -l <"$work/daemon-volume/$1")" -ge "$2" ]; }
until_true 60 "the after hook" told after "$hooked"
named=$(grep -c "named by the before hook" "$work/daemon-volume/after" || :)
is_then "named by the before hook; told to the after hook" \
  "$named; $(wc -l <"$work/daemon-volume/after")" "$hooked; $hooked"
scanferry notify test >"$work/notify.log" || { cat "$work/notify.log"; fail "a channel did not work"; }
until_true 20 "the channels" told told 1
is_then "channels told: command, webhook" "$(wc -l <"$work/daemon-volume/told"), $(grep -c POST "$work/webhook")" "1, 1"
inside() { container exec --user $any_uid:$any_uid daemon /bin/node -p "$1" 2>&1; }
saw "process 1" "$(inside 'fs.readFileSync("/proc/1/cmdline", "utf8").replaceAll("\0", " ")')"
saw "its rights" "$(inside 'fs.readFileSync("/proc/1/status", "utf8").match(/^(Uid|CapEff|NoNewPrivs):.*$/gm).join(" ").replace(/\s+/g, " ")')"
saw "writing to the root" "$(inside 'try { fs.writeFileSync("/app/x", "") } catch (error) { error.code }')"
saw "writing to a source" "$(inside 'try { fs.writeFileSync("/srv/scans/x", "") } catch (error) { error.code }')"
saw "secrets in the environment" "$(inside 'fs.readFileSync("/proc/1/environ", "utf8").split("4711").length - 1')"

step "HEALTHCHECK, as the image says it"
mapfile -t check < <("$node" -p '
  const { Test } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).Docker.config.Healthcheck;
  Test.slice(1).join("\n")' "$work/image.json")
export -f alone container
export work any_uid
# As Docker does: three in a row have to fail.
health() {
  for _ in 1 2 3; do
    timeout --signal=KILL $((10 * patience)) bash -c 'container exec --user $any_uid:$any_uid daemon "$@"' - "${check[@]}" \
      >/dev/null 2>&1 && echo healthy && return
  done
  echo unhealthy
}
is_then "at work" "$(health)" healthy
kill -STOP "$(pid_of daemon)"
is_then "process stopped (SIGSTOP)" "$(health)" unhealthy
kill -CONT "$(pid_of daemon)"
is_then "going on" "$(health)" healthy

step "signals, as process 1"
container kill daemon HUP
until_true 20 "the reload" grep -q "configuration read again" "$work/daemon.log"
until_true 20 "the reload" eval '[ "$(grep -c "\"started\"" "$work/daemon.log")" = 2 ]'
saw SIGHUP "configuration read again"
began=$(date +%s%N)
container kill daemon TERM
wait "$daemon" && code=0 || code=$?
saw "SIGTERM" "exit code $code after $((($(date +%s%N) - began) / 1000000)) ms"
[ "$code" = 0 ] || fail "it did not end with 0"

step "set up by the environment alone, with a page beyond the container"
mkdir -p "$work/own"
cp "$repository/samples/Contracts/Lease agreement.pdf" "$work/own/by the environment.pdf"
by_environment=(--network "/proc/$(pid_of archive)/ns/net" --read "/run/secrets=$work/secrets" --read "/scans=$work/own"
  --env SCANFERRY_ARCHIVE_URL=http://127.0.0.1:8480 --env SCANFERRY_ACCOUNT_KEY_FILE=/run/secrets/account.key
  --env SCANFERRY_SIGNING_SECRET_FILE=/run/secrets/signing.secret --env SCANFERRY_MIRROR_SOURCE=/scans
  --env SCANFERRY_MIRROR_TARGET=/Scans --env SCANFERRY_MIRROR_SETTLE=500ms --env TZ=Europe/Tallinn
  --env SCANFERRY_JOURNAL=/var/lib/scanferry/journal.db)
bundle plain "${by_environment[@]}"
begin_plain() {
  container run --bundle "$work/plain" plain >"$work/plain.log" 2>&1 </dev/null &
  running[1]=$!
  until_true 30 "the daemon" grep -q '"started"' "$work/plain.log"
}
began=$(date +%s%N)
begin_plain
# As `docker exec plain scanferry ...`.
plain() { container exec --user $any_uid:$any_uid plain scanferry "$@"; }
plain_converted() { [ "$(plain list --json --state converted | wc -l)" = 1 ]; }
until_true 60 "CONVERTED" plain_converted
saw "from its start to CONVERTED" "$((($(date +%s%N) - began) / 1000000)) ms"
saw "scanferry status" "$(plain status | head -1)"
plain check >"$work/check.log" || { cat "$work/check.log"; fail "check did not end with 0"; }
saw "scanferry check" "$(grep -c '^ok' "$work/check.log") ok, $(grep -c '^FAIL' "$work/check.log" || :) FAIL"
plain backup /var/lib/scanferry/copy.db >/dev/null
saw "scanferry backup" "$(stat -c '%s bytes, mode %a' "$work/plain-volume/copy.db")"
plain adopt --help >/dev/null || fail "scanferry adopt"
token=$(sed -n 's/.*token=\([A-Za-z0-9_-]*\) .*/\1/p' "$work/plain.log")
is_then "token: kept where it was shown to be" "$(cat "$work/plain-volume/web.token")" "$token"
# From the address that others call the container by.
asked() {
  nsenter --net="/proc/$(pid_of archive)/ns/net" "$node" -e '
    fetch(`http://${process.argv[1]}:8470/${process.argv[2]}`, { redirect: "manual" }).then((reply) => console.log(reply.status))' "$@"
}
nsenter --net="/proc/$(pid_of archive)/ns/net" ip address add 192.0.2.1/32 dev lo
is_then "page without the token, with it; health" \
  "$(asked 192.0.2.1 ""), $(asked 192.0.2.1 "?token=$token"); $(asked 192.0.2.1 healthz)" "401, 303; 200"
container kill plain TERM
wait "${running[1]}" && code=0 || code=$?
is_then "SIGTERM: exit code" "$code" 0
begin_plain
is_then "token shown at the second start" "$(grep -c "token=" "$work/plain.log" || :)" 0
bundle deleting "${by_environment[@]}" --env SCANFERRY_MIRROR_AFTER=delete -- check
container run --bundle "$work/deleting" deleting >"$work/deleting.log" 2>&1 </dev/null || :
is_then "after: delete, of a source mounted read-only" \
  "$(grep -c 'mounted read-only\|is not writable' "$work/deleting.log" || :)" 2
container kill plain TERM
wait "${running[1]}" || :
container kill archive TERM
wait "${running[0]}" || :
# The webhook's receiver is left; leaving ends it.
unset "running[0]" "running[1]"
step "proven for $architecture at commit $(commit), $(date --utc +%Y-%m-%d)"
