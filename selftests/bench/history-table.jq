# SPDX-License-Identifier: GPL-2.0
#
# The table $table of a report of ./history.jq as lines with tabs between, for column(1), or in $format csv. In
# brackets is the shape: times what the same one does that writes a new file in order.

include "figures";

def shape(base): if . and base then "\(short) (\(. / base | short))" else "-" end;
def name: if . == "raw" then "md" else . end;
# The figure of the first row where .test or .phase is that.
def base(key): map(select((.test // .phase) | IN("write_8192", "sequential write")))[0][key];

def bsd:
	base("sc750_eagle")[0] as $a | base("uda50_ra81")[0] as $b | base("md")[0] as $c | base("target")[0] as $d
	| ["KB/s", "SC750/Eagle, 1", "2", "UDA50/RA81, 1", "2", "md, 1", "2", "target, 1", "2"],
	(.[] | [.test, (.sc750_eagle[] | shape($a)), (.uda50_ra81[] | shape($b)), (.md[] | shape($c)), (.target[] | shape($d))]);

def osdi:
	base("md") as $md | base("target") as $target
	| ["KiB/s", "md", "target", "member I/Os, md", "target", "said of it"],
	(.[] | [.phase, (.md | shape($md)), (.target | shape($target)), .ios.md // "-", .ios.target // "-", .said]);

def mkfile:
	["cluster, KiB", "then: KB each", "writes/s", "KB/s", "now: KiB each", "writes/s", "KiB/s"],
	(.[] | [if .kib == 0 then "none" else .kib end, (if .kb_s then .kb_s / .writes_s else null end | short),
		(.writes_s | short), (.kb_s | short), (.now.kib | short), (.now.writes_s | short), (.now.kb_s | short)]);

def untar:
	["", "files/s", "writes/file", "KB written/file", "reads/file"],
	(.transfers[] | ["1997: \(.transfer)", (.files_s | short), (.writes_file | short), (.kb_file | short), "-"]),
	(.now[] | ["now: \(.case), \(.device | name)", (.files_s | short), (.writes_file | short), (.kb_file | short),
		(.reads_file | short)]);

# For gnuplot: the shapes.
def times(base): if . and base then . / base else "-" end;
def plot_bsd:
	. as $tests | ["sc750_eagle", "uda50_ra81", "md", "target"] as $systems
	| ["", "SC750/Eagle", "UDA50/RA81", "md", "target"],
	((0, 1) as $i | .[] | [.test + " x\($i + 1)"]
		+ [$systems[] as $system | .[$system][$i] | times($tests | base($system)[0])]);
def plot_osdi:
	base("md") as $md | base("target") as $target
	| ["", "md", "target"], (.[] | [.phase, (.md | times($md)), (.target | times($target))]);

(if $table == "bsd" then .bsd.tests | bsd
elif $table == "osdi" then .osdi.phases | osdi
elif $table == "mkfile" then .mkfile.clusters | mkfile
elif $table == "untar" then .untar | untar
elif $table == "plot bsd" then .bsd.tests | plot_bsd
else .osdi.phases | plot_osdi end)
| if $format == "csv" then @csv else @tsv end
