#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The tables and the JSON of fullstripectl list and status, to the letter.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl

tap_plan 17
rig_load_module
tap_is "$("$CTL" list; "$CTL" status; "$CTL" list --json | jq -c .)" '{"devices":[]}' "without devices there is nothing to list"
rig_preset R5 ram
"$CTL" create fs0 "$RIG_MD" --set cluster_bytes=1048576 --set high_water_bytes=8M --set low_water_bytes=4M \
	--set file_high_water_bytes=1536K --set file_low_water_bytes=512K --set hold_ms=3600000
tap_is "$("$CTL" list)" \
"NAME LOWER  STRIPE  CHUNK DATA CLUSTER MEMORY PER FILE       HOLD MODE
fs0  md0   256 KiB 64 KiB    4   1 MiB  8 MiB  1.5 MiB 3600000 ms writebehind" "what devices are set to"
tap_is "$("$CTL" list --json | jq -c '.devices[0] | [.name, .lower, .stripe_bytes, .data_members, .high_water_bytes,
	.file_high_water_bytes, .hold_ms, .mode]')" \
	'["fs0","md0",262144,4,8388608,1572864,3600000,"writebehind"]' "the same for programs"
tap_is "$("$CTL" list --json | jq -r '.devices[0] | keys - ["name", "lower", "suspended"] | .[]' | sort)" \
	"$(cd "$(rig_sysfs fs0)" && find . -maxdepth 1 -type f -printf '%f\n' | sort)" "with all that there is"

dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=2 oflag=direct conv=notrunc status=none
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek=256 oflag=direct conv=notrunc status=none
dmsetup message fs0 0 flush
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=2 seek=64 oflag=direct conv=notrunc status=none
tap_is "$("$CTL" status)" \
"NAME LOWER STATE STAGED FILES HELD STREAMS DESTAGED WHOLE FILLED PARTIAL FLUSHES ERRORS
fs0  md0   ok     8 KiB     1    0       0    4 KiB     0      0       1       0      0" "how they are"
tap_is "$("$CTL" status --json | jq -c '.devices[0] | [.name, .lower, .staged_bytes, .bypassed_bytes, .partial_stripes,
	.failing_stripes]')" '["fs0","md0",8192,524288,1,0]' "the same for programs"
tap_is "$("$CTL" status --json | jq -r '.devices[0] | keys - ["name", "lower", "suspended"] | .[]' | sort)" \
	"$(cd "$(rig_sysfs fs0)/stats" && find . -maxdepth 1 -type f -printf '%f\n' | sort)" "with all that there is"
tap_is "$("$CTL" status fs0 | tail -n 1 | cut -c 1-8) $("$CTL" list /dev/mapper/fs0 | tail -n 1 | cut -c 1-8)" \
	"fs0  md0 fs0  md0" "of one device"
tap_is "$("$CTL" status md0 2>&1 >/dev/null | grep -c 'no device-mapper device')" 1 "another kind of device is refused"

# Suspended: the module's folder in sysfs is away then.
truncate -s 64M /run/other
other=$(losetup -f --show /run/other)
"$CTL" create fs1 "$other" --set chunk_bytes=64K --set data_members=1
dmsetup suspend fs0
said=$("$CTL" list 2>&1)
tap_is "$? $(awk '$1 == "fs0"' <<<"$said" | tr -s ' ')" "0 fs0 md0 - - - - - - - suspended" "a suspended device is listed"
tap_check "beside one that is not" grep -Eq '^fs1 .* writebehind$' <<<"$said"
said=$("$CTL" status 2>&1)
tap_is "$? $(awk '$1 == "fs0"' <<<"$said" | tr -s ' ')" "0 fs0 md0 suspended - - - - - - - - - -" "and how it is"
tap_is "$("$CTL" list --json | jq -c '[.devices[] | [.name, .lower, .suspended, .mode, .stripe_bytes != null]] | sort')" \
	"[[\"fs0\",\"md0\",true,null,false],[\"fs1\",\"${other#/dev/}\",false,\"writebehind\",true]]" "for programs, too"
said=$("$CTL" status fs0 2>/run/said)
tap_is "$? $(tail -n 1 <<<"$said" | cut -c 1-20)" "0 fs0  md0   suspended" "alone, too"
tap_check "and it is said what to do" grep -q "fs0 is suspended.*'dmsetup resume fs0'" /run/said
dmsetup resume fs0
tap_is "$("$CTL" status fs0 | tail -n 1 | cut -c 1-14)" "fs0  md0   ok " "it is as before when it is resumed"

# While devices come, go and are suspended: one that does not is listed each time.
while [[ -e /run/other ]]; do
	dmsetup suspend fs0
	dmsetup resume fs0
	"$CTL" remove fs1
	"$CTL" create fs1 "$other" --set chunk_bytes=64K --set data_members=1
done >/run/said 2>&1 &
churn=$!
bad=0
for ((i = 0; i < 40; i++)); do
	"$CTL" list >/run/list 2>>/run/list && grep -q '^fs0 ' /run/list || ((++bad))
done
rm /run/other
wait "$churn"
tap_is "$bad" 0 "as devices are suspended and go, the others are listed"
[[ $bad == 0 ]] || tap_diag "$(tail -n 3 /run/list)"
"$CTL" remove fs1
losetup -d "$other"
"$CTL" remove fs0
tap_done
