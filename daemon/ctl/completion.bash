# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion for fullstripectl and fullstriped: verbs and options are those that their
# --help prints, so there is nothing here that could be forgotten.

_fullstripe() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=''
	local -a command=("${COMP_WORDS[0]}")
	[[ ${COMP_WORDS[0]} != *fullstripectl ]] || ((COMP_CWORD == 1)) || command+=("${COMP_WORDS[1]}")

	COMPREPLY=()
	if [[ $prev == --kind ]]; then
		words=$("${command[@]}" --kind list 2>/dev/null | sed 's/ .*//')
	elif [[ $prev == --mode ]]; then
		words="writebehind writethrough"
	elif [[ $prev == --sort ]]; then
		words="name read write full pre-reads staged flush held streams"
	elif [[ $prev == --from ]]; then
		cur=${cur:-/dev/}
	elif [[ $cur == -* ]]; then
		words=$("${command[@]}" --help 2>/dev/null | grep -oE -e ' --[a-z][a-z-]*' | grep -v -e --usage)
	elif [[ $prev == daemon ]] && ((COMP_CWORD == 2)); then
		words="status reload mode record"
	elif [[ $prev == mode && ${COMP_WORDS[1]} == daemon ]]; then
		words="advise auto"
	elif ((COMP_CWORD == 1)) && [[ ${COMP_WORDS[0]} == *fullstripectl ]]; then
		words=$("${command[@]}" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p')
	fi
	if [[ $words ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -o filenames -F _fullstripe fullstripectl fullstriped
