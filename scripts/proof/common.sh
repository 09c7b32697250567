# What the proofs share; sourced, not run. Each runs as root on a Debian machine, prints what it saw,
# ends with 1 at the first thing that is not as it should be, and leaves nothing behind.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
saw() { printf '   %-44s %s\n' "$1" "$2"; }
fail() {
  printf 'NOT SO: %s\n' "$*" >&2
  exit 1
}

# needs PACKAGE:PROGRAM...
needs() {
  local pair missing=()
  [ "$(id -u)" = 0 ] || fail "this must run as root: it mounts, and builds a Debian of its own"
  for pair; do command -v "${pair#*:}" >/dev/null || missing+=("${pair%%:*}"); done
  [ ${#missing[@]} = 0 ] || fail "missing here; apt-get install ${missing[*]}"
}

# A place of its own below $TMPDIR. Whatever is mounted below it goes first.
workplace() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/scanferry-proof.XXXXXX")
  trap 'leave' EXIT
}

# at_the_end COMMAND: before the workplace goes.
at_the_end() { last="$1; ${last:-:}"; }

leave() {
  local mount
  eval "${last:-:}"
  for pid in "${running[@]-}"; do [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :; done
  while read -r mount; do umount -l "$mount" 2>/dev/null || :; done \
    < <(awk -v below="$work/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
  rm -rf --one-file-system "$work"
}

# debian_root TARGET PACKAGES [SUITE [ARCHITECTURE [VARIANT]]]: a small Debian of this machine's own release, or of that
# one, for this machine or for another, from this machine's own mirrors (those entries of its apt configuration that are Debian's).
debian_root() {
  local target=$1 packages=$2 suite sources own variant=(--variant=minbase)
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  suite=${3:-$own}
  mapfile -t sources < <(
    grep -lrsE '^[^#]*\b'"$own"'\b.*\bmain\b|^Suites:.*\b'"$own"'\b' \
      /etc/apt/sources.list /etc/apt/sources.list.d |
      xargs -r grep -lE 'debian-archive-keyring|^deb .*/debian/? '
  )
  [ ${#sources[@]} -gt 0 ] || fail "no Debian mirror for $own in the apt configuration"
  if [ "$suite" != "$own" ]; then
    sources=("deb $(sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] )?([^ ]+).*/\2/p' "${sources[@]}" | head -1) $suite main")
  fi
  # What is emulated takes its time: no more than has to be.
  [ -z "${4:-}" ] || variant=("--variant=${5:-essential}" "--architectures=$4")
  mmdebstrap --quiet "${variant[@]}" --include="$packages" "$suite" "$target" "${sources[@]}" \
    >"$work/mmdebstrap.log" 2>&1 || {
    cat "$work/mmdebstrap.log" >&2
    fail "mmdebstrap could not make a Debian ($suite)"
  }
}

# The kernel is told how to start programs for arm64, if it does not know, and only for as long as this runs.
emulate_arm64() {
  local formats=/proc/sys/fs/binfmt_misc mounted=
  ! arch-test -n arm64 >/dev/null || return 0
  needs qemu-user-static:qemu-aarch64-static
  [ -e $formats/register ] || { mount -t binfmt_misc binfmt_misc $formats && mounted=yes; }
  if ! [ -e $formats/qemu-aarch64 ]; then
    at_the_end "echo -1 >$formats/qemu-aarch64; [ -z '$mounted' ] || umount $formats"
    cat /usr/lib/binfmt.d/qemu-aarch64.conf >$formats/register
  fi
  saw emulation "$(qemu-aarch64-static --version | head -1)"
}

# install_tree DIRECTORY: what `npm ci --omit=dev` of the package leaves there, with the pinned Node.
install_tree() {
  local to=$1 name
  local node=$repository/node_modules/node/bin/node
  [ -x "$node" ] || fail "run npm ci in the repository first"
  (cd "$repository" && PATH=$repository/node_modules/.bin:$PATH npm run --silent build)
  mkdir -p "$to"
  # What is made when a release is packed is not there, and not missed.
  "$node" -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).files.join("\n")' "$repository/package.json" |
    (
      cd "$repository"
      while read -r name; do
        for path in $name; do if [ -e "$path" ]; then cp -a --parents "$path" "$to"; fi; done
      done
    )
  (
    cd "$repository"
    cp package.json package-lock.json "$to"
    "$node" -p '
      const { packages } = JSON.parse(require("fs").readFileSync("package-lock.json", "utf8"));
      Object.entries(packages).flatMap(([path, { dev }]) => (path === "" || dev ? [] : [path])).join("\n")
    ' | while read -r name; do if [ -d "$name" ]; then cp -a --parents "$name" "$to"; fi; done
    cp -aL --parents node_modules/node/bin "$to"
  )
}

# boot MACHINE SCRIPT: boots the Debian in a container of its own, with no network but its own loopback,
# runs the script of this directory in it, and shows what that saw. Its manager may load the filters of
# addresses that units ask for, as a host's does.
boot() {
  local machine=$1 script=$2
  cp "$repository/scripts/proof/$script" "$machine/opt"
  cat >"$machine/etc/systemd/system/proof.service" <<UNIT
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=-/bin/bash /opt/$script
ExecStopPost=/bin/systemctl --no-block start poweroff.target
StandardOutput=append:/var/log/proof
StandardError=inherit
TimeoutStartSec=9min
[Install]
WantedBy=default.target
UNIT
  systemctl --quiet --root="$machine" enable proof.service
  # A host that was not started by systemd has no place for the machine's state: it gets one here.
  unshare --mount --propagation private bash -c '
    mkdir -p /run/systemd/nspawn && mount -t tmpfs tmpfs /run/systemd/nspawn
    export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
    exec timeout --kill-after=10 600 systemd-nspawn --quiet --register=no --keep-unit --boot \
      --directory="$1" --private-network --console=pipe --link-journal=no \
      --system-call-filter=bpf --capability=CAP_BPF,CAP_NET_ADMIN
  ' - "$machine" </dev/null >"$work/console" 2>&1 || saw nspawn "ended with $?"
  cat "$machine/var/log/proof" || { cat "$work/console"; fail "the machine did not run the proof"; }
  grep -q '^all as it should be$' "$machine/var/log/proof" || {
    tail -50 "$work/console"
    fail "see above"
  }
}

commit() { git -C "$repository" rev-parse --short HEAD 2>/dev/null || echo unknown; }
