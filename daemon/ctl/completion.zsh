#compdef fullstripectl fullstriped
# SPDX-License-Identifier: GPL-2.0
#
# Completion for fullstripectl and fullstriped: verbs and options, with what they are for,
# are those that their --help prints, so there is nothing here that could be forgotten.

# A verb's own help from the second word on.
local -a command=($words[1]) found
[[ ${words[1]:t} != fullstripectl ]] || ((CURRENT == 2)) || command+=($words[2])

case ${words[CURRENT-1]} in
--kind)
	found=(${(f)"$(_call_program kinds $command --kind list 2>/dev/null |
		sed 's/^\([a-z0-9-]*\) .*  \(.*\)/\1:\2/; s/^\([a-z0-9-]*\)  */\1:/')"})
	_describe kind found
	return ;;
--mode)
	_values mode writebehind writethrough
	return ;;
--sort)
	_values key name read write full pre-reads staged flush held streams
	return ;;
daemon)
	if ((CURRENT == 3)); then
		_values command status reload mode record
		return
	fi ;;
mode)
	if [[ $words[2] == daemon ]]; then
		_values mode advise auto
		return
	fi ;;
--from)
	_files -g '*(-%)'
	return ;;
esac
if [[ $PREFIX == -* ]]; then
	found=(${(f)"$(_call_program options $command --help 2>/dev/null |
		grep -oE -e '(^| )--[a-z][a-z-]*.*' | grep -v -e --usage |
		sed -E 's/^ *(--[a-z-]+)[^ ]* *(.*)/\1:\2/')"})
	_describe -o option found
elif ((CURRENT == 2)) && [[ ${words[1]:t} == fullstripectl ]]; then
	found=(${(f)"$(_call_program verbs $command --help 2>/dev/null |
		sed -n 's/^  \([a-z]*\)  *\([^ ].*\)/\1:\2/p')"})
	_describe verb found
else
	_files
fi
