#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The netlink family: that its uapi header has what its specification says, by the names,
# in the order and with the values that the kernel's generator would give, and nothing else.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

spec=${1-$top/Documentation/netlink/specs/dm_fullstripe.yaml}
header=${2-$top/kmod/include/uapi/linux/dm-fullstripe.h}

# in_spec: a line "NAME VALUE" for each define and enumerator, with a line for each enum.
in_spec() {
	python3 - "$spec" <<-'SPEC'
	import sys, yaml
	spec = yaml.safe_load(open(sys.argv[1]))
	upper = lambda *parts: "_".join(parts).replace("-", "_").upper()
	family = spec["name"]
	print(upper(family, "family-name"), '"%s"' % family)
	print(upper(family, "family-version"), spec.get("version", 1))

	def enumerators(prefix, names, first, closed):
	    print("enum")
	    for value, name in enumerate(names, first):
	        print(upper(prefix, name), value)
	    if closed:
	        print("__" + upper(prefix, "max"), first + len(names))
	        print(upper(prefix, "max"), first + len(names) - 1)

	for d in spec["definitions"]:
	    names = [e["name"] if isinstance(e, dict) else e for e in d["entries"]]
	    enumerators(upper(family, d["name"]), names, d.get("value-start", 0), False)
	for s in spec["attribute-sets"]:
	    enumerators(upper(family, "a", s["name"]), [a["name"] for a in s["attributes"]], 1, True)
	enumerators(upper(family, "cmd"), [o["name"] for o in spec["operations"]["list"]], 1, True)
	for g in spec["mcast-groups"]["list"]:
	    print(upper(family, "mcgrp", g["name"]), '"%s"' % g["name"])
	SPEC
}

# in_header: the same of the header, as the compiler has the values.
in_header() {
	local names program
	names=$(sed -n -E -e 's/^#define (DM_FULLSTRIPE_[A-Z_]+)\t.*/\1/p' -e 's/^enum( [a-z_]+)? \{$/enum/p' \
		-e 's/^\t((__)?DM_FULLSTRIPE_[A-Z_]+)( = .*|,|$).*/\1/p' "$header")
	program=$(
		printf '#include <stdio.h>\n#include "%s"\n' "$header"
		printf '#define SHOW(x) _Generic((x), char *: printf("%%s \\"%%s\\"\\n", #x, (char *)(long)(x)), default: printf("%%s %%ld\\n", #x, (long)(x)))\n'
		printf 'int main(void)\n{\n'
		while read -r name; do
			if [[ $name == enum ]]; then
				echo 'puts("enum");'
			else
				echo "SHOW($name);"
			fi
		done <<<"$names"
		printf 'return 0;\n}\n'
	)
	cc -x c -o "$dir/show" - <<<"$program" && "$dir/show"
}

# flags_of OPERATION: what the specification says of who may use it.
flags_of() {
	python3 -c '
import sys, yaml
spec = yaml.safe_load(open(sys.argv[1]))
for o in spec["operations"]["list"] + spec["mcast-groups"]["list"]:
    if o["name"] == sys.argv[2]:
        print(" ".join(o.get("flags", [])))' "$spec" "$1"
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tap_plan 6
in_spec >"$dir/spec"
in_header >"$dir/header"
(($(wc -l <"$dir/spec") > 70 && $(wc -l <"$dir/header") > 70))
tap_is $? 0 "there is something to compare"
tap_is "$(diff "$dir/spec" "$dir/header")" '' "the header has what the specification says"
# The same in netlink.c: what is admin-perm there, and what is not.
for operation in device-get file-get stream-get; do
	command=DM_FULLSTRIPE_CMD_${operation^^}
	code=$(grep -A6 "^		.cmd = ${command//-/_}," "$top/kmod/netlink.c" | sed '/^	},/,$d' |
		grep -o GENL_ADMIN_PERM)
	tap_is "${code:+admin-perm}" "$(flags_of "$operation")" "who may use $operation"
done
tap_is "$(grep -A1 '\[GROUP_EVENTS\] = ' "$top/kmod/netlink.c" | grep -o GENL_MCAST_CAP_NET_ADMIN | sed 's/.*/admin-perm/')" \
	"$(flags_of events)" "who may listen"
tap_done
