# SPDX-License-Identifier: GPL-2.0
#
# The goals of some reports (a list), for ./page, as lines of CSV: a line for each goal, a column for each report. Of
# the cases of one line it is the worst.

include "figures";

def cell:
	if length == 0 then "-"
	else max_by([.reached == false, .max // .median])
		| if .reached == false then "**\(.median | short)**" else (.median | short) end
			+ if spread == "" then "" else " (\(spread)\(if .runs then ", of \(.runs)" else "" end))" end end;
# That of R8 may be another one.
def which_goal: map(.[] | select(.goal)) | unique_by(.goal)
	| if length > 1 then map("\(.goal) (\(.array))") else map(.goal) end | join(", ");
def in_order: reduce .[] as $name ([]; if index([$name]) then . else . + [$name] end);

. as $reports
| (["", "work", "what", "goal"] + map(if .array then "\(.kernel) \(.array)" else "this machine" end)),
	(map(.goals[] | named) | in_order[] | . as $name
		| [$reports[] | .array as $array | [.goals[] | select(named == $name) + {array: $array}]] as $cells
		| $name + [$cells | which_goal] + ($cells | map(cell)))
| @csv
