# kube.sh - a real Kubernetes of two nodes for a test.
# shellcheck shell=bash disable=SC2154 # of lib.sh
#
# To be read after lib.sh. $KUBE is a folder of Kubernetes that
# recipes/kube/build.sh has built; without one the test is skipped. The cluster
# is the machine's only one, so such tests do not run side by side.
#
#	kube_up			two nodes with 8 example.com/gpu each; ends with
#				the test
#	kube_image NAME FOLDER	the image NAME from a root file system, on both
#	kube_bare NAME IMAGE COMMAND...	a Job of one pod without Regatta, in the
#				namespace bench, until it is complete
#	kube_regatta IMAGES	local/regatta:1, of what was built and kubectl,
#				with this folder of images
#	kube_user NAMESPACE	a namespace, and $BED/NAMESPACE.config of a
#				service account with the Role of regatta-k8s(7)
#	kube_page TITLE		the example below it in regatta-k8s(7)
#	kube ARGS		kubectl of the administrator
#	inside COMMAND		in the control plane's network

KUBE=${KUBE:-/tmp/regatta-test/kube}

kube()
{
	K=$KUBE "$KUBE/k" "$@"
}
inside()
{
	nsenter --net=/run/netns/kctl "$@"
}
kube_down()
{
	K=$KUBE "$KUBE/down.sh" >/dev/null 2>&1
}
kube_up()
{
	local node
	trap 'bed_exit kube_down' EXIT
	export PATH=$KUBE/bin:$PATH
	K=$KUBE "$KUBE/up.sh" 2 >&2 || return
	for node in n1 n2; do
		K=$KUBE "$KUBE/gpu.sh" $node 8 >&2 || return
	done
}
kube_image()
{
	local node
	tar -C "$2" -cf "$BED/image.tar" . || return
	for node in n1 n2; do
		nsenter -m -t "$(cat "$KUBE/$node/init.pid")" docker \
			-H unix:///run/docker.sock import "$BED/image.tar" "$1" \
			>/dev/null || return
	done
}
kube_bare()
{
	kube create job "$1" -n bench --image="$2" --dry-run=client -o json -- "${@:3}" |
		jq '.spec.template.metadata.labels.bare = "yes" | .metadata.labels.bare = "yes" |
			.spec.template.spec.hostNetwork = true' >"$BED/bare.json" || return
	inside kubectl create -f "$BED/bare.json" >&2 || return
	kube wait -n bench --for=condition=complete --timeout=60s "job/$1" >&2
}
kube_regatta()
{
	local root=$BED/regatta-image library
	mkdir -p "$root"/{usr/bin,usr/lib/regatta/images,tmp,etc}
	cp "$REGATTA_BUILD"/regatta{,-controller,-agent,-init} "$KUBE/bin/kubectl" \
		"$root/usr/bin"
	cp "$REGATTA_BUILD/regatta-init" "$root/usr/lib/regatta"
	cp -r "$1"/. "$root/usr/lib/regatta/images"
	ldd "$root"/usr/bin/regatta{,-controller,-agent} | grep -oE '/[^ :]+' |
		grep -v "^$root" | sort -u |
		while read -r library; do
			mkdir -p "$root${library%/*}" &&
				cp -L "$library" "$root$library"
		done
	kube_image local/regatta:1 "$root"
}
kube_page()
{
	# shellcheck disable=SC2153 # of lib.sh
	sed -n "/^\.S[hs] $1/,/^\.S[hs] /p" "$ROOT/controller/cli/regatta-k8s.7" |
		sed -n '/^kind: /,/^\.Ed/{/^\.Ed/q; p}'
}
kube_user()
{
	local token
	kube create namespace "$1" >&2 || return
	kube create serviceaccount guest -n "$1" >&2
	kube_page "FOR ADMIN" | sed "s/namespace: bench/namespace: $1/" |
		kube apply -f - >&2
	kube create rolebinding guest -n "$1" --role=regatta \
		--serviceaccount="$1:guest" >&2 || return
	wait_for "kube get sa guest -n $1 -o jsonpath='{.secrets[0].name}' | finds ." 20
	token=$(kube get secret -n "$1" -o jsonpath='{.data.token}' \
		"$(kube get sa guest -n "$1" -o 'jsonpath={.secrets[0].name}')" |
		base64 -d)
	sed "s/secret-token/$token/; s/context: {cluster/context: {namespace: $1, cluster/" \
		"$KUBE/c/kubeconfig" >"$BED/$1.config"
}
