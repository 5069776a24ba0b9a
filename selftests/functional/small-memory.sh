#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# machine: --memory 256 --disk 256M --disk 256M --disk 256M
# debug: KASAN alone needs more memory than this machine has
#
# The target on a machine with hardly any memory: all reclaim goes through it, as the
# swap is on it, while what else is on it is written and verified.
. "${BASH_SOURCE[0]%/*}/common.sh"

PAGES=$RIG_TOP/build/selftests/functional/pages

# shellcheck disable=SC2317 # the trap calls it
give_up() {
	swapoff -a
	leave
}

tap_plan 10
trap give_up EXIT
rig_load_module
# Disks of the host: members in memory would take part in what is tested.
RIG_MEMBERS=(/dev/vda /dev/vdb /dev/vdc)
rig_array 5 64
rig_target fs0 "$RIG_MD"
total=$(($(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo) * 1024))
high=$(<"$(rig_sysfs fs0)/high_water_bytes")
tap_diag "$total bytes of memory, high_water_bytes $high"
((high >= 4 * RIG_W && high <= total / 32))
tap_is $? 0 "high_water_bytes is small by itself"
dmsetup message fs0 0 set high_water_bytes $((total / 2 + 4096)) 2>/dev/null
tap_is $? 1 "more than half of the memory is refused"
tap_is "$(<"$(rig_sysfs fs0)/high_water_bytes")" "$high" "and changes nothing"
tap_check "an eighth of the memory can be had" dmsetup message fs0 0 set high_water_bytes $((total / 8))

sectors=$(blockdev --getsz /dev/mapper/fs0)
split=$((320 << 11))
dmsetup create swap --table "0 $split linear /dev/mapper/fs0 0"
dmsetup create rest --table "0 $((sectors - split)) linear /dev/mapper/fs0 $split"
dmsetup create lower --table "0 $((sectors - split)) linear $RIG_MD $split"
mkswap -q /dev/mapper/swap
tap_check "swap on a part of the target" swapon /dev/mapper/swap

"$STRESS" --ops 100000000 --lower /dev/mapper/lower /dev/mapper/rest >/run/stress 2>&1 &
stress=$!
tap_check "more memory than there is holds what was written to it" \
	timeout 240 "$PAGES" --size $((256 << 20)) --rounds 1
swapped=$(awk '$1 == "pswpout" { print $2 / 256 }' /proc/vmstat)
tap_diag "${swapped%.*} MiB swapped out, $(<"$(rig_sysfs fs0)/stats/accepted_bytes") bytes accepted"
((${swapped%.*} >= 128))
tap_is $? 0 "much of it went through the target"
kill -TERM "$stress"
wait "$stress"
tap_is $? 0 "and what was verified beside it holds"
tap_diag "$(</run/stress)"
tap_is "$(dmesg | grep -c 'Out of memory')" 0 "nobody was killed for lack of memory"
tap_check "swapoff" swapoff /dev/mapper/swap
tap_done
