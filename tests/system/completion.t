#!/bin/bash
# completion.t - bash, zsh and fish themselves complete command lines.
#
# bash and zsh sit at a terminal, where the words of a line are typed and then
# TAB; ESC Ctrl-E tells the line that is there now. fish can be asked.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need regatta script zsh fish

export TERM=dumb HOME=$BED LC_ALL=C.UTF-8
export XDG_CONFIG_HOME=$BED/fish XDG_DATA_HOME=$BED/fish XDG_CACHE_HOME=$BED/fish
mkdir -p "$BED/here/folder" "$BED/fish"
touch "$BED/here/image.tar" "$BED/here/sweep.yaml"
cd "$BED/here" || exit

bash_ready()
{
	cat <<-'END'
		PS1=
		bind 'set bell-style none'
		bind 'set show-all-if-ambiguous on'
		bind 'set page-completions off'
		bind 'set completion-query-items 0'
		bind 'set enable-bracketed-paste off'
		bind -x '"\e\C-e": echo "=$READLINE_LINE<>"
			READLINE_LINE= READLINE_POINT=0'
		. <(regatta completion bash)
	END
}
zsh_ready()
{
	cat <<-'END'
		PS1=
		unset zle_bracketed_paste
		unsetopt beep prompt_cr prompt_sp
		LISTMAX=0
		report()
		{
			zle -I
			print -r -- "=$BUFFER<>"
			BUFFER= CURSOR=0
		}
		zle -N report
		bindkey '\e\C-e' report
	END
	echo "$zsh_finds"
}
zsh_finds='autoload -U compinit; compinit -D -u; eval "$(regatta completion zsh)"'

# Reads what the terminal shows into $shown, up to these words.
shows()
{
	local c

	shown=
	while IFS= read -r -N 1 -t 10 -u "${terminal[0]}" c; do
		shown+=$c
		[[ $shown == *"$1" ]] && return
	done
	diag "waited in vain for '$1' in: $(printf %q "$shown")"
	return 1
}

# open COMMAND: a shell, at a terminal that is wide and high enough
open()
{
	coproc terminal {
		exec script -qfc "stty -echo cols 200 rows 100; exec $1" \
			/dev/null 2>&1
	}
	printf '%s\n' "$("${1%% *}_ready")" "echo rea\\dy" >&"${terminal[1]}"
	shows $'ready\r\n'
}

close()
{
	echo exit >&"${terminal[1]}"
	wait
}

# One line, sorted.
line_of()
{
	sort -u | paste -sd' '
}

# offers SHELL LINE: the words that may stand at its end
offers()
{
	local line words

	if [[ $1 == fish ]]; then
		fish -N -c 'regatta completion fish | source
			complete -C "$argv"' "$2" | cut -f1 | line_of
		return
	fi
	printf '%s\t\e\x05' "$2" >&"${terminal[1]}"
	shows '<>' || return 1
	words=$(tr -d '\r' <<<"$shown" | grep -v -e '^[[:cntrl:] ]*regatta ' \
		-e ^= | sed 's/ -- .*//' | tr -s ' ' '\n' | grep . | line_of)
	line=${shown##*=regatta}
	line=regatta${line%<>}
	if [[ $words || $line == "$2" ]]; then
		echo "$words"
	else
		line=${line%[= ]}
		echo "${line##*[= ]}"
	fi
}

# What each of them says to a line.
table='
regatta im	image import
regatta subm	submit
regatta zzz	nothing
regatta zzz --	nothing
regatta report --sty	--style
regatta submit --set a=b --se	--set
regatta report --style 	reference table
regatta report --style r	reference
regatta report --style zz	nothing
regatta key new me --role 	agent controller operator viewer
regatta run --state 	folder/
regatta verify --result i	image.tar
regatta mfu --chip 	nothing
regatta plan s	sweep.yaml
regatta plan zz	nothing
regatta sweeps s	nothing
regatta node dr	drain
regatta node drain s	nothing
regatta image lo	load
regatta image load i	image.tar
regatta image pu	pull
regatta image pull s	sweep.yaml
regatta completion 	bash fish zsh
regatta show j	job
regatta validate n	network
regatta validate d	devices
regatta check config s	sweep.yaml
'

of_help()
{
	{
		printf '%s\n' --help --version
		regatta "$1" --help | grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' |
			grep -oE -- '--[a-z-]+'
	} | line_of
}

commands=$(regatta --help | sed -n '/^usage/,/^Start/s/^  \([a-z0-9]*\) .*/\1/p')
for shell in "bash --norc --noprofile -i" "zsh -f -i" fish; do
	name=${shell%% *}
	[[ $name == fish ]] || must open "$shell"
	while IFS=$'\t' read -r line words; do
		[[ $line ]] || continue
		is "$(offers "$name" "$line")" "${words/#nothing/}" \
			"$name: '$line' may end in $words"
	done <<<"$table"
	wrong=
	for command in $commands; do
		[[ $(offers "$name" "regatta $command --") == \
			$(of_help "$command") ]] || wrong+="$command "
	done
	is "$wrong" "" "$name: all options of each command are offered"
	[[ $name == fish ]] && continue
	close
done

# As packages install it: zsh loads the file when it is first needed.
mkdir -p "$BED/functions"
regatta completion zsh >"$BED/functions/_regatta"
zsh_finds="fpath=($BED/functions \$fpath); autoload -U compinit; compinit -D -u"
must open "zsh -f -i"
is "$(offers zsh "regatta subm")" submit "zsh finds it among its functions"
close
done_testing
