#!/bin/bash
# userns.t - an engine that remaps users has no network of the machine for its
# containers: jobs that ask for it fail once, in words, and others run.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need unshare nsenter
[[ $TEST_ENGINE == docker && -e /etc/subuid && -e /etc/subgid ]] ||
	skip_all "needs Docker, /etc/subuid and /etc/subgid"

# The users are those of a file system of the engine's own.
echo 'nobody:100000:65536' >"$BED/subuid"
echo 'nobody:100000:65536' >"$BED/subgid"
# shellcheck disable=SC2016 # for the shell inside
spawn inside unshare --mount --propagation slave bash -c '
	mount --bind "$1/subuid" /etc/subuid &&
	mount --bind "$1/subgid" /etc/subgid && echo inside &&
	exec sleep infinity' - "$BED"
must wait_for 'log_of inside | finds inside || ! alive inside' 20
must mkdir "$BED/bin"
for program in dockerd containerd; do
	cat >"$BED/bin/$program" <<-END
		#!/bin/sh
		exec nsenter --mount=/proc/$(pid_of inside)/ns/mnt -- \\
			$(command -v "$program") "\$@"
	END
	chmod +x "$BED/bin/$program"
done
PATH=$BED/bin:$PATH
chmod a+x "$BED"
ENGINE_ARGS=(--userns-remap nobody:nogroup)
must cluster_up 1

must submit_tool shared print 10
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" '"\(.attempt) \(.failure)"')" "1 preflight" \
	"a job that asks for the machine's network fails once"
like "$(job_get "$JOB" .text)" "userns-remap.*network: (bridge|none)" \
	"with what to do: $(job_get "$JOB" .text)"
must submit_tool alone network=none print 10
ok 'wait_job $JOB completed 30' "one without a network runs" ||
	diag "$(job_get "$JOB" .text)"
ok 'wait_for cluster_clean 20' "nothing is left"
done_testing
