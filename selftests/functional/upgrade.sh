#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A newer module beside the one that is in use: refused, said by the package, and taken when the
# devices are gone. Table lines of older versions.
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=../lib/kernel-modules.sh
. "$HERE/../lib/kernel-modules.sh"

MODULES=/lib/modules/$KVER
NEWER=$MODULES/updates/dkms/dm-fullstripe.ko
LINES_FILE=$HERE/table-lines.txt

# few_modules: this machine's are those that the target needs.
few_modules() {
	copy_modules /run/few dm-mod && mount --bind "/run/few$MODULES" "$MODULES"
}

# shellcheck disable=SC2317 # the trap calls it
give_up() {
	umount "$MODULES"
	rm -rf /run/few
	leave
}

# newer_module: the module as it is, but for what modinfo says its version is.
newer_module() {
	local ko=$RIG_TOP/build/kmod/$KVER/dm-fullstripe.ko info=/run/modinfo
	mkdir -p "${NEWER%/*}"
	objcopy -O binary --only-section=.modinfo --set-section-flags .modinfo=alloc "$ko" $info &&
		sed -i 's/\<version=[0-9.]*/version=9.9.9/; s/\<srcversion=...../srcversion=FFFFF/' $info &&
		objcopy --update-section .modinfo=$info "$ko" "$NEWER" && depmod "$KVER"
}

# configured: what the package says when it has been installed.
configured() {
	sh "$RIG_TOP/debian/fullstripe-dkms.postinst" configure
}

# keys_of LINE: what the target has, of the keys in a line, in the same form.
keys_of() {
	local table i given=()
	table=$(dmsetup table fs0)
	read -ra given <<<"$1"
	echo "${given[0]}" "${given[1]}"
	for ((i = 2; i < ${#given[@]}; i += 2)); do
		grep -oE " ${given[i]} [^ ]+" <<<"$table" | sed 's/^ //'
	done
}

mapfile -t lines < <(grep -v '^#' "$LINES_FILE")
tap_plan $((12 + ${#lines[@]} + 1))
rig_load_module
rig_preset R5 ram
rig_target fs0 "$RIG_MD"
loaded=$(</sys/module/dm_fullstripe/version)
trap give_up EXIT
few_modules
tap_check "there is a newer module" newer_module
tap_is "$loaded $(modinfo -F version dm-fullstripe)" \
	"$(modinfo -F version "$RIG_TOP/build/kmod/$KVER/dm-fullstripe.ko") 9.9.9" "it has another version"
head -c 1M /dev/urandom >/run/data
dd if=/run/data of=/dev/mapper/fs0 bs=1000 conv=notrunc status=none
said=$(insmod "$NEWER" 2>&1)
tap_is "$? ${said##*: }" "1 File exists" "loading it is refused while the old one is in use"
said=$(configured)
tap_is "$?" 0 "the package can be configured"
tap_is "$(head -n 1 <<<"$said")" "dm-fullstripe $loaded is in use and stays loaded; dm-fullstripe 9.9.9 is installed." \
	"it says which one is in use"
tap_is "${said##*:}" " fs0" "and for which device"
tap_is "$(</sys/module/dm_fullstripe/version)" "$loaded" "the old one is still there"
tap_check "and has its data" cmp -n 1M /run/data /dev/mapper/fs0
rig_target_remove fs0
tap_check "what it staged is on the array" cmp -n 1M /run/data "$RIG_MD"
tap_is "$(configured)" "dm-fullstripe $loaded was not in use and is unloaded; 9.9.9 is loaded when it is needed." \
	"without devices it is unloaded"
rig_target fs0 "$RIG_MD"
tap_is "$(cat /sys/module/dm_fullstripe/version)" 9.9.9 "a device then loads the new one by itself"
tap_is "$(configured)" '' "and nothing is left to be said"
rig_target_remove fs0

sectors=$(blockdev --getsz "$RIG_MD")
newest=$(rig_target fs0 "$RIG_MD" && dmsetup table fs0)
rig_target_remove fs0
for line in "${lines[@]}"; do
	dmsetup create fs0 --table "0 $sectors fullstripe $RIG_MD $line" 2>/dev/null
	tap_is "$(keys_of "$line" | paste -sd' ')" "$line" "valid: ${line%% chunk*} words, ..., ${line#*hold_ms }"
	rig_target_remove fs0
done
names() {
	tr ' ' '\n' <<<"$1" | grep -E '^[a-z]+_|^streams|^mode' | sort
}
tap_is "$(names "${lines[-1]}")" "$(names "$newest")" "the last of these lines has all keys of this version"
tap_done
