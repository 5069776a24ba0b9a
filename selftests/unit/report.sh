#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# long timeout: 600
#
# fullstripectl plot and report: on recordings, on what is hostile or damaged, and on
# many events (ten million with LONG), in bounded memory. A page is looked at in
# Chromium where that is installed (selftests/setup --browser).
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

ctl=$top/build/daemon/fullstripectl
[[ -x $ctl ]] || tap_skip_all "fullstripectl is not built"
command -v xmllint >/dev/null || tap_skip_all "xmllint is not installed"
v1=$here/traces/linux-6.12-v1
v2=$here/traces/linux-7.2-v2
array=(--level 5 --members 5 --chunk 64K)
export LC_ALL=C

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit

# make_trace EVENTS: a v1 recording on stdout: half as many I/Os, 7 in 10 of them
# writes, anywhere on 1 TiB, of 4 KiB to 128 KiB.
make_trace() {
	perl -e '
		srand 1;
		my ($n, $time, $seq, $out) = (shift, 0, 0, "");
		binmode STDOUT;
		for (1 .. $n / 2) {
			my ($kind, $sector) = (rand() < .7 ? 2 : 1, int(rand 1 << 31) & ~7);
			my @of = ($sector, 4096 << int rand 6);
			for my $action (1 | ($kind | 8) << 16, 8 | ($kind | 128) << 16) {
				$out .= pack "LLQQLLLLLSS", 0x65617407, ++$seq, $time, @of, $action, 1,
					9 << 20, 0, 0, 0;
				$time += 10000;
			}
			if (length $out > 1 << 20) { print $out; $out = "" }
		}
		print $out' "$1"
}

# ends STATUS NAME ARGUMENT...: what fullstripectl ends with; OUT and ERR are what it said.
ends() {
	local want=$1 name=$2
	shift 2
	OUT=$("$ctl" "$@" 2>err)
	tap_is "$?" "$want" "$name"
	ERR=$(<err)
}

# cell FILE NAME: the first value in the summary's row of this name.
cell() {
	grep -oP "<th scope=\"row\">$2</th><td class=\"n\">\K[^<]*" "$1"
}

kinds=$("$ctl" plot --kind list | sed 's/ .*//')

tap_plan 53

[[ $(wc -l <<<"$kinds") == 11 ]]
tap_is $? 0 "plot --kind list lists the kinds"

ends 0 "a report of a recording" report "${array[@]}" -o v1.html "$v1"/md0.*
tap_is "$OUT$ERR" '' "says nothing where no terminal is"
tap_check "is well-formed" xmllint --noout --nonet v1.html
tap_is "$(grep -oP '(https?:)?//[a-z][^"<]*' v1.html | grep -v '^http://www.w3.org' | grep -v '^// ')" '' \
	"and needs nothing from outside"
tap_is "$(cell v1.html Writes), $(cell v1.html Reads)" '9, 1' "with what was recorded in it"
tap_is "$(cell v1.html 'Rows read before writing')" 83 "and what md said"
grep -q '<td>262144 (256 KiB)</td>' v1.html
tap_is $? 1 "too few I/Os make no plan"
ends 0 "a report of two recordings, the second in the other format" report "${array[@]}" \
	--label before "$v1"/md0.* --label after "$v2"/md0.* -o - --device 9:0
tap_check "to standard output" xmllint --noout --nonet - <<<"$OUT"
tap_is "$(grep -c '>Change</th>' <<<"$OUT")" 1 "compares them"
ends 0 "a report of all devices of a recording" report "$v1"/* -o all.html
tap_is "$(grep -oP '(?<=</small>).*(?=</h1>)' all.html | grep -o linux-6.12-v1 | wc -l)" 4 \
	"is about each of them"

ends 0 "a report of a file system with a log" report "${array[@]}" -o pong.html "$here"/traces/ping-pong/md0.*
tap_is "$(grep -c '<th scope="row">ping-pong</th><td>48 % of the I/Os go back' pong.html) $(grep -c '>ping-pong<' v1.html)" \
	"1 0" "says that it goes to and fro, and others do not"

bad='' raster=''
for kind in $kinds; do
	"$ctl" plot --kind "$kind" "${array[@]}" --device 254:0 -o "$kind.svg" "$v1"/vda.* 2>/dev/null
	case $? in
	0)	xmllint --noout --nonet "$kind.svg" || bad+=" $kind" ;;
	4)	bad+=" ($kind)" ;;
	*)	bad+=" $kind" ;;
	esac
done
tap_is "$bad" ' (pre-reads)' "every kind of a disk is well-formed, but for what is none of a disk's"
ends 0 "several recordings in one picture" plot --kind Q2C --label a "$v1"/md0.* --label b "$v2"/md0.* -o -
tap_is "$(grep -c 'class="key' <<<"$OUT")" 8 "have a line each"
ends 2 "a seek plot is of one of them" plot --kind seek --label a "$v1"/md0.* --label b "$v2"/md0.* -o -
if command -v rsvg-convert >/dev/null; then
	ends 0 "a png" plot --kind seek -o x.png "$v1"/md0.*
	tap_is "$(head -c 8 x.png | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a "is one"
	ends 0 "a pdf" plot --kind io -o x.pdf "$v1"/md0.*
	tap_is "$(head -c 5 x.pdf)" %PDF- "is one"
else
	for name in "a png" "is one" "a pdf" "is one"; do
		tap_skip "$name" "rsvg-convert is not installed"
	done
fi
old=$PATH
raster=$(PATH=/nonexistent "$ctl" plot --kind seek -o none.png "$v1"/md0.* 2>&1)
tap_is "$?, $(grep -c librsvg2-bin <<<"$raster"), $(ls none* 2>/dev/null)" '1, 1, ' \
	"without the converter it is said what to install, and there is no file"
PATH=$old

# What is hostile.
nasty=$'<script>alert("1")&amp;\x01\xff\''
cp "$v1/md0.blktrace.1" "$nasty.blktrace.1"
ends 0 "a file whose name is markup" report -o nasty.html "$nasty.blktrace.1"
tap_check "is no markup" xmllint --noout --nonet nasty.html
tap_is "$(grep -c '<script>' nasty.html)" 1 "and no script"
ends 0 "so is a label" plot --kind iops --label "$nasty" "$v1"/md0.* --label b "$v2"/md0.* -o nasty.svg
tap_check "that is drawn" xmllint --noout --nonet nasty.svg

# What goes wrong.
echo kept >old.html
ends 1 "a file that is not there" report -o old.html "$v1"/md0.* nothing.blktrace.0
tap_is "$(head -c 99 old.html)" kept "leaves what was there"
ends 2 "an array that cannot be" report --level 5 --members 1 --chunk 64K -o old.html "$v1"/md0.*
tap_is "$ERR" "fullstripectl: --members 1: RAID5 has 2 at least" "and why"
"$ctl" rule --level 7 --members 9 --chunk 64K --bandwidth 1MiB/s 2>err
tap_is "$? $(<err)" "2 fullstripectl: --level 7: 0, 1, 4, 5, 6 and 10 are known here" "a level that is none"
"$ctl" rule --level 5 --members 9 --chunk 6K --bandwidth 1MiB/s 2>err
tap_is "$? $(<err)" "2 fullstripectl: --chunk 6144: must be a multiple of 4096, and 9 of them no more than 16 EiB" \
	"a chunk that cannot be"
"$ctl" rule --start 1MiB --bandwidth 1MiB/s 2>err
tap_is "$? $(head -n 1 err)" "2 fullstripectl rule: --start needs --level" "a start on no array"
ends 2 "a kind that is none" plot --kind wat -o x.svg "$v1"/md0.*
[[ $ERR == *wat* && $ERR == *seek-distance* ]]
tap_is $? 0 "and which there are"
ends 2 "a file of no known kind" plot --kind seek -o x.gif "$v1"/md0.*
: >empty.blktrace.0
ends 4 "nothing" report -o old.html empty.blktrace.0
head -c 1011 "$v1/md0.blktrace.1" >cut.blktrace.0
ends 3 "a recording that is cut short" report -o cut.html cut.blktrace.0
grep -q 'A file is damaged' cut.html
tap_is $? 0 "is reported as that"
cp "$(type -P sleep)" running
./running 60 &
ends 1 "a file that may not be written now" report -o running "$v1"/md0.*
tap_check "is not replaced" cmp -s running "$(type -P sleep)"
kill $!
ends 1 "a full disk" report -o /dev/full "$v1"/md0.*
(trap '' XFSZ; ulimit -f 4; "$ctl" report -o old.html "$v1"/md0.* 2>/dev/null)
tap_is "$?, $(head -c 99 old.html), $(ls old.html.* 2>/dev/null)" '1, kept, ' \
	"a page that could not be written whole is not there"
umask 027
ln -s real.html link.html && echo x >real.html
ends 0 "through a link" report -o link.html "$v1"/md0.*
tap_is "$(stat -c %a,%F real.html), $(stat -c %F link.html)" '640,regular file, symbolic link' \
	"its file is written, with the rights of a new one"

# What is much.
events=100000
[[ ! ${LONG-} ]] || events=10000000
make_trace $events >big.blktrace.0
SECONDS=0
(ulimit -v 300000; "$ctl" report "${array[@]}" -o big.html big.blktrace.0)
tap_is $? 0 "$events events in 300 MB of address space"
tap_diag "$(stat -c %s big.html) bytes, $SECONDS s"
tap_is "$(($(cell big.html Writes) + $(cell big.html Reads)))" $((events / 2)) "are all there"
(($(stat -c %s big.html) < 5 << 20))
tap_is $? 0 "in less than 5 MiB"
rm big.blktrace.0

# Looked at.
shots=$top/build/selftests/report

# browse ARGUMENT...: its messages are in the file "console".
browse() {
	timeout 60 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
		--user-data-dir="$dir/chromium" --virtual-time-budget=3000 \
		--enable-logging=stderr --v=0 "$@" 2>console
}

# is_fine PAGE WIDTH: scripts ran, nothing was complained of, nothing is wider than the
# window, and the arrow keys tell what is in a picture.
# shellcheck disable=SC2317 # called by tap_check
is_fine() {
	local probe='
		const svgs = document.querySelectorAll("svg[tabindex]");
		const hits = document.querySelectorAll(".hit title");
		const wide = document.documentElement.scrollWidth > innerWidth;
		svgs[1].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
		document.title = [wide, svgs.length, hits.length, tip.hidden, tip.textContent].join("; ");'
	sed "s|</body>|<script>${probe//[$'\t\n']/ }</script></body>|" "$1" >probe.html
	browse --window-size="$2",900 --dump-dom "file://$dir/probe.html" >dom || return
	grep CONSOLE console && return 1
	grep -m 1 -A 4 '<title>' dom | tr '\n' ' ' | tee title
	grep -qE '<title>false; [1-9][0-9]*; 0; false; 0 ns .*: ' title
}

if command -v chromium >/dev/null; then
	mkdir -p "$shots"
	tap_check "in Chromium: a wide window" is_fine v1.html 1400
	tap_check "in Chromium: a narrow window" is_fine all.html 500
	for shot in big:desktop-light:1400:1 big:phone-light:500:1 big:desktop-dark:1400:0 big:phone-dark:500:0 \
			pong:ping-pong:1400:1; do
		IFS=: read -r page name width scheme <<<"$shot"
		# Of the colour schemes, 0 is dark and 1 is light.
		browse --window-size="$width",3000 --screenshot="$shots/$name.png" \
			--blink-settings=preferredColorScheme="$scheme" "file://$dir/$page.html"
	done >/dev/null
	tap_diag "pictures are in ${shots#"$top"/}"
else
	tap_skip "in Chromium: a wide window" "chromium is not installed: selftests/setup --browser"
	tap_skip "in Chromium: a narrow window" "chromium is not installed: selftests/setup --browser"
fi
tap_done
