#!/bin/sh
# freestanding.sh CC [FLAG ...] - compiles what a device's processor would run without library and system, links it into one object, and
# looks at what it still wants: the four functions that a C compiler may ask of any environment, and the program's own check.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for file in runtime/schedule/scheduler.c runtime/schedule/ready_queue.c runtime/shared/window.c runtime/device/resident.c; do
    "$@" -std=c11 -O2 -ffreestanding -nostdlib -fno-stack-protector -Wall -Wextra -Werror -Iruntime/include -Iruntime -c "$file" \
        -o "$folder/$(basename "$file" .c).o"
done
"$@" -nostdlib -r "$folder"/*.o -o "$folder/core"
wanted=$(nm -u "$folder/core" | awk '{ print $2 }' | grep -v -x -e memcpy -e memset -e memmove -e memcmp -e ptoi_check_failed || true)
[ -z "$wanted" ] || { echo "the freestanding core wants: $wanted"; exit 1; }
size "$folder/core" | awk 'NR == 2 { print "freestanding core:", $1 + $2 + $3, "bytes, of which", $1, "are code" }'
