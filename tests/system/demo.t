#!/bin/bash
# demo.t - the demonstration on an engine of the user's leaves that as it was.
# Long: a demonstration, twice, from clean engines.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need docker dockerd containerd regatta regatta-controller regatta-agent

demo=$ROOT/deploy/demo
must engine_up one
must tool_image one
images=$(dk one images -aq --no-trunc)

# Ctrl-C in the middle: in a session of its own, as all of it gets the signal.
DOCKER_HOST=$(engine_host one) setsid env --default-signal=INT \
	"$demo" "$BED/out1" >"$BED/demo.log" 2>&1 &
demo_pid=$!
must wait_for '[[ $(dk one ps -q) ]]' 60
kill -INT -- -$demo_pid
wait $demo_pid
is $? 130 "an interrupted demonstration ends as interrupted"
like "$(<"$BED/demo.log")" "demo: interrupted" "and says so"
is "$(containers one)" "" "it leaves no container"
is "$(dk one images -aq --no-trunc)" "$images" "nor an image of its own"
ok '[[ -e $BED/out1/controller.log && ! -e $BED/out1/keys ]]' \
	"and keeps its logs, not its keys"

# What cannot be done is said.
run "$demo" "$BED/out1"
is $rc 2 "a folder that is not empty is refused"
like "$err" "not empty" "in words"
run env DOCKER_HOST="unix://$BED/nobody" "$demo" "$BED/out2"
is $rc 3 "an engine that does not answer is out of reach"
like "$err" "DOCKER_HOST is unix://$BED/nobody" "and named"
# A user of nothing, where this user can see the programs at all.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${nobody[@]}" test -x "$demo" -a -x "$REGATTA_BUILD/regatta"; then
	mkdir -m 1777 "$BED/temp"
	chmod a+x "$BED"
	run "${nobody[@]}" env TMPDIR="$BED/temp" "$demo" "$BED/temp/out"
	is $rc 3 "who may use no engine is told"
	like "$err" "root" "and what to do about it"
fi
run "$demo" --help
is $rc 2 "an option is none of its words"
done_testing
