#!/bin/bash
# pages.t - help, manual pages and completion say the same of every option.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need regatta regatta-agent regatta-controller jq

# Options as --help lists them, one a line.
of_help()
{
	grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u
}

# Options that a page has items of, from its source.
of_page()
{
	grep -E '^\.It .*Fl' "$1" | grep -oE 'Fl Fl [a-z-]+' |
		sed 's/Fl Fl /--/' | sort -u
}

# Every option that the page speaks of.
named_by_page()
{
	grep -oE 'Fl Fl [a-z-]+' "$1" | sed 's/Fl Fl /--/' | sort -u
}

for program in agent controller; do
	page=$ROOT/$program/regatta-$program.8
	is "$(of_page "$page" | tr '\n' ' ')" \
		"$({ "regatta-$program" --help
			[[ $program != agent ]] || regatta-agent join --help
		} | of_help | tr '\n' ' ')" \
		"regatta-$program: page and help list the same options"
done

# The commands of regatta: each is in the page, with all of its options.
page=$ROOT/controller/cli/regatta.1
commands=$(regatta --help | sed -n '/^usage/,/^Start/s/^  \([a-z0-9]*\) .*/\1/p')
ok '(($(wc -w <<<"$commands") > 15))' "the help lists commands"
missing=
for command in $commands; do
	grep -qE "^\.It Cm $command( |\$)" "$page" || missing+="$command "
done
is "$missing" "" "every command is in the page"
for command in $commands; do
	regatta "$command" --help | of_help
done | sort -u >"$BED/helped"
{
	cat "$BED/helped"
	echo --help
	echo --version
} | sort -u >"$BED/allowed"
is "$(named_by_page "$page" | comm -13 - "$BED/helped" | tr '\n' ' ')" "" \
	"every option of a command is in the page"
is "$(named_by_page "$page" | comm -23 - "$BED/allowed" | tr '\n' ' ')" "" \
	"and no other"

for command in '' $commands; do
	# shellcheck disable=SC2086
	regatta $command --help | awk -v of="$command" \
		'length > 79 || !NF && !filled { print of ": " $0 } { filled = NF }'
done >"$BED/wide"
is "$(cat "$BED/wide")" "" \
	"help fits on a terminal, and leaves no gaps"

# The table of roles is that of the program.
roles_of_page()
{
	sed -n '/^\.Sh ROLES/,/^\.Ed/p' "$page" | sed -n '/^MAY/,/^\./{/^[^.]/p}'
}
ok '(($(roles_of_page | wc -l) > 10))' "the page has a table of roles"
is "$(roles_of_page)" \
	"$(regatta user roles | sed 's/ *$//')" \
	"it is the one that the controller goes by"

# The example of a framework reads the line that its comment shows.
mkdir "$BED/images"
cp -r "$REGATTA_BUILD"/images/{models.yaml,vendors} "$BED/images"
mkdir "$BED/images/frameworks"
sed -n '/^\.Bd/,/^\.Ed/{s/\\e/\\/g; /^\./!p}; /^\.Ed/q' \
	"$ROOT/controller/cli/regatta-framework.5" \
	>"$BED/images/frameworks/rower.yaml"
sed -n 's/^ *# \(\[stroke .*\)/\1/p' "$BED/images/frameworks/rower.yaml" |
	regatta extract --images "$BED/images" --framework rower - |
	jq -c '.records[0] | [.step, .loss, .iteration_ms]' >"$BED/rowed"
is "$(cat "$BED/rowed")" "[12,2.31,103.5]" \
	"the page's example of a framework works"

regatta completion words -- '' | cut -f1 |
	grep -v -e '^--' -e '^help$' | sort >"$BED/completed"
is "$(tr '\n' ' ' <"$BED/completed")" "$(sort <<<"$commands" | tr '\n' ' ')" \
	"completion knows every command"

# What SECURITY.md says is tested where it says.
missing=
while read -r file; do
	[[ -f $ROOT/$file ]] || missing+="$file "
done < <(grep -oE 'tests/[a-z]+/[a-z0-9_-]+\.[ct]' "$ROOT/SECURITY.md")
is "$missing" "" "SECURITY.md names tests that there are"
is "$(cd "$ROOT" && for file in tests/attack/*.t; do
	grep -qF "$file" SECURITY.md || echo "$file"
done)" "" "it names each test of an attack"
rows=$(grep -E '^\| \*\*' "$ROOT/SECURITY.md")
ok '(($(wc -l <<<"$rows") >= 10))' "it has a row for each party"
is "$(grep -vF '`tests/' <<<"$rows")" "" "each row names its tests"
done_testing
