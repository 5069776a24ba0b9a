# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts of this folder begin with. To be sourced first.

set -u
HERE=${BASH_SOURCE[0]%/*}
# shellcheck source=../lib/tap.sh
. "$HERE/../lib/tap.sh"
# shellcheck source=../vm/rig.sh
. "$HERE/../vm/rig.sh"
# shellcheck disable=SC2034 # used by who sources this
STRESS=$RIG_TOP/build/selftests/functional/stress

# What earlier scripts of this boot let the kernel say is not this one's.
dmesg -C

# The next script of this boot finds the machine as this one did.
leave() {
	rig_teardown
	[[ ! -e /sys/module/dm_fullstripe ]] || rig_unload_module
}
trap leave EXIT
