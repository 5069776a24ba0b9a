# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # bin is set by who sources this
#
# At which points a log is judged. To be sourced.

# choose_points LOG MAX: so many of those at which one can crash once the work has begun, evenly
# spread and with the last one; all, where there are no more.
choose_points() {
	"$bin/replay" points "$1" | awk -v max="$2" '
		/ mark 0$/ { begun = 1 }
		begun { point[n++] = $1 }
		END { if (max > n) max = n; for (i = 1; i <= max; i++) print point[int((n - 1) * i / max)] }'
}
