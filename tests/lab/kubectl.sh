#!/bin/bash
# kubectl.sh - a kubectl whose cluster is this machine: for tests of `regatta
# k8s` that need no Kubernetes. A pod is its two processes, whose /regatta,
# /agent and /keys are below $FAKE_CLUSTER/pods/NAME; its image is this machine.
# shellcheck disable=SC2016 # jq's variables
set -u
cd "$FAKE_CLUSTER" || exit 1
mkdir -p jobs pods secrets gone

pod_start() { # NAME JOB-FILE
	local pod=$FAKE_CLUSTER/pods/$1 job=$2 words
	while [[ -e held ]]; do # a volume is not there yet
		sleep 0.1
	done
	mkdir -p "$pod"/{regatta,agent}
	ln -sfn "$FAKE_CLUSTER/secrets/$(jq -r .metadata.name "$job")" "$pod/keys"
	argv() { # CONTAINER WHICH
		jq -r --arg pod "$pod" --arg name "$1" '.spec.template.spec |
			.containers[] | select(.name == $name) |
			'"$2"'[] | sub("(?<a>^|:|=)/(?<b>regatta|agent|keys)";
				"\(.a)\($pod)/\(.b)") | gsub("\\$\\(POD\\)"; $pod | split("/") | last)' "$job"
	}
	mapfile -t words < <(argv agent .lifecycle.postStart.exec.command)
	"$REGATTA_BUILD/${words[0]}" "${words[@]:1}" || return
	mapfile -t words < <(argv main .command)
	PATH=$FAKE_CLUSTER/tools:$PATH setsid "${words[@]}" >"$pod/main.log" 2>&1 </dev/null &
	echo $! >"$pod/main.pid"
	mapfile -t words < <(argv agent .command)
	setsid "$REGATTA_BUILD/${words[0]}" "${words[@]:1}" \
		--images "$REGATTA_IMAGES" --init "$REGATTA_BUILD/regatta-init" \
		>"$pod/agent.log" 2>&1 </dev/null &
	echo $! >"$pod/agent.pid"
}

job_delete() { # NAME
	local pod pids
	for pod in pods/"$1"-*; do
		[[ -d $pod ]] || continue
		pids=$(cat "$pod"/{main,agent}.pid)
		# shellcheck disable=SC2086 # two
		kill $pids 2>/dev/null
		# shellcheck disable=SC2086 # two
		setsid bash -c 'sleep 10; kill -9 "$@"' - $pids >/dev/null 2>&1 &
		mv "$pod" gone/
	done
	rm -rf "jobs/${1:?}" "secrets/${1:?}"
}

echo "$*" >>log
args=()
for word; do [[ $word == --* || $word == -n ]] || args+=("$word"); done
object() { # the file behind -f
	local i
	for ((i = 0; i < ${#args[@]}; i++)); do
		[[ ${args[i]} != -f ]] || echo "${args[i + 1]}"
	done
}
case "${args[*]}" in
"auth can-i"*)
	[[ -e denied ]] && grep -qx "${args[*]:2}" denied && { echo no; exit 1; }
	echo yes
	;;
"config view"*) ;;
"start "*) pod_start "${args[@]:1}" ;; # of our own
"get nodes"* | "get resourcequotas"*)
	cat "${args[1]}.json" 2>/dev/null || { echo Forbidden >&2; exit 1; }
	;;
"patch -p "*) # lists by the mountPath or name of their items
	jq -n --slurpfile to "$(object)" --argjson from "${args[2]}" '
		def same($b): if $b.mountPath then .mountPath == $b.mountPath
			else .name == $b.name end;
		def merge($b): if type == "object" and ($b | type) == "object" then
				reduce ($b | to_entries[]) as $e (.;
					.[$e.key] |= merge($e.value))
			elif type == "array" and ($b | type) == "array" then
				reduce $b[] as $item (.;
					(map(same($item)) | index(true)) as $at |
					if $at then .[$at] |= merge($item)
					else . + [$item] end)
			else $b end;
		$to[0] | merge($from)'
	;;
"create "*)
	if [[ "$*" == *--dry-run=server* ]]; then # an option is no word
		[[ -e pod-refused ]] && { cat pod-refused >&2; exit 1; }
		exit 0
	fi
	if [[ -e forbidden ]]; then # once
		rm forbidden
		echo "Error from server (Forbidden)" >&2
		exit 1
	fi
	cat "$(object)" >>created
	jq -c 'if .kind == "List" then .items[] else . end' "$(object)" |
		while read -r object; do
			name=$(jq -r .metadata.name <<<"$object")
			if [[ $(jq -r .kind <<<"$object") == PodGroup ]]; then
				echo "$name" >>groups
				continue
			elif [[ $(jq -r .kind <<<"$object") == Secret ]]; then
				mkdir -p "secrets/$name"
				jq -j .stringData.token <<<"$object" >"secrets/$name/token"
				continue
			fi
			jq '.metadata.uid = "uid-" + .metadata.name' <<<"$object" |
				tee "jobs/$name" last
			for ((i = 0; i < $(jq .spec.parallelism <<<"$object"); i++)); do
				setsid "$0" start "$name-$i$$" "$FAKE_CLUSTER/jobs/$name" \
					>/dev/null 2>&1 </dev/null &
			done
		done
	;;
"get /apis/"*)
	grep -qsx "${args[1]#/apis/}" apis || {
		echo "Error from server (NotFound): the server could not find the requested resource" >&2
		exit 1
	}
	;;
"get jobs -l"*) cat /dev/null jobs/* 2>/dev/null | jq -s '{items: .}' ;;
"get events"*) # of the newest Job
	newest=$(printf '%s\n' jobs/*-*-*-* | tail -1)
	sed "s/JOB/${newest#jobs/}/" events.json 2>/dev/null || echo '{"items": []}'
	;;
"delete jobs -l"*) # the Secrets are theirs
	for job in jobs/*; do
		[[ ! -e $job ]] || job_delete "${job#jobs/}"
	done
	;;
"delete jobs,secrets"*) job_delete "${args[2]}" ;;
*)
	echo "no such request: $*" >&2
	exit 1
	;;
esac
