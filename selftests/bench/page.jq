# SPDX-License-Identifier: GPL-2.0
#
# The table $table of a report, for ./page, as lines with tabs between (or $format csv); "plot ..." has no heading,
# as it is for gnuplot. "losses" and "classes" are of a list of reports of the peers. History's are in ./history-table.jq.

include "figures";

def peers_order: ["raw", "tuned", "journal", "bcache", "writecache"];
def row_label: .[0] | if IN(.row; "W1") then "\(.row) \(.case)" else .row end;
def is_loss: .median < 1 or .reached == false;

# A row of ratios (the peers' goals) for each work, and a column for each peer.
def beside(ratios):
	[peers_order[] as $peer | select(any(ratios[]; .peer == $peer)) | $peer] as $peers
	| (["", "work"] + $peers),
	(ratios | group_by([.row, .case])[] | . as $work
		| [.[0].row, .[0].case] + [$peers[] as $peer | first(($work[] | select(.peer == $peer)
			| "\(.median | short) (\(.ios.median | short))"), "-")]);

# In its default mode, and in writethrough.
def losses:
	["on", "mode", "", "work", "to", "speed", "range", "fewer member I/Os", "goal"],
	(.[] | "\(.kernel) \(.array)" as $on
		| .goals[], .durable[] | select(is_loss)
		| [$on, .mode // "", .row, .case, .peer, (.median | short), spread, (.ios.median | short), .goal // ""]);

def classes: ["", "version", "a write that was not flushed is", "one that was lies on"],
	(map(.peers[] | [.peer, .version, .class, .flushed // ""]) | unique[]);

def plot_peer(peer): [.goals | group_by([.row, .case])[]] | to_entries[]
	| [.key, (.value | row_label), (.value[] | select(.peer == peer) | .median)] | select(.[2]);

def points:
	["", "at", "does, 1/s", "work", "speed to md", "range", "fewer member I/Os", "CPU s/GB, md", "target", "fio alone"],
	(.points[] | select(.what != "ram")
		| [.what, .at, .member_iops, .row, (.speed.median | short), (.speed | spread), (.ios.median | short),
			(.raw.cpu_s_per_gb | short), (.target.cpu_s_per_gb | short), (.disk.cpu_s_per_gb | short)]);

def ends: ["", "work", "slower at"],
	(.ends[] | [if .what == "ram" then "members without delay" else .what end, .row,
		if .what == "ram" and .slower_at != [] then "yes" elif .slower_at == [] then "none of them" else .slower_at | join(", ") end]);

def growth: ["more", "from", "to", "CPU for a GB, times", "goal", "reached"],
	(.growth[] | [.what, .from, .to, (.median | short), .goal, if .reached then "yes" else "**no**" end]);

def ram:
	["work", "CPU s/GB, md", "target", "target to md", "speed to md", "fewer member I/Os"],
	(.points[] | select(.what == "ram") | [.row, (.raw.cpu_s_per_gb | short), (.target.cpu_s_per_gb | short),
		(.cpu.median | short), (.speed.median | short), (.ios.median | short)]);

def plot_sweep(what; row): .points[] | select(.what == what and .row == row)
	| [if what == "iops" then .member_iops else .at end, .speed.median];
def plot_ram: .points[] | select(.what == "ram") | [.row, .raw.cpu_s_per_gb, .target.cpu_s_per_gb];

def instructions: ["4 KiB", "one disk", "md", "target", "target to md"],
	(.instructions[] | [.work, .disk, .md, .target, (.target / .md | short)]);

($table | split(" ")) as $words
| (if $table == "classes" then classes
elif $table == "losses" then losses
elif $table == "points" then points
elif $table == "instructions" then instructions
elif $table == "ends" then ends
elif $table == "growth" then growth
elif $table == "ram" then ram
elif $table == "plot ram" then plot_ram
elif $table == "goals" then beside(.goals)
elif $table == "durable" then beside(.durable)
elif $table == "figures" then figures_table
elif $words[1] == "peer" then plot_peer($words[2])
else plot_sweep($words[1]; $words[2:] | join(" ")) end)
| if $format == "csv" then @csv else @tsv end
