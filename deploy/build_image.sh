#!/bin/sh
# Builds the image on a Debian machine without a daemon and without a registry: buildah, from a root that debootstrap makes.
#   apt install buildah debootstrap
#   deploy/build_image.sh                     # the image localhost/privact; as root, in a checkout of the repository
#   buildah push privact oci-archive:privact.tar    # a file for podman load or docker load
# MIRROR: where Debian's packages come from. BUILD_OPTIONS: for buildah, such as "--volume /etc/pip.conf:/etc/pip.conf:ro".
set -eu
cd "$(dirname "$0")/.."
root=$(mktemp -d)
base=
trap '[ -z "$base" ] || buildah rm "$base" >/dev/null; rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$root" \
    "${MIRROR:-http://deb.debian.org/debian}" >/dev/null
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
base=$(buildah from scratch)
buildah add --quiet "$base" "$root" / >/dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$base"
buildah commit --quiet "$base" privact-base >/dev/null
# shellcheck disable=SC2086   # several options
buildah build --isolation chroot --format docker --build-arg BASE=localhost/privact-base ${BUILD_OPTIONS:-} \
    --file deploy/Dockerfile --tag privact .
