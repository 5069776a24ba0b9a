#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table line: geometry found or given, a line that recreates the target, status.
. "${BASH_SOURCE[0]%/*}/common.sh"

# key NAME KEY: a value of target NAME from sysfs.
key() {
	cat "$(rig_sysfs "$1")/$2"
}

# measured: what IMA made of the last table that was loaded.
measured() {
	awk '$5 == "dm_table_load" { data = $6 } END { print data }' "$IMA/ascii_runtime_measurements" |
		tr a-f A-F | basenc --base16 -d | grep -ao 'target_name=fullstripe,[^;]*;'
}

tap_plan 22
rig_load_module

mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
IMA=/sys/kernel/security/ima
# It is for as long as the machine is there.
{ echo "measure func=CRITICAL_DATA label=device-mapper" >$IMA/policy; } 2>/dev/null || IMA=''
rig_preset R8 ram
rig_target fs0 "$RIG_MD"
tap_is "$(key fs0 stripe_bytes)" 917504 "R8: stripe width found from md"
tap_is "$(key fs0 chunk_bytes)" 131072 "R8: chunk found from md"
tap_is "$(key fs0 data_members)" 7 "R8: data members found from md"
tap_is "$(key fs0 cluster_bytes)" 917504 "R8: cluster is one stripe"
tap_is "$(key fs0 alignment_offset)" 0 "R8: a whole array is aligned"
node=$(dmsetup info -c --noheadings -o blkdevname fs0)
tap_is "$(<"/sys/block/$node/queue/minimum_io_size")" 131072 "io_min is the chunk"
tap_is "$(<"/sys/block/$node/queue/optimal_io_size")" 917504 "io_opt is the stripe width"
tap_is "$(<"/sys/block/$node/queue/write_cache")" "write back" "says that its cache is volatile"

line=$(dmsetup table fs0)
if [[ $IMA ]]; then
	read -ra words <<<"$line"
	want="dev=${words[3]},start=${words[4]}"
	for ((i = 6; i < ${#words[@]}; i += 2)); do
		want+=,${words[i]}=${words[i + 1]}
	done
	tap_is "$(measured | sed 's/.*target_version=[0-9.]*,//')" "$want;" "IMA measures the same"
else
	tap_skip "IMA measures the same" "this kernel has no IMA"
fi
tap_check "reloads from its own table line" dmsetup reload fs0 --table "$line"
tap_check "resumes with it" dmsetup resume fs0
tap_is "$(dmsetup table fs0)" "$line" "the line is the same then"
status=$(dmsetup status fs0)
# start, length, name; mode, state, 4 sizes, 17 counters
tap_is "$(wc -w <<<"$status")" 28 "status has its 28 fields"
tap_is "$(cut -d' ' -f4-7 <<<"$status")" "writebehind ok 917504 917504" "status: mode, state, sizes"
rig_target_remove fs0

addpart "$RIG_MD" 1 2048 32768
rig_target fs0 "${RIG_MD}p1"
tap_is "$(key fs0 alignment_offset)" 131072 "a partition at 1 MiB is 128 KiB off"
tap_is "$(key fs0 stripe_bytes)" 917504 "its stripe width is found from md"
rig_target_remove fs0

# shellcheck disable=SC2086 # words on purpose
dmsetup create fs0 --table "0 65536 fullstripe $RIG_MD 2048 6 chunk_bytes 65536 data_members 3 \
mode writethrough"
tap_is "$(key fs0 stripe_bytes)" 196608 "what is given wins over what is found"
tap_is "$(key fs0 hold_ms)" 10 "writethrough holds for 10 ms unless told"
tap_is "$(dmsetup table fs0 | cut -d' ' -f1-5)" "0 65536 fullstripe 9:0 2048" "start is kept"
rig_target_remove fs0
rig_teardown

rig_preset R6 ram
rig_target fs0 "$RIG_MD"
tap_is "$(key fs0 stripe_bytes)" 262144 "R6: stripe width found from md"
rig_target_remove fs0
rig_teardown

rig_members 1 64 ram
rig_target fs0 "${RIG_MEMBERS[0]}" chunk_bytes 65536 stripe_bytes 196608
tap_is "$(key fs0 data_members)" 3 "any device will do when the geometry is given"
tap_check "writes on it" "$STRESS" --ops 300 --size $((8 << 20)) /dev/mapper/fs0 \
	--lower "${RIG_MEMBERS[0]}"
tap_done
