#!/bin/bash
# credentials.t - what lets nodes into registries travels sealed with a sweep,
# and is read by nobody on the way.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need sqlite3 "$REGATTA_BUILD/lab/sniff"

must registry_locked
mkdir -p "$BED/docker"
must login_file "$BED/docker/config.json" "$locked" "$secret"
must login_file "$BED/wrong.json" "$locked" "x-$secret"
must login_file "$BED/other.json" example.com other

# A build whose base is in that registry.
must cp -r "$REGATTA_BUILD/images" "$BED/images"
must mkdir "$BED/images/mine"
printf 'ARG BASE=%s/secret/base\nFROM ${BASE}:1\nLABEL mine=1\n' "$locked" \
	>"$BED/images/mine/Dockerfile"
export REGATTA_IMAGES=$BED/images

# The node itself knows nobody. Its policy allows what a policy can.
cat >"$BED/policy.yaml" <<END
mounts: [{host: $BED/host, write: true}]
END
AGENT_ARGS=(--registry-auth "$BED/none.json"
	--images "$BED/images" --policy "$BED/policy.yaml" --stall 10 --verbose)
echo '{}' >"$BED/none.json"
chmod 600 "$BED/none.json"
must cluster_up 1
engine=$(node_engine 1)

push() # IMAGE MIB
{
	random_image "$engine" "$1" "$2" &&
		dk "$engine" push -q "$1" >/dev/null &&
		dk "$engine" rmi -f "$1" >/dev/null
}
must push "$locked/secret/tool:1" 2
must push "$locked/secret/base:1" 3
must push "$open/tool:1" 1

# forget REPOSITORY: with its layers, which stay as long as a container does
forget()
{
	local id

	must wait_for '[[ ! $(dk "$engine" ps -aq) ]]' 20
	for id in $(dk "$engine" images -q "$1" | sort -u); do
		must dk "$engine" rmi -f "$id" >/dev/null
	done
}

# sweep NAME LINE...: a file; words of the command come from $WORDS
sweep()
{
	local name=$1

	shift
	mkdir -p "$BED/host"
	printf '%s\n' "sweep: $name" "retries: 0" "$@" \
		"mounts: [{host: $BED/host, container: /host}]" \
		"command: [/tool, ${WORDS:-print, \"1000\"}]" \
		>"$BED/$name.yaml"
}

# order NAME OPTION...: submit it; sets $SWEEP and $JOB
order()
{
	local answer

	SWEEP='' JOB=''
	answer=$(cli submit "$BED/$1.yaml" "${@:2}" --format json \
		2>"$BED/words") || return 1
	SWEEP=$(jq -r .sweep <<<"$answer")
	JOB=$(jobs_get "$SWEEP" '.[0].job')
}

stored()
{
	sqlite3 "$CLUSTER/controller/regatta.db" \
		"SELECT count(sealed) || ' of ' || count(*) FROM logins"
}

# Without, nobody is let in; with the wrong file, nothing is even begun.
sweep alone "image: $locked/secret/tool:1"
must order alone
ok 'wait_job $JOB failed 60' "without credentials a job is not let in"
like "$(job_get "$JOB" .text)" "$locked/secret/tool:1.*(denied|unauthorized|no basic auth|400)" \
	"in words: $(job_get "$JOB" .text)"
run regatta submit "$BED/alone.yaml" --registry-auth="$BED/other.json"
is "$rc" 2 "a file without credentials for the registry is refused at once"
like "$err" "no credentials for $locked in $BED/other.json" "in words: $err"
chmod 644 "$BED/wrong.json"
run regatta submit "$BED/alone.yaml" --registry-auth="$BED/wrong.json"
is "$rc" 2 "one that others may read, too"
like "$err" "mode 0644 found.*chmod 600" "in words: $err"
chmod 600 "$BED/wrong.json"

# With them, from the user's own Docker settings.
spawn sniff "$REGATTA_BUILD/lab/sniff" "${REGATTA_CONTROLLER##*:}" "$BED/wire"
must wait_for 'log_of sniff | finds ready' 10
WORDS='wait, /host/go, ",", print, "1000"' sweep with \
	"image: $locked/secret/tool:1"
must order with --registry-auth
ok 'wait_job $JOB running 60' "credentials that come with a sweep open it"
is "$(stored)" "1 of 1" "they are kept while the sweep is under way"
cp "$CLUSTER/controller/regatta.db"* "$BED/host/" # what a thief would take
task=$CLUSTER/n1/spool/$JOB.1.0/task.json
is "$(jq -r '.logins[0].registry' "$task")" "$locked" \
	"they lie beside the task, too"
# shellcheck disable=SC2034 # in a condition
task_sealed=$(jq -r '.logins[0].sealed' "$task")
ok '! grep -qaF "$task_sealed" "$BED/host/regatta.db"*' \
	"sealed anew for the node"

# A controller that comes back has them still.
must controller_kill
must controller_up
must nodes_up 1 30
touch "$BED/host/go"
ok 'wait_job $JOB completed 60' "and the job completes"
ok 'wait_for "[[ \$(stored) == \"0 of 1\" ]]" 20' \
	"they are forgotten when the last job has ended"
with=$SWEEP

# Helpers are asked where the user is.
mkdir "$BED/bin"
cat >"$BED/bin/docker-credential-bed" <<END
#!/bin/sh
read -r server
echo "\$1 \$server" >>"$BED/asked"
echo '{"Username":"$user","Secret":"$secret"}'
END
chmod +x "$BED/bin/docker-credential-bed"
jq -n '{credsStore: "bed"}' >"$BED/helper.json"
chmod 600 "$BED/helper.json"
forget "$locked/secret/tool"
sweep helper "matrix: {image: [\"$locked/secret/tool:1\", \"$open/tool:1\"]}"
PATH=$BED/bin:$PATH must order helper --registry-auth="$BED/helper.json"
ok 'wait_job $JOB completed 60' "a credential helper of the user opens it"
is "$(sort -u "$BED/asked")" "$(printf 'get %s\n' "$locked" "$open" | sort)" \
	"it is asked for the registries of the sweep, no others"
must wait_sweep "$SWEEP" 60

# Somebody else's wrong password is nobody else's failure.
forget "$locked/secret/tool"
sweep right "image: $locked/secret/tool:1" "shared: true"
must order right --registry-auth="$BED/wrong.json"
wrong=$JOB
must order right --registry-auth
right=$JOB
ok 'wait_job $wrong failed 60' "another password does not do"
ok 'wait_job $right completed 60' "and harms nobody who has the right one"

# Bases of a build.
sweep built "build: mine"
must order built
ok 'wait_job $JOB failed 60' "a build is not let to its base by itself"
must order built --registry-auth
ok 'wait_job $JOB completed 60' "with a sweep's credentials it is"

dk "$engine" rmi -f "$locked/secret/base:1" >/dev/null
run regatta image build mine --tag mine:again
is "$rc" 1 "nor is an image that is built before"
run regatta image build mine --tag mine:again --registry-auth
is "$rc" 0 "but with credentials: $err"

# Tried again, when they are gone.
rm -f "$BED/host/go"
WORDS='show, /host/go' sweep again "image: $locked/secret/tool:1"
must order again --registry-auth
ok 'wait_job $JOB failed 60' "(a job fails)"
must wait_for "[[ \$(stored) == 0* ]]" 20
forget "$locked/secret/tool"
run regatta retry "$SWEEP"
like "$err" "for $locked .*were deleted.*retry $SWEEP --registry-auth" \
	"who tries again is told that they are gone"
ok 'wait_for "[[ \$(job_get $JOB .attempt) == 2 ]]" 20 &&
	wait_job $JOB failed 60' "(and it fails)"
like "$(job_get "$JOB" .text)" "the job's credentials were deleted; regatta retry" \
	"so does the job: $(job_get "$JOB" .text)"
touch "$BED/host/go"
must wait_for "[[ \$(jobs_get $SWEEP '.[0].removed') == true ]]" 20
run regatta retry "$SWEEP" --registry-auth
is "$rc" 0 "they can be sent along again"
ok 'wait_for "[[ \$(job_get $JOB .attempt) == 3 ]]" 20 &&
	wait_job $JOB completed 60' "and then it works"

# A node whose key is another one meanwhile.
must proxy_up slow "$locked" stall 60000
slow=$PROXY
must cp -r "$BED/certs/$locked" "$BED/certs/$slow"
must login_file "$BED/slow.json" "$slow" "$secret"
forget "$locked/secret/tool"
sweep rekeyed "image: $slow/secret/tool:1"
must order rekeyed --registry-auth="$BED/slow.json"
must wait_for '[[ -s $CLUSTER/n1/spool/$JOB.1.0/task.json ]]' 20
# shellcheck disable=SC2034 # in a condition
before=$(<"$CLUSTER/n1/spool/$JOB.1.0/task.json")
must agent_stop 1
rm "$CLUSTER/n1.key"
sed -i '/^"n1"/d' "$CLUSTER/authorized"
must make_key "$CLUSTER/n1.key" n1 agent
proxy_pass slow
must agent_up 1
ok 'wait_job $JOB completed 60' "a node with a new key gets them anew"
ok '[[ $(job_get $JOB .attempt) == 1 && $before == *sealed* ]]' \
	"in the same attempt"

# Registries without TLS, by the node's policy.
sweep plain "image: $open/tool:1"
forget "$open/tool"
echo 'insecure_registries: []' >>"$BED/policy.yaml"
kill -HUP "$(pid_of cluster/agent1)"
must wait_for 'log_of cluster/agent1 | finds "settings read again"' 10
must order plain
ok 'wait_job $JOB failed 60' "a registry without TLS may be forbidden"
is "$(job_get "$JOB" .failure)" policy "as a matter of policy"
like "$(job_get "$JOB" .text)" "insecure_registries: $open without TLS is not allowed; $BED/policy.yaml allows nothing" \
	"in words: $(job_get "$JOB" .text)"

# What the user's docker pull may, a run on this machine may.
forget "$locked/secret/tool"
run regatta run "$BED/alone.yaml" --engine "$(engine_host "$engine")" \
	--state "$BED/cluster/run"
is "$rc" 0 "a run finds the user's credentials by itself"
forget "$locked/secret/tool"
chmod 644 "$BED/docker/config.json"
run regatta run "$BED/alone.yaml" --engine "$(engine_host "$engine")" \
	--state "$BED/cluster/run2"
like "$rc $err" "1 .*registry credentials are not used: .*mode 0644" \
	"and says where it cannot use them"
run regatta run "$BED/alone.yaml" --engine "$(engine_host "$engine")" \
	--state "$BED/cluster/run3" --registry-auth
is "$rc" 2 "asked for, that is an error"
chmod 600 "$BED/docker/config.json"
cp "$BED/docker/config.json" "$BED/docker/mine.json"
run regatta run "$BED/alone.yaml" --engine "$(engine_host "$engine")" \
	--state "$BED/cluster/run4" --registry-auth="$BED/docker/mine.json"
is "$rc $(jq -r .registry_auth "$BED/cluster/run4/choices.json")" \
	"0 $BED/docker/mine.json" "and --resume knows the file"

# The secret is in the files that a person wrote, and nowhere else.
must end sniff
ok '(($(stat -c %s "$BED/wire") > 10000))' "(the wire was listened to)"
regatta backup "$BED/backup.tar.gz" &>/dev/null
mkdir "$BED/restored"
tar -xzf "$BED/backup.tar.gz" -C "$BED/restored"
{
	for what in "sweep $with" "job $JOB" "job $right" "job $wrong"; do
		# shellcheck disable=SC2086 # two words
		cli show $what --format json
	done
	cli jobs --format json
	cli audit --format json
	cli results "$with" --format json
} >"$BED/shown" 2>&1
like "$(<"$BED/shown")" '"registry"' "(the audit log says that there were some)"
ok '! grep -q sealed "$BED/shown"' "what is sealed is in no answer"
for word in "$secret" "$(printf %s "$user:$secret" | base64 -w0)" \
	"$(printf %s "$secret" | base64 -w0)"; do
	found=$(grep -rlaF --devices=skip -e "$word" "$BED" 2>/dev/null |
		grep -vxE "$BED/(docker/config|docker/mine|wrong|slow).json|$BED/bin/.*")
	is "$found" "" "the secret is in no log, store, spool, image, answer or packet"
done

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
