#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the benchmark makes of measurements: beside the peers, of the sweep and beside history; its
# guard, and its page. Figures are made up.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
bench=$here/../bench
. "$here/../lib/tap.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# measured ROW DEVICE RUN RUNTIME DRAIN IOS [CASE]: a MiB that was written in RUNTIME ms.
measured() {
	jq -n '$ARGS.positional as [$row, $device, $run, $runtime, $drain, $ios, $case]
		| {array: "R5", row: $row, case: ($case // "c"), device: $device, busy: ($runtime | tonumber), files: 32, member_iops: 190, run: ($run | tonumber), reads: 0,
			writes: ($ios | tonumber), read_kib: 0, write_kib: ($ios | tonumber * 4), rmw: 0, rcw: 0, dropped: 0, drain_ms: ($drain | tonumber),
			fast_kib: 0, fio: {jobs: [{read: {io_bytes: 0}, write: {io_bytes: 1048576,
			runtime: ($runtime | tonumber), clat_ns: {percentile: {"99.000000": 1}}}, sync: {lat_ns: {}}}]}}' \
		--args "$@"
}

# report: of what is on stdin, to $dir/report.
report() {
	jq -L "$bench" -s --arg kernel 6.12 --arg date 2026-11-22 -f "$bench/peers.jq" >"$dir/report"
}

# sweep, history: the same, of what is on stdin.
sweep() {
	jq -L "$bench" -s --arg kernel 6.12 --arg date 2026-11-22 -f "$bench/sweep.jq" >"$dir/report"
}

history() {
	jq -L "$bench" -s --arg kernel 6.12 --arg date 2026-11-22 --slurpfile published "$bench/history.json" \
		-f "$bench/history.jq" >"$dir/report"
}

# point CASE RAW TARGET: of the sweep, how long each takes.
point() {
	measured 8k raw 1 "$2" 0 40 "$1"
	measured 8k target 1 "$3" 0 10 "$1"
}

# is QUERY WANT NAME: what the report says.
is() {
	tap_is "$(jq -c "$1" "$dir/report" 2>&1)" "$2" "$3"
}

# guard STATUS TEXT NAME: what the guard says of the report.
guard() {
	local said status
	said=$("$bench/check" --report "$dir/report" --stored "$dir/stored" 2>&1)
	status=$?
	if [[ $status == "$1" && $said == *"$2"* ]]; then
		tap_ok "$3"
	else
		tap_not_ok "$3" "status $status: $said"
	fi
}

# Two rows of the guard's, one by KiB and one by I/Os, of which md needs so many for 100 of the
# target.
saved() {
	{
		measured W1 raw 1 100 0 "$1"
		measured W1 target 1 100 0 100
		measured FS raw 1 100 0 "$2"
		measured FS target 1 100 0 100
	} | report
}

tap_plan 62

{
	measured W1 bcache 1 100 900 400
	measured W1 target 1 400 100 100
	measured W8 bcache 1 600 0 400
	measured W8 target 1 500 0 100
	measured W1 raw 1 250 0 400
	echo '{"peer":"bcache","version":"v","class":"c"}'
} | report
is '.goals[] | select(.row == "W1" and .peer == "bcache") | .median, .reached' $'2\ntrue' "what is left to write counts as time"
is '.goals[] | select(.row == "W8") | [.goal, .median, .reached]' '[">= 1.3",1.2,false]' "at random 1.2 is not enough, and is said so"
is '.goals[] | select(.peer == "raw") | [.median, has("reached")]' '[0.5,false]' "beside md itself there is no goal here"
is '[.goals[].ios.median] | unique' '[4]' "member I/Os of the peer are divided by those of the target"
is '.peers' '[{"peer":"bcache","version":"v","class":"c"}]' "each peer says what it is"

{
	measured W1 journal 1 300 0 400
	measured W1 target 1 100 0 100
	measured W1 through 1 400 0 100
} | report
is '[.goals[0] | has("goal")], [.durable[] | [.mode, .goal, .median, .reached]]' $'[false]\n[["writethrough",">= 1",0.75,false]]' \
	"beside who keeps what was not flushed there is one in that mode only"

for run in 1 2 3; do
	measured W1 journal "$run" $((run * 100)) 0 1
	measured W1 target "$run" 100 0 1
done | report
is '.goals[0] | [.min, .median, .max]' '[1,2,3]' "ratios are those of each run"

for module in A B; do
	measured W1 journal 1 100 0 1 | jq --arg name "$module" '. + {module: $name}'
done >"$dir/two"
tap_check "measurements of two modules are no report" eval \
	"! report <'$dir/two' 2>'$dir/said' && grep -q 'more than one module' '$dir/said'"
for module in A A; do
	measured W1 journal 1 100 0 1 | jq --arg name "$module" '. + {module: $name}'
done | report
is '.module' '"A"' "whose they are is said"

saved 400 400
tap_check "what was measured can be stored" "$bench/check" --report "$dir/report" --stored "$dir/stored" --store
guard 0 '0 %' "the guard takes what is stored"
saved 364 364
guard 0 '-9 %' "it takes 9 % less"
saved 360 400
guard 1 'NO' "it takes no 10 % less in KiB"
saved 400 360
guard 1 'NO' "nor in I/Os"
saved 500 500
guard 0 '25 %' "it takes more"
# W1 in so many times fewer requests, and in as many fewer KiB as is stored.
merged() {
	{
		measured W1 raw 1 100 0 "$1" | jq '.write_kib = 1600'
		measured W1 target 1 100 0 100
		measured FS raw 1 100 0 400
		measured FS target 1 100 0 100
	} | report
}
merged 220
guard 0 '-45 %' "of what is in order it takes half as many I/Os"
merged 190
guard 1 '-53 %' "but no fewer"
slower() {
	{
		measured W1 raw 1 100 0 400
		measured W1 target 1 "$1" 0 100
		measured FS raw 1 100 0 400
		measured FS target 1 100 0 100
	} | report
}
slower 180
guard 0 '-44 %' "it takes somewhat more than half the speed"
slower 210
guard 1 '-52 %' "but not less"
saved 400 400
jq '.ratios |= map(del(.speed))' "$dir/stored" >"$dir/other"
said=$("$bench/check" --report "$dir/report" --stored "$dir/other" 2>&1)
tap_is "$? $(grep -c 'not stored *NO$' <<<"$said")" "1 2" "nor what is stored without it"
tap_check "those of the benchmark itself have all of them" jq -es \
	'all(.[].ratios[]; [.kib, .ios, .speed] | all(type == "number"))' "$bench"/ratios/*.json
measured W3 raw 1 1 0 1 | report
guard 1 'not measured' "it takes no row that is missing"
{
	measured W3 raw 1 1 0 1
	measured W3 target 1 1 0 1
} | report
guard 1 'not stored' "nor one that was never stored"
jq '.array = "R8"' "$dir/report" >"$dir/other" && mv "$dir/other" "$dir/report"
guard 2 'is of R8 on 6.12, and' "it does not compare one array with another"

{
	point 'iops 3000' 100 110
	point 'iops 100' 900 100
	point 'iops 10000' 100 90
	point 'iops 30000' 100 200
	point 'iops 100000' 100 400
	point 'clients 1' 100 50
	measured 8k target 1 25 0 10 'clients 4'
} | sweep
is '[.points[] | select(.what == "iops") | [.at, .speed.median]] | .[0], .[-1]' $'[100,9]\n[100000,0.25]' "the sweep is in the order of numbers"
is '[.ends[] | [.what, .slower_at]]' '[["clients",[]],["iops",[3000,30000,100000]]]' "it says where the target is slower"
is '[.points[] | select(.what == "clients") | .speed.median]' '[2,4]' "who has no md beside him has that of the first point"
is '[.growth[] | [.what, .from, .to, .median, .reached]]' '[["clients",1,4,0.5,true]]' "and whether the cost grows with what there is more of"
is '.points[0] | [.ios.median, .cpu.median, .member_iops]' '[4,0.5,190]' "a point has member I/Os, CPU time, and what a member does"

{
	point 'clients 1' 100 50
	measured 8k disk 1 20 0 10 'clients 1'
	point 'clients 64' 100 120
	measured 8k disk 1 40 0 10 'clients 64'
	point 'members 3' 100 50
	point 'members 16' 100 56
} | sweep
is '[.growth[] | [.what, (.median * 1000 | round / 1000), .reached]]' '[["clients",2.667,false],["members",1.12,null]]' \
	"of clients beside what they cost alone; more than a tenth is too much; of others it is no goal"

{
	for run in 1 2 3; do
		measured bsd raw "$run" $((run * 100)) 0 1 'write_8192 1'
		measured bsd target "$run" 50 0 1 'write_8192 2'
		measured mkfile target "$run" 500 0 8 'cluster 128'
		measured untar raw "$run" 2000 0 64 'as it comes'
	done
} | history
is '.bsd.tests[] | select(.test == "write_8192") | [.sc750_eagle, .md, .target]' '[[470,470],[5120,null],[null,20480]]' \
	"history has the median beside the original, and nothing that was not measured"
is '.mkfile.clusters[] | select(.kib == 128) | [.writes_s, .now.kib, .now.writes_s]' '[39.8,4,16]' "a transfer's size, and how many a second"
is '.untar.transfers[0].writes_file * 100 | round' 526 "the tar of 1997 took 5.26 writes a file"
is '.untar.now[0] | [.files_s, .writes_file, .kb_file]' '[16,2,8]' "what it takes today is counted by file"

tap_is "$(jq -L "$bench" -r --arg format tsv --arg table bsd -f "$bench/history-table.jq" "$dir/report" | sed -n 4p)" \
	$'write_8192\t470 (1)\t470 (1)\t320 (1)\t410 (1.28)\t5120 (1)\t-\t-\t-' "in brackets is the shape, where there is one"
cp "$dir/report" "$dir/history"

for writes in 1024 5120; do
	for device in md target; do
		echo "{\"work\":\"in order\",\"device\":\"$device\",\"writes\":$writes,\"instructions\":$((9000000 + writes * (${#device} * 1000)))}"
	done
done | jq -L "$bench" -s --arg kernel 6.12 --arg date 2026-11-22 -f "$bench/instructions.jq" >"$dir/report"
is '.instructions[0] | [.disk, .md, .target]' '[null,2000,6000]' "instructions for a write are without those of beginning and end"

# The page, in a tree of its own: of the reports in its build/bench.
mkdir -p "$dir/tree/selftests" "$dir/tree/build/bench"
cp -r "$bench" "$dir/tree/selftests/bench"
page=$dir/tree/selftests/bench/page results=$dir/tree/Documentation/bench/results.rst
tap_check "without any report there is no page" eval "! '$page' 2>'$dir/said' && grep -q 'measure first' '$dir/said'"
cp "$dir/history" "$dir/tree/build/bench/history-6.12.json"
{
	measured FS bcache 1 110 0 400
	measured FS target 1 100 0 100
	measured W4 raw 1 90 0 400
	measured W4 target 1 100 0 100
	measured W9 bcache 1 123456 0 400
	measured W9 target 1 1000 0 100
	echo '{"peer":"bcache","version":"v","class":"c"}'
} | report
cp "$dir/report" "$dir/tree/build/bench/peers-6.12-R5.json"
{
	measured W4 raw 1 80 0 400
	measured W4 target 1 100 0 100
	measured W4 raw 2 60 0 400
	measured W4 target 2 100 0 100
	measured W4 through 1 160 0 400
	echo '{"peer":"raw","version":"v","class":"c"}'
} | sed "s/\"R5\"/\"R8\"/" | report
cp "$dir/report" "$dir/tree/build/bench/peers-6.12-R8.json"
# goals KERNEL GOAL...: a report of ./run.
goals() {
	printf '%s\n' "${@:2}" | jq -s '{kernel: $kernel, array: "R5", runs: 1, goals: ., figures: []}' --arg kernel "$1" \
		>"$dir/tree/build/bench/$1-R5.json"
}
goals 6.12 '{"row":"W1","case":"c","what":"speed","goal":">= 40","median":50,"min":40,"max":60,"runs":3,"reached":true}' \
	'{"row":"W2","case":"a","what":"rows","goal":"<= 0","median":0,"min":0,"max":0,"reached":true}' \
	'{"row":"W2","case":"b","what":"rows","goal":"<= 0","median":1,"min":1,"max":1,"reached":false}'
goals 6.1 '{"row":"W1","case":"c","what":"speed","goal":">= 80","median":50,"min":50,"max":50,"reached":false}'
tap_check "of reports there is" "$page"
tap_check "it is well-formed" rst2html --halt=warning "$results" "$dir/page.html"
tap_is "$(sed -n '/is not reached\./,/^How far\|^The goals\|^Beside history/p' "$results" | grep -oP '^   "6.*",.*')" \
	$'   "6.12 R5","","FS","c","bcache","1.1","","4",">= 1.3"\n   "6.12 R5","","W4","c","raw","0.9","","4",""\n   "6.12 R8","","W4","c","raw","0.7","0.6 to 0.8","4",""\n   "6.12 R8","writethrough","W4","c","raw","0.5","","1",""' \
	"it says where the target loses, and where it does not win by enough"
tap_is "$(sed -n '/^The goals beside/,/^Beside/p' "$results" | grep -oP '^   "\w*",.*')" \
	$'   "","work","what","goal","6.12 R5","6.1 R5"\n   "W1","c","speed",">= 40 (R5), >= 80 (R5)","50 (40 to 60, of 3)","**50**"\n   "W2","all","rows","<= 0","**1**","-"' \
	"it has the goals of all machines side by side"
tap_is "$(grep -c 'How far it carries' "$results")" 0 "it says nothing of what was not measured"
tap_is "$(jq '.goals[] | select(.row == "W9") | .median' "$dir/tree/Documentation/bench/peers-6.12-R5.json")" 123.5 "reports are kept in four digits"
tap_is "$(xmllint --noout "$dir"/tree/Documentation/bench/*.svg 2>&1; cd "$dir/tree/Documentation/bench" && echo *.svg)" 'history.svg peers.svg' \
	"it has a picture of each that there is"
cp "$results" "$dir/before"
rm "$dir/tree/build/bench"/*.json
"$page" >/dev/null
tap_check "without new reports it is made anew of those that were kept" cmp "$dir/before" "$results"
jq 'del(.untar)' "$dir/history" >"$dir/tree/build/bench/history-6.12.json"
tap_is "$("$page" 2>&1 >"$dir/said" | grep -c 'has more (untar)'; cmp "$dir/before" "$results")" 1 \
	"a report of a part does not take the place of one of all"
rm "$dir/tree/build/bench"/*.json
# of_module NAME REPORT...: these that were kept are of that module then.
of_module() {
	local kept
	for kept in "${@:2}"; do
		jq --arg name "$1" '.module = $name' "$kept" >"$dir/kept" && mv "$dir/kept" "$kept"
	done
	"$page" >"$dir/said"
	grep -c 'not all of the same module' "$results"
}
kept=("$dir/tree/Documentation/bench"/*.json)
tap_is "$(of_module A "${kept[@]}")" 0 "reports of one module go together"
tap_is "$(of_module B "${kept[0]}")" 1 "and of two it is said"
tap_is "$(grep -c '^6.1.* W1 c speed: 50, goal >= 80$' "$dir/said") $(grep -h 'goals are reached' "$dir/said" "$results" | uniq -c)" \
	"1       2 2 of 5 goals are reached." "what is missed is said in the end, and how many are not"

# Runs that are added: the machine is this one, and what measures in it makes figures up.
mkdir "$dir/tree/selftests/vm"
cat >"$dir/tree/selftests/vm/run" <<-'RUN'
	#!/bin/bash
	while [[ $1 != -- ]]; do shift; done
	shift
	exec "$@"
RUN
cat >"$dir/tree/selftests/bench/peers-guest" <<-GUEST
	#!/bin/bash
	$(declare -f measured)
	measured W1 raw "\$2" \$((\$2 * \${FAIL:-100})) 0 1 >>"\$3"
	[[ ! \${FAIL-} ]] || exit 1
	measured W1 target "\$2" 100 0 1 >>"\$3"
	echo '{"peer":"raw","version":"v","class":"c"}' >>"\$3"
GUEST
chmod +x "$dir/tree/selftests/vm/run" "$dir/tree/selftests/bench/peers-guest"

# peers STATUS RATIOS NAME [OPTION]...: least, middle, most and how many there are then.
peers() {
	local status
	"$dir/tree/selftests/bench/peers" --kernel 6.12 --array R5 "${@:4}" >"$dir/said" 2>&1
	status=$?
	tap_is "$status $(jq -c '.goals[0] | [.min, .median, .max, .runs]' "$dir/tree/build/bench/peers-6.12-R5.json" 2>&1)" \
		"$1 $2" "$3"
}
peers 0 '[1,1.5,2,2]' "runs are measured" --runs 2
peers 0 '[1,2,3,3]' "more can be added, and have numbers of their own" --runs 1 --more
FAIL=700 peers 1 '[1,2,3,3]' "where one fails there is what was measured before" --runs 1 --more
peers 0 '[1,2.5,4,4]' "and it leaves nothing behind" --runs 1 --more
peers 0 '[1,1,1,1]' "without --more nothing older is taken" --runs 1

rm "$dir/report"
guard 2 'no file that can be read' "it refuses a report that is not there"

# refused TEXT PROGRAM OPTION...: one that boots machines, before it boots any.
refused() {
	local said status
	said=$("$bench/$2" "${@:3}" 2>&1)
	status=$?
	if [[ $status == 2 && $said == *"$1"* ]]; then
		tap_ok "$2 refuses ${*:3}"
	else
		tap_not_ok "$2 refuses ${*:3}" "status $status: $said"
	fi
}

refused "'W2.5' is not one of" run --only W1,W2.5
refused "'R9' is not one of" run --array R9
refused "from 1 to 99" sweep --runs 0
refused "'--runs' is no option" instructions --runs 1
refused "needs a value" history --kernel
refused "'zfs' is not one of" peers --peers raw,zfs
refused "'17' is not one of" peers --staging 17
tap_done
