#!/bin/bash
# build.t - what builds an image has no more rights than what runs in it: RUN
# lines of a user's Dockerfile, and its NAME_install.sh.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need ldd
folder=$BED/host/mine
mkdir -p "$folder/root/bin"
mounts="mounts: [{host: $BED/host, write: true}]"
policy() # LINE...
{
	# Podman's registries of the test bed are named, too.
	printf '%s\n' "$mounts" 'insecure_registries: [loopback, 10.77.0.1]' \
		"$@" >"$BED/policy.yaml"
}
policy
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 1

# An image with bash and nothing else; all that a build does is told.
must cp -L "$(command -v bash)" "$folder/root/bin/bash"
ldd "$folder/root/bin/bash" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "$folder/root$(dirname "$library")"
	cp -L "$library" "$folder/root$library"
done
cat >"$folder/tell" <<'END'
tell() # FILE...: the first that is there
{
	for file; do
		[[ -r $file ]] && echo "$(<"$file")" && return
	done
}
while read -r name value rest; do
	case $name in
	Uid:|CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo "$name $value" ;;
	esac
done </proc/self/status
echo "memory $(tell /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes)"
echo "pids $(tell /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max)"
END
must cp "$folder/tell" "$folder/root/tell"
cp "$folder/tell" "$folder/mine_install.sh"
printf '%s\n' 'FROM scratch' 'COPY root /' \
	'RUN ["/bin/bash", "-c", "echo run; . /tell; echo end"]' \
	>"$folder/Dockerfile"
attempt() # IMAGE
{
	cat >"$BED/attempt.yaml" <<-END
		sweep: attempt
		image: $1
		build: $folder
		retries: 0
		network: none
		command: [/bin/bash, -c, "echo ran"]
	END
	submit "$BED/attempt.yaml"
}
reloads=0
reload()
{
	((++reloads))
	kill -HUP "$(pid_of cluster/agent1)"
	wait_for "(( \$(log_of cluster/agent1 |
		grep -c 'settings read again') >= reloads ))" 20
}

# By default only the node's own Dockerfiles are built.
must attempt evil/build:1
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" .failure)" policy "a user's Dockerfile is not built"
like "$(job_get "$JOB" .text)" "build: $folder is not allowed; .* allows builds in the images folder only" \
	"in words"
must attempt evil/build
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" .failure)" policy "whether it has a tag or not"
run cli image pull "$BED/attempt.yaml"
like "$rc $err" "^1 .*build: $folder is not allowed" "nor before a job asks"
ok '[[ ! $(dk e1 images -q evil/build) ]]' "there is no such image"
regatta policy suggest "$BED/attempt.yaml" >"$BED/suggested.yaml"
is "$(grep -B1 '^build' "$BED/suggested.yaml")" \
	"# RUN lines of Dockerfiles in writable folders run as root with the engine's default capabilities
build: true" "policy suggest names the line, and what it opens"

# Where the policy opens it, the limits hold.
policy 'build: true' 'limits: {memory: 128MiB, pids: 50, cpus: 1}' \
	'network: [none]'
must reload
must attempt evil/build:1
ok 'wait_job $JOB completed 120' "with build: true it is built" ||
	diag "$(job_get "$JOB" .text)"
cli logs --stream build-0 "$JOB" >"$BED/told" 2>"$BED/words"
sed -n '/^run$/,/^end$/p' "$BED/told" >"$BED/run"
sed '1,/^end$/d' "$BED/told" >"$BED/install"
is "$(sed -n 's/^memory //p' "$BED/run")" 134217728 "a RUN line has the limit of memory"
is "$(sed -n 's/^memory //p; s/^pids //p' "$BED/install" | paste -sd' ')" \
	"134217728 50" "NAME_install.sh has those of memory and processes"
is "$(grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp|Uid)' "$BED/install" | paste -sd' ')" \
	"Uid: 0 CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2" \
	"and no capability, no new privileges, and a seccomp filter"
dk e1 rmi -f evil/build:1 &>/dev/null

# The capabilities of the policy are those of the script.
policy 'build: true' 'capabilities: [CHOWN]'
must reload
must attempt evil/build:1
must wait_job "$JOB" completed 120
cli logs --stream build-0 "$JOB" >"$BED/told" 2>"$BED/words"
is "$(sed '1,/^end$/d' "$BED/told" | grep CapBnd)" "CapBnd: 0000000000000001" \
	"a script has the capabilities that the policy lists"
dk e1 rmi -f evil/build:1 &>/dev/null

# A policy without root has no builds, which are root.
policy 'build: true' 'user: ["[1-9]*"]'
must reload
must attempt evil/build:1
must wait_job "$JOB" failed 30
like "$(job_get "$JOB" .text)" 'user: 0 is not allowed' \
	"where root may not run, nothing is built by root"
# Files that their owner closed are not packed for others.
policy 'build: true'
must reload
install -d -o 1234 -m 700 "$folder/closed"
echo "private of 1234" >"$folder/closed/file"
chown 1234 "$folder/closed/file"
chmod 600 "$folder/closed/file"
chown nobody "$folder/Dockerfile"
must attempt evil/packed:1
must wait_job "$JOB" failed 60
like "$(job_get "$JOB" .text)" 'closed.*Permission denied' \
	"a folder that he who wrote the Dockerfile cannot read is not packed"
chown root "$folder/Dockerfile"
must attempt evil/packed:1
must wait_job "$JOB" failed 60
like "$(job_get "$JOB" .text)" 'closed.*Permission denied' \
	"nor for root, whose containers could not read it"
rm -r "$folder/closed"

# The folder is replaced by a link while its own RUN line takes its time.
mkdir -m 700 "$BED/secret"
echo "nobody may read this" >"$BED/secret/file"
printf '%s\n' 'FROM scratch' 'COPY root /' \
	'RUN ["/bin/bash", "-c", "echo waits; while ((SECONDS < 6)); do :; done"]' \
	'ENTRYPOINT ["/bin/bash", "-c", "cd /workspace/docker_image; echo $(<file); : >written"]' \
	>"$folder/Dockerfile"
must attempt evil/link:1
must wait_for '[[ $(cli logs --stream build-0 "$JOB" 2>/dev/null) == *waits* ]]' 60
must mv "$folder" "$folder.old"
ln -s "$BED/secret" "$folder"
must wait_job "$JOB" failed 60
ok 'dk e1 image inspect evil/link:1 &>/dev/null' \
	"a folder that is replaced while it is built is built as it was"
is "$(cli logs --stream build-0 "$JOB" 2>/dev/null | grep -c 'may read')" 0 \
	"what it leads to is not read"
is "$(ls "$BED/secret")" file "nor written"
rm "$folder"
must mv "$folder.old" "$folder"

# The agent is killed while a script installs: neither its container nor the copy of the
# folder outlive the next agent's start.
printf '%s\n' 'FROM scratch' 'COPY root /' >"$folder/Dockerfile"
printf '%s\n' 'echo installs' 'while ((SECONDS < 600)); do :; done' \
	>"$folder/mine_install.sh"
must attempt evil/killed:1
must wait_for '[[ $(cli logs --stream build-0 "$JOB" 2>/dev/null) == *installs* ]]' 60
copies=$(ls "$CLUSTER/n1/install")
like "$copies" '^[0-9a-f]{8}$' "an installing container has a copy of the folder"
must agent_kill 1
must cli cancel "$SWEEP" >"$BED/words" 2>&1
must agent_up 1
ok 'wait_for "[[ ! -e \$CLUSTER/n1/install/\$copies ]]" 30' \
	"killed meanwhile: the next agent removes the copy"
ok 'wait_for "[[ ! \$(dk e1 ps -aq) ]]" 60' "and the container"
ok 'wait_for cluster_clean 20' "nothing is left"
done_testing
