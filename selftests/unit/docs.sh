#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The documentation: that it is well-formed and its links lead somewhere, that it names every
# key, every counter and every option that there is, and that the commands that it shows can
# be. functional/docs.sh runs them.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"
. "$here/../lib/shown.sh"

programs=$top/build/daemon
man=$top/Documentation/man
rst=$top/Documentation/admin-guide/device-mapper/dm-fullstripe.rst
abi=$top/Documentation/ABI/testing/sysfs-block-dm-fullstripe
export LC_ALL=C

# is_rst FILE: it becomes HTML without a warning, and so does a man page, also where it is read.
# shellcheck disable=SC2317 # called by tap_check
is_rst() {
	rst2html --halt=warning "$1" >/dev/null || return
	[[ $1 == "$man"/* ]] || return 0
	rst2man --halt=warning "$1" >"$scratch/page" || return
	! MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$scratch/page" 2>&1 >/dev/null | grep .
}

# broken_links FOLDER: of the pages there, those that lead to no file of it.
broken_links() {
	local page link
	while read -r page link; do
		[[ -e ${page%/*}/${link%%#*} ]] || echo "${page#"$1"/}: $link"
	done < <(grep -oPr --include='*.html' --with-filename ' href="\K[^"#:]+(?=["#])' "$1" | sed 's/:/ /')
}

# commands_in PAGE: those that it shows, and those that it names in a sentence.
commands_in() {
	shown "$1"
	[[ $1 == *.md ]] || tr '\n' ' ' <"$top/$1" | grep -oP '``\K(fullstripectl|dmsetup|make) [^`]+(?=``)'
}

# complaint COMMAND: what is wrong in it, if anything: a verb, an option, a target or a test
# that there is not.
complaint() {
	local words verb missing
	read -ra words <<<"$1"
	case $1 in
	'make '*|make)
		make -C "$top" -n "${words[@]:1}" 2>&1 >/dev/null | head -n 1 ;;
	build/selftests/*)
		[[ -e $top/${words[0]#build/}.c ]] || echo "there is no ${words[0]#build/}.c" ;;
	selftests/*)
		[[ -x $top/${words[0]} ]] || { echo "there is no ${words[0]}"; return; }
		for missing in "${words[@]:1}"; do
			case $missing in
			--)	return ;;
			--*)	"$top/${words[0]}" --help | grep -qF -- "$missing" || echo "no option $missing" ;;
			*.sh)	compgen -G "$top/selftests/*/${missing##*/}" >/dev/null || echo "no test $missing" ;;
			esac
		done ;;
	'fullstripectl '*)
		verb=${words[1]}
		[[ " ${verbs[*]} " == *" $verb "* ]] || { echo "no verb $verb"; return; }
		missing=$(not_in "$(grep -oP '(?<![\w-])--[a-z][a-z-]*' <<<"$1")" "$(long_options "$programs/fullstripectl" "$verb")")
		[[ ! $missing ]] || echo "$verb has no $missing"
		[[ $1 != *rule\ --* ]] || "$programs/fullstripectl" "${words[@]:1}" >"$scratch/said" 2>&1 ||
			cat "$scratch/said" ;;
	'dmsetup '*)
		dmsetup help 2>&1 | grep -qP "^\t\Q${words[1]}\E\b" || echo "no command ${words[1]}" ;;
	esac
}

# config_keys: those of fullstriped.conf, with the default, the least and the most where it is a number.
config_keys() {
	local code=$top/daemon/lib/config.c key least most
	grep -oP 'strcmp\(key, "\K\w+' "$code"
	while IFS='|' read -r key least most; do
		echo "$key $(sed -n "s/^\t\.$key = \(.*\),\$/\1/p" "$code")" \
			"$((${least//DAY/86400}))" "$((${most//DAY/86400}))"
	done < <(sed -nE 's/^\t\{ "([a-z_]+)", offsetof\(.*\), ([^,]+), ([^,]+) \},$/\1|\2|\3/p' "$code")
}

# not_in_conf: which of them, with its numbers, fullstriped.conf(5) does not name.
not_in_conf() {
	local key default least most text
	while read -r key default least most; do
		text=$(sed -n "/^$key\$/,/^[a-z_]*\$/p" "$man/fullstriped.conf.5.rst" | tail -n +2 | paste -sd ' ')
		if [[ $least ]]; then
			[[ $text == *": $least to $most"[,\;]*"the default is $default."* ]] || echo "$key $least to $most, default $default"
		else
			[[ $text ]] || echo "$key"
		fi
	done < <(config_keys)
}

# complaints PAGE: of its commands.
complaints() {
	local command text
	while read -r command; do
		text=$(complaint "$command")
		[[ ! $text ]] || echo "$command: $text"
	done < <(commands_in "$1")
}

# with_output PAGE: each fullstripectl rule that is shown with what it prints, once more, with
# what it prints now.
with_output() {
	local line
	while IFS= read -r line; do
		echo "$line"
		if [[ $line == '$ '* ]]; then
			read -ra line <<<"${line#* fullstripectl }"
			"$programs/fullstripectl" "${line[@]}"
		fi
	done < <(outputs "$1" | grep -F '$ fullstripectl rule')
}

# outputs PAGE: the literal blocks that begin with fullstripectl rule, and have more than that.
outputs() {
	awk '
		/^ +\$ fullstripectl rule/ { match($0, /^ +/); indent = RLENGTH; command = substr($0, indent + 1); next }
		indent && (!NF || match($0, /[^ ]/) <= indent) { indent = 0; command = "" }
		indent {
			if (command)
				print command
			command = ""
			print substr($0, indent + 1)
		}' "$top/$1"
}

# named_files PAGE: the source files and folders that it names in italics.
named_files() {
	grep -oP '\*\K[a-z][\w/.-]*(\.(c|h|sh|rst|txt)|/)(?=\*)' "$top/$1" | sort -u
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
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mapfile -t shown_in < <(shown_pages)
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

tap_plan $((${#pages[@]} + 19 + 2 * ${#verbs[@]} + 4 + 6 + ${#shown_in[@]} + 2))

for page in "${pages[@]}"; do
	name="${page#"$top/"} is well-formed"
	if command -v rst2html rst2man >/dev/null; then
		tap_check "$name" is_rst "$page"
	else
		tap_skip "$name" "docutils are not installed"
	fi
done

if command -v rst2html >/dev/null; then
	tap_check "they are built" make -s -C "$top/Documentation" O="$scratch/docs" all
	tap_is "$(broken_links "$scratch/docs")" '' "their links lead somewhere"
	[[ -s $scratch/docs/admin-guide/device-mapper/dm-fullstripe.html ]] &&
		(($(grep -c ' href=' "$scratch/docs/index.html") > 5))
	tap_is $? 0 "there are pages and links"
else
	for name in "they are built" "their links lead somewhere" "there are pages and links"; do
		tap_skip "$name" "docutils are not installed"
	done
fi

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

target_keys=$(grep -oP '^\t\{ "\K[a-z_]+(?=", (true|false) \},$)' "$top/daemon/lib/target_keys.c")
tap_is "$(diff <(sort <<<"$target_keys") <(sort <<<"$keys"))" '' "fullstripectl create knows every key"
listed=$(sed -n '/settings\[\] = {/,/};/p' "$top/daemon/ctl/list.c" | grep -oP '"\K[a-z_]+(?=")')
tap_is "$(diff <(sort <<<"$listed") <(sort <<<"$keys"))" '' "and fullstripectl list"
tap_is "$(not_in "$keys" "$(section "$man/fullstripectl.8.rst" create | grep -oP '\*\K[a-z_]+(?=\*)')")" '' \
	"and its man page"
tap_is "$(not_in_conf)" '' "fullstriped.conf(5) has every key, with its range and default"
(($(config_keys | wc -l) > 5))
tap_is $? 0 "there are such keys"
missing=''
while read -r name; do
	(cd "$top" && git ls-files --error-unmatch "$name" "kmod/$name" "*/${name##*/}" 2>/dev/null | grep -q .) ||
		missing+=" $name"
done < <(named_files Documentation/contributing.rst | grep -vx build/)
tap_is "$missing" '' "contributing.rst names files that there are"

if [[ ! $built ]]; then
	tap_skip "fullstripectl: its man page has its verbs" "the programs are not built"
	tap_skip "fullstripectl: its man page has its options" "the programs are not built"
	for name in "${shown_in[@]/%/: its commands can be}" "the sums that are shown are those that are printed" \
		"there are sums" "the verbs are completed" "and those of fullstriped" "and the kinds of pictures" \
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
tap_is "$(completed "$programs/fullstripectl" daemon '' | paste -sd ' ')" \
	"$(sed -n 's/^\t{ "\([a-z]*\)", .*, [a-z_]* },$/\1/p' "$top/daemon/ctl/daemon.c" | paste -sd ' ')" "and what is asked of the daemon"
tap_is "$(completed "$programs/fullstripectl" report --from '' | grep -x /dev/null)" /dev/null "and devices"
tap_is "$(for verb in "${verbs[@]}"; do is_one_screen "$programs/fullstripectl" "$verb" || echo "$verb"; done)" '' \
	"the help of each verb is on one screen"
has_options fullstriped "$programs/fullstriped" -- "$man/fullstriped.8.rst" OPTIONS
for page in "${shown_in[@]}"; do
	tap_is "$(complaints "$page")" '' "$page: its commands can be"
done
page=Documentation/man/dm-fullstripe.7.rst
tap_is "$(diff <(outputs $page) <(with_output $page))" '' "the sums that are shown are those that are printed"
(($(outputs $page | grep -c '^\$') > 5))
tap_is $? 0 "there are sums"
tap_done
