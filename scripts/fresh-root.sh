#!/bin/sh
# fresh-root.sh - tries the README's commands where nothing is installed: a minimal Debian 12 made with debootstrap.
# usage (as root): scripts/fresh-root.sh [command ...]     default: './dev demo' './dev test'
# What is tried is the last commit.  The root is removed afterwards, unless KEEP=1; a kept one is named.
# Packages come from wherever apt of this machine gets them.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "fresh-root.sh: debootstrap and chroot need root" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "fresh-root.sh: install the package debootstrap" >&2; exit 1; }
[ $# -gt 0 ] || set -- './dev demo' './dev test'

root=$(mktemp -d "${TMPDIR:-/var/tmp}/fresh-root.XXXXXX")
finish() {
    # Removing comes after unmounting, or it would reach into the machine's own /dev.
    for folder in proc dev; do
        if mountpoint -q "$root/$folder"; then umount -R "$root/$folder" || exit 1; fi
    done
    if [ "${KEEP-0}" = 1 ]; then echo "kept: $root"; else rm -rf --one-file-system "$root"; fi
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || { echo "fresh-root.sh: apt knows no source of bookworm main" >&2; exit 1; }
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "== debootstrap --variant=minbase bookworm $root"
debootstrap --variant=minbase --keyring="$keyring" bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log"; exit 1; }
rm -f "$root.log"

apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v keyring="$keyring" '$2 ~ /^bookworm/ && $3 == "main" {
        print "deb [signed-by=" keyring "] " $1, $2, $3 }' >"$root/etc/apt/sources.list"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"

git clone -q --no-hardlinks "$source" "$root/opt/ptoc"
for command in "$@"; do
    echo "== in the fresh root: $command"
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM-dumb}" \
        sh -c "cd /opt/ptoc && $command" </dev/null
done
echo "== fresh root: all commands passed"
