# SPDX-License-Identifier: GPL-2.0
#
# The table $table of a report, for ./page, as lines with tabs between (or $format csv); "plot ..." has no heading,
# as it is for gnuplot. "losses" and "classes" are of a list of reports of the peers. History's are in ./history-table.jq.

include "figures";

def peers_order: ["raw", "tuned", "journal", "bcache", "writecache"];
def row_label: .[0] | if IN(.row; "W1", "W6") then "\(.row) \(.case)" else .row end;
def is_loss: .median < 1 or .reached == false;

# A row of ratios (the peers' goals) for each work, and a column for each peer.
def beside(ratios):
	[peers_order[] as $peer | select(any(ratios[]; .peer == $peer)) | $peer] as $peers
	| (["", "work"] + $peers),
	(ratios | group_by([.row, .case])[] | . as $work
		| [.[0].row, .[0].case] + [$peers[] as $peer | first(($work[] | select(.peer == $peer)
			| "\(.median | short)\(spread | if . == "" then . else " \(.)" end) (\(.ios.median | short); \(.kib.median | short))"), "-")]);

# In its default mode, and in writethrough.
def losses:
	["on", "mode", "", "work", "to", "speed", "range", "fewer member I/Os", "goal"],
	(.[] | "\(.kernel) \(.array)" as $on
		| .goals[], .durable[] | select(is_loss)
		| [$on, .mode // "", .row, .case, .peer, (.median | short), spread, (.ios.median | short), .goal // ""]);

def classes: ["", "version", "a write that was not flushed is", "one that was lies on"],
	(map(.peers[] | [.peer, .version, .class, .flushed // ""]) | unique[]);

# Where each work is on the axis.
def plot_labels: [.goals | group_by([.row, .case])[] | row_label] | to_entries[] | ["\"\(.value)\" \(.key)"];

def plot_peer(peer): [.goals | group_by([.row, .case])[]] | to_entries[]
	| [.key, (.value[] | select(.peer == peer) | .median, .min, .max)] | select(.[1]);

def points:
	["", "at", "does, 1/s", "work", "speed to md", "range", "fewer member I/Os", "bytes", "CPU s/GB, target", "md", "fio alone"],
	(.points[] | select(.what != "ram")
		| [.what, .at, .member_iops, .row, (.speed.median | short), (.speed | spread), (.ios.median | short), (.kib.median | short),
			(.target.cpu_s_per_gb | short)]
			# Starting fio weighs more on who is given less to do: only clients have as much each.
			+ if .what == "clients" then [.raw.cpu_s_per_gb, .disk.cpu_s_per_gb | short] else ["", ""] end);

def ends: ["", "work", "slower at"],
	(.ends[] | [if .what == "ram" then "members without delay" else .what end, .row,
		if .what == "ram" and .slower_at != [] then "yes" elif .slower_at == [] then "none of them" else .slower_at | join(", ") end]);

def growth: ["more", "work", "from", "to", "CPU for a GB, times", "goal", "reached"],
	(.growth[] | [.what, .row, .from, .to, (.median | short) + (spread | in_brackets), .goal // "-", reached("**no**")]);

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
elif $table == "plot labels" then plot_labels
elif $words[1] == "peer" then plot_peer($words[2])
else plot_sweep($words[1]; $words[2:] | join(" ")) end)
| if $format == "csv" then @csv elif $table == "plot labels" then .[0] else @tsv end
