#!/bin/bash
# install.t - one object knows where the parts lie: no other one is compiled
# for an installation elsewhere.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need strings

objects=$REGATTA_BUILD/objects
mapfile -t places < <(strings "$objects/protocol/config/installed.o" |
	grep '^/.*/regatta' | grep -vxF "$ROOT") # where it was compiled
ok '((${#places[@]} >= 10))' "it names them all"
# /etc is spoken of in help texts, PREFIX is not.
for place in "${places[@]}"; do
	[[ $place != /etc/* ]] || continue
	is "$(cd "$objects" && find protocol agent controller -name '*.o' \
		-exec grep -lF -- "$place" {} + | sort)" \
		protocol/config/installed.o "no other object knows $place"
done
is "$(grep -rl -E 'REGATTA_(ETC|DATA|LIB)\b' "$ROOT"/{protocol,agent,controller} \
	--include='*.[ch]')" "$ROOT/protocol/config/installed.c" \
	"nor does another source ask for it"
done_testing
