#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion in zsh: a real one, with its own completion system, is asked what it would
# offer for a command line.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

programs=$top/build/daemon
[[ -x $programs/fullstripectl && -x $programs/fullstriped ]] || tap_skip_all "the programs are not built"
command -v zsh >/dev/null || tap_skip_all "zsh is not installed"
export LC_ALL=C TERM=dumb

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/functions" "$dir/here"
cp "$top/daemon/ctl/completion.zsh" "$dir/functions/_fullstripectl"
touch "$dir/here/some.blktrace.0"

# In a terminal of its own: completion is for who types. It tells what it is about to
# offer, and then what the line has become.
cat >"$dir/ask" <<-'ASK'
	zmodload zsh/zpty
	zpty shell zsh -f -i
	zpty -w shell "PS1=; fpath=($1/functions \$fpath); path=($2 \$path); cd $1/here"
	zpty -w shell "autoload -U compinit; compinit -u -C -d $1/dump; unsetopt list_beep"
	zpty -w shell "compadd() { local -a m; [[ \"\$*\" == *-[ADO]\ * ]] || { builtin compadd -O m \"\$@\"; print -rl -- \$m >>$1/offered }; builtin compadd \"\$@\" }"
	zpty -w shell "tell() { print -r -- \$BUFFER >$1/line.new; mv $1/line.new $1/line }; zle -N tell; bindkey '^X' tell; bindkey '^I' complete-word"
	zpty -w shell "touch $1/ready"
	repeat 100 { [[ -e $1/ready ]] && break; sleep 0.05 }
	zpty -w -n shell "$3"$'\t\x18'
	repeat 100 { [[ -e $1/line ]] && break; sleep 0.05 }
	zpty -d shell
ASK

# ask LINE: sets OFFERED, and LINE that it has become.
ask() {
	rm -f "$dir/offered" "$dir/line" "$dir/ready"
	zsh -f "$dir/ask" "$dir" "$programs" "$1" >/dev/null 2>&1
	OFFERED=$(sed '/^$/d' "$dir/offered" 2>/dev/null | sort -u)
	LINE=$(cat "$dir/line" 2>/dev/null)
}

# options_of COMMAND...: those that its --help prints. --usage is argp's own.
options_of() {
	"$@" --help | grep -oP '(?<![\w-])--[a-z][a-z-]*' | grep -vx -e --usage | sort -u
}

tap_plan 12
ask 'fullstripectl '
tap_is "$OFFERED" "$("$programs/fullstripectl" --help | grep -oP '^  \K[a-z]+(?=  )' | sort)" "the verbs are offered"
ask 'fullstripectl rep'
tap_is "$LINE" "fullstripectl report " "one is completed"
for verb in top plot plan profile; do
	ask "fullstripectl $verb --"
	tap_is "$OFFERED" "$(options_of "$programs/fullstripectl" "$verb")" "the options of $verb are offered"
done
ask 'fullstripectl plot --kind seek-d'
tap_is "$LINE" "fullstripectl plot --kind seek-distance " "a kind of picture is completed"
ask 'fullstripectl top --sort pre'
tap_is "$LINE" "fullstripectl top --sort pre-reads " "a key to sort by is"
ask 'fullstripectl report --from /dev/nul'
tap_is "$LINE" "fullstripectl report --from /dev/null " "a device is"
ask 'fullstripectl profile some'
tap_is "$LINE" "fullstripectl profile some.blktrace.0 " "a file is"
ask 'fullstriped --st'
tap_is "$LINE" "fullstriped --state-dir " "an option of fullstriped is"
ask 'fullstriped --'
tap_is "$OFFERED" "$(options_of "$programs/fullstriped")" "all of them are offered"
tap_done
