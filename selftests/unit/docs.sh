#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The documentation: that it is well-formed, and that it names every key, every
# counter and every option that there is.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

programs=$top/build/daemon
man=$top/Documentation/man
rst=$top/Documentation/admin-guide/device-mapper/dm-fullstripe.rst
abi=$top/Documentation/ABI/testing/sysfs-block-dm-fullstripe
export LC_ALL=C

# is_rst FILE: it becomes HTML and a man page without a warning.
# shellcheck disable=SC2317 # called by tap_check
is_rst() {
	rst2html --halt=warning "$1" >/dev/null && rst2man --halt=warning "$1" >/dev/null
}

# not_in WANTED HAVE: what of the first list, a word a line, is not in the second.
not_in() {
	comm -23 <(sort -u <<<"$1") <(sort -u <<<"$2")
}

# emphasised FILE: the names that stand between asterisks.
emphasised() {
	grep -oP '\*\K[a-z_]+(?=\*)' "$1"
}

# status_fields: the counters of the status line, in the order of their numbers.
status_fields() {
	grep -oP '^([7-9]|[1-9][0-9])\. \*\K[a-z_]+(?=\*)' "$rst"
}

# long_options COMMAND...: those that its --help prints. --usage is argp's own.
long_options() {
	"$@" --help | grep -oP '(?<![\w-])--[a-z][a-z-]*' | grep -vx -e --usage
}

# section FILE TITLE...: the text below these headings.
section() {
	local file=$1
	shift
	awk -v titles="|$(printf '%s|' "$@")" '
		/^(-+|=+)$/ { wanted = index(titles, "|" previous "|") }
		wanted { print }
		{ previous = $0 }' "$file"
}

# options_in FILE TITLE...: the long options that these sections name, or the line
# of the synopsis that is about a verb of such a name.
options_in() {
	{ section "$@"; section "$1" SYNOPSIS | grep -F -- "**$2**"; } |
		grep -oP '(?<![\w-])--[a-z][a-z-]*'
}

# has_options WHO HELP-COMMAND... -- FILE TITLE...: one result.
has_options() {
	local who=$1 command=() wanted missing
	shift
	while [[ $1 != -- ]]; do
		command+=("$1")
		shift
	done
	shift
	wanted=$(long_options "${command[@]}")
	if [[ ! $wanted ]]; then
		tap_not_ok "$who: its man page has its options" "its --help prints none"
		return
	fi
	missing=$(not_in "$wanted" "$(options_in "$@")")
	tap_is "$missing" '' "$who: its man page has its options"
}

# completed WORD...: what bash offers for the last word of a command line.
completed() {
	local COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY
	_fullstripe
	printf '%s\n' "${COMPREPLY[@]}"
}

# is_one_screen COMMAND...: its --help has room on a terminal of 80 by 24, with the prompt below.
is_one_screen() {
	"$@" --help | awk 'length > 79 { wide = 1 } END { exit wide || NR > 23 }'
}

mapfile -t pages < <(find "$top/Documentation" -name '*.rst' | sort)
keys=$(grep -oP '^\t\t"\K[a-z_]+(?=",$)' "$top/kmod/settings.c")
key_files=$(grep -oP '^\t&key_\K\w+(?=\.)' "$top/kmod/sysfs.c")
stats=$(grep -oP '^(STAT\(|static struct kobj_attribute stat_)\K\w+' "$top/kmod/sysfs.c")
stat_files=$(grep -oP '^\t&stat_\K\w+(?=\.)' "$top/kmod/sysfs.c")
counters=$(grep -oP '^\tCOUNT_\K\w+(?=,$)' "$top/kmod/fullstripe.h" | tr '[:upper:]' '[:lower:]')
in_abi=$(grep -oP '^What:\t\t/sys/block/dm-<num>/fullstripe/\K\w.*\w$' "$abi")
verbs=()
built=''
if [[ -x $programs/fullstripectl && -x $programs/fullstriped ]]; then
	built=yes
	mapfile -t verbs < <("$programs/fullstripectl" --help | grep -oP '^  \K[a-z]+(?=  )')
fi

tap_plan $((${#pages[@]} + 10 + 2 * ${#verbs[@]} + 4 + 5))

for page in "${pages[@]}"; do
	name="${page#"$top/"} is well-formed"
	if command -v rst2html rst2man >/dev/null; then
		tap_check "$name" is_rst "$page"
	else
		tap_skip "$name" "docutils are not installed"
	fi
done

# What is looked for must have been found, or nothing could be missing.
tap_is "$(sort <<<"$keys")" "$(sort <<<"$key_files")" "every key is found"
[[ $keys && $key_files ]]
tap_is $? 0 "there are keys"
tap_is "$(sort <<<"$stats")" "$(sort <<<"$stat_files")" "every stats file is found"
[[ $stats && $counters ]]
tap_is $? 0 "there are counters"

tap_is "$(not_in "$keys"$'\n'"$stats" "$(emphasised "$rst")")" '' \
	"dm-fullstripe.rst names every key and every stats file"
tap_is "$(status_fields)" "$counters" "its status fields are the counters, in order"
paths=$keys$'\nstats/'${stats//$'\n'/$'\nstats/'}
tap_is "$(not_in "$paths" "$in_abi")" '' "the ABI file has every key and every stats file"
tap_is "$(not_in "$in_abi" "$paths")" '' "and nothing else"
tap_is "$(sort <<<"$in_abi" | uniq -d)" '' "and nothing twice"
tap_is "$(grep -oP '^\w+(?=:)' "$abi" | paste -sd ' ' | sed 's/What Date KernelVersion Contact Description *//g')" \
	'' "each entry has its five fields"

if [[ ! $built ]]; then
	tap_skip "fullstripectl: its man page has its verbs" "the programs are not built"
	tap_skip "fullstripectl: its man page has its options" "the programs are not built"
	for name in "the verbs are completed" "and those of fullstriped" "and the kinds of pictures" \
		"and what top sorts by" "and devices" "the help of each verb is on one screen" \
		"fullstriped: its man page has its options"; do
		tap_skip "$name" "the programs are not built"
	done
	tap_done
fi
tap_is "$(not_in "$(printf '%s\n' "${verbs[@]:-(its --help prints no verbs)}")" \
	"$(grep -xB1 -E -e '-+' "$man/fullstripectl.8.rst")")" '' \
	"fullstripectl: its man page has its verbs"
has_options fullstripectl "$programs/fullstripectl" -- "$man/fullstripectl.8.rst" OPTIONS
for verb in "${verbs[@]}"; do
	has_options "fullstripectl $verb" "$programs/fullstripectl" "$verb" -- \
		"$man/fullstripectl.8.rst" "$verb" OPTIONS
done
. "$top/daemon/ctl/completion.bash"
tap_is "$(completed "$programs/fullstripectl" '')" "$(printf '%s\n' "${verbs[@]}")" "the verbs are completed"
for verb in "${verbs[@]}"; do
	tap_is "$(not_in "$(long_options "$programs/fullstripectl" "$verb")" \
		"$(completed "$programs/fullstripectl" "$verb" --)")" '' "the options of $verb are completed"
done
tap_is "$(completed "$programs/fullstriped" --s)" --state-dir "and those of fullstriped"
tap_is "$(completed "$programs/fullstripectl" plot --kind seek-)" seek-distance "and the kinds of pictures"
tap_is "$(completed "$programs/fullstripectl" top --sort '' | paste -sd ' ')" \
	"$(sed -n 's/^\t\[TOP_BY_.*\] = "\(.*\)",$/\1/p' "$top/daemon/lib/top.c" | paste -sd ' ')" "and what top sorts by"
tap_is "$(completed "$programs/fullstripectl" report --from '' | grep -x /dev/null)" /dev/null "and devices"
tap_is "$(for verb in "${verbs[@]}"; do is_one_screen "$programs/fullstripectl" "$verb" || echo "$verb"; done)" '' \
	"the help of each verb is on one screen"
has_options fullstriped "$programs/fullstriped" -- "$man/fullstriped.8.rst" OPTIONS
tap_done
