#!/usr/bin/env bash
# Makes the Debian packages, twice the same; looks at them with lintian; then boots Debian 12 and 13
# without any network and lets deb-inside.sh install, use, upgrade, remove and purge them there.
#
#   sudo scripts/proof/deb.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs mmdebstrap:mmdebstrap systemd-container:systemd-nspawn dpkg:dpkg-deb lintian:lintian binutils:readelf npm:npm
workplace
node=$repository/node_modules/node/bin/node
deb() { nice -n 10 "$node" "$repository/scripts/package/deb.ts" "$@" >/dev/null; }

step "make them"
version=$("$node" -p 'require(process.argv[1]).version' "$repository/package.json")
deb --to "$work/debs"
for file in "$work"/debs/*.deb; do
  saw "$(basename "$file")" "$(($(stat -c %s "$file") / 1000000)) MB, $(($(dpkg-deb -f "$file" Installed-Size) / 1000)) MB installed"
done
deb --to "$work/again" --architecture amd64
sums=$(sha256sum "$work"/{debs,again}/*_amd64.deb | cut -d' ' -f1 | sort -u)
[ "$(wc -l <<<"$sums")" = 1 ] || fail "a second build is another"
saw "a second build" "the same, SHA-256 ${sums:0:16}..."

step "lintian"
lintian --fail-on error --tag-display-limit 0 "$work"/debs/*.deb >"$work/lintian" 2>/dev/null || {
  grep ^E: "$work/lintian"
  fail "it finds errors"
}
saw "errors, warnings" "$(grep -c ^E: "$work/lintian" || :), $(grep -c ^W: "$work/lintian" || :)"

step "arm64, from outside; arm64.sh runs it"
dpkg-deb -x "$work/debs/scanferry_${version}_arm64.deb" "$work/arm64"
find "$work/arm64" -type f \( -name node -o -name '*.node' \) | while read -r file; do
  machine=$(readelf -h "$file" | sed -n 's/.*Machine: *//p')
  saw "${file#"$work/arm64/usr/lib/scanferry/"}" "$machine"
  [ "$machine" = AArch64 ] || fail "it is for another machine"
done
rm -rf "$work/arm64"

# A later version, for the upgrade: the same but for its name.
dpkg-deb -R "$work/debs/scanferry_${version}_amd64.deb" "$work/later"
sed -i "s/^Version:.*/Version: $version+later/" "$work/later/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$work/later" "$work/later.deb" >/dev/null
rm -rf "$work/later"

for suite in bookworm trixie; do
  step "$suite"
  machine=$work/$suite
  mkdir "$machine"
  debian_root "$machine" systemd-sysv,procps,man-db,groff-base "$suite"
  cp "$work/debs/scanferry_${version}_amd64.deb" "$machine/opt/scanferry.deb"
  cp "$work/later.deb" "$machine/opt/later.deb"
  saw Debian "$(cat "$machine/etc/debian_version"), $(chroot "$machine" systemctl --version | head -1 | cut -d'(' -f1)"
  boot "$machine" deb-inside.sh
  rm -rf --one-file-system "$machine"
done
step "proven at commit $(commit), $(date --utc +%Y-%m-%d)"
