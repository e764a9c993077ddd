#!/bin/bash
# architecture.t - the files and folders that ARCHITECTURE.md names exist.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2016 # backquotes of Markdown
mapfile -t names < <(grep -oE '`[a-z]+/[^` ]*`' "$ROOT/ARCHITECTURE.md" |
	tr -d '`' | sort -u)
gone=
for name in "${names[@]}"; do
	[[ -e $ROOT/$name ]] || gone+=" $name"
done
ok "((${#names[@]} > 20))" "ARCHITECTURE.md names files"
is "$gone" "" "all of which exist"
is "$(grep -c '' "$ROOT/ARCHITECTURE.md" | awk '{ print $1 <= 120 }')" 1 \
	"on two screens"
done_testing
