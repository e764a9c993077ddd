#!/bin/bash
# pod.t - in a pod, regatta-init runs tools for the agent beside the command. A
# program of fewer rights than the container's gets none through it.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
need regatta-init setpriv
must regatta-init install "$BED/pod"
spawn main regatta-init pod "$BED/pod"
tool=$BED/pod/bin/tool
run -t 20 "$tool" id -u
is "$rc:$out" "0:0" "the agent's tools run"
for user in 12345 65534; do
	run -t 20 setpriv --reuid="$user" --regid="$user" --clear-groups \
		"$tool" id -u
	is "$rc:$out" "125:" "user $user, who may connect, is refused"
done
run -t 20 "$tool" sh -c 'exit 7'
is "$rc" 7 "the agent's still run"
end main KILL
done_testing
