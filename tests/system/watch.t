#!/bin/bash
# watch.t - a sweep on the whole terminal, narrow and wide, and in lines.
#
# Long: a terminal and an engine, which few changes touch.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need tmux

must cluster_up 1
mkdir -p "$BED/host/show"
printf '\033[2J\033]0;taken\007<b>\n' >"$BED/host/show/hostile"
must submit_tool show log=auto 'repeat=3' show /host/hostile , steps 20 50 , \
	wait /host/go
must wait_job "$JOB" running 30

terminal()
{
	tmux -L "regatta-$BED_ID" -f /dev/null "$@"
}
# What the terminal shows; how many columns its longest line has.
shown()
{
	terminal capture-pane -p -t 0
}
shows() # WORDS: waits for them
{
	wait_for "shown | finds -F -- '$1'" 10
}
columns()
{
	shown | wc -L
}
spawn terminal tmux -L "regatta-$BED_ID" -f /dev/null -D
wait_for 'terminal new-session -d -x 80 -y 24 bash' 20
terminal set-option -g window-size manual
terminal set-option -g remain-on-exit on
terminal send-keys -t 0 "regatta watch" Enter
ok 'shows "sweep 1 [..........] 0 of 3 jobs ended"' "80 columns: the sweep"
ok 'shows "step 20/20,"' "how far its job is"
like "$(shown)" '1 running +#1 \[##########\]' "as a bar, behind its name"
like "$(shown)" '2 queued' "and what waits"
terminal send-keys -t 0 C-c
ok 'shows "sweep 1 continues"' "Ctrl-C leaves it"
terminal send-keys -t 0 "clear; regatta watch" Enter
ok 'shows "q quit (the sweep continues)"' "and one comes back"
terminal resize-window -t 0 -x 40 -y 12
wait_for '(( $(columns) <= 40 ))' 20
ok '(( $(columns) <= 40 ))' "40 columns, while it runs"
ok 'shows "1 running    #1 100 %"' "the job is still there, without bars"
terminal resize-window -t 0 -x 200 -y 60
ok 'shows "  n1"' "200 columns: its node"
terminal resize-window -t 0 -x 250 -y 80
wait_for '(( $(shown | wc -l) == 80 ))' 20
ok 'shows "sweep 1 [..........] 0 of 3 jobs ended"' "250 columns: the sweep"
like "$(shown)" '1 running +#1 \[##########\].*▁.*step 20/20, .*  n1' \
	"and all of its job in one line, with its losses"
terminal resize-window -t 0 -x 200 -y 60
terminal send-keys -t 0 l
ok 'shows "<b>"' "l shows its output"
ok 'shows "?[2J?]0;taken?"' "in which nothing is obeyed"
terminal send-keys -t 0 Down
ok 'shows "job 2 ["' "an arrow chooses another job" || diag "$(shown)"
terminal send-keys -t 0 c
ok 'shows "cancel job 2? y: yes"' "c asks" || diag "$(shown)"
terminal send-keys -t 0 n
ok 'shows "q quit (the sweep continues)"' "and takes no for an answer"
terminal send-keys -t 0 c
shows "cancel job 2?"
terminal resize-window -t 0 -x 90 -y 30
wait_for '(( $(shown | wc -l) == 30 && $(columns) <= 90 ))' 20
ok 'shows "cancel job 2? y: yes"' "it still asks on a screen of another size"
terminal send-keys -t 0 y
must wait_job 2 cancelled 30
ok 'shows "2 cancelled"' "or yes"
touch "$BED/host/show/go"
must wait_sweep "$SWEEP" 60
ok 'shows "sweep 1: 2 of 3 jobs completed"' "it ends with the sweep"
# The same screen for who waits.
rm "$BED/host/show/go"
terminal send-keys -t 0 "clear; regatta submit $BED/host/show.yaml --wait" Enter
ok 'shows "q quit (the sweep continues)"' "submit --wait shows it"
ok 'shows "sweep 2 [..........] 0 of 3 jobs ended"' "with its sweep"
must wait_job 4 running 30
must cli cancel job 4
ok 'shows "job 5 ["' "its log is of what runs now"
terminal send-keys -t 0 q
ok 'shows "sweep 2 continues; these commands show it again"' "q leaves"
must cli cancel sweep 2
must wait_sweep 2 60
# And for who runs it here, with nothing set up.
sed 's/^sweep: .*/sweep: here/' "$BED/host/show.yaml" >"$BED/here.yaml"
terminal send-keys -t 0 "clear; DOCKER_HOST=$(engine_host e1) \
regatta run $BED/here.yaml --state $BED/here" Enter
ok 'shows "sweep 1 [..........] 0 of 3 jobs ended"' "run shows it, too" || diag "$(shown)"
ok 'shows "step 20/20,"' "with how far its job is"
touch "$BED/host/show/go"
ok 'shows "3 of 3 jobs completed"' "and ends with its table"
terminal kill-server

run cli watch 1
is "$rc" 1 "without a terminal the exit code is that of the work"
like "$err" "3 of 3 jobs had ended before" "and there are lines"
run cli watch job 3
is "$rc" 1 "a job is one of its sweep"
run cli watch 9
is "$rc $err" "2 regatta: no sweep 9; regatta sweeps lists them" "no sweep of that number"
done_testing
