# rootless.sh - what holds for every engine without root; after users.sh.
# shellcheck shell=bash
#
# The user is sailor, who has the image regatta-test/tool:1.
#
#	nothing WHAT STATE	no process and no file of that run is left
#	devices_make		two, one of which the user may open; before an
#				engine has namespaces
#	devices_try ENGINE INSIDE	that one is passed on, as INSIDE in the
#				container, and the other not
#	host_network_try	a container is in this machine's network

nothing()
{
	wait_for '[[ ! $(processes_of sailor) ]]' 20
	is "$(processes_of sailor)" "" "$1: no process of the user is left"
	is "$(find "$BED/sailor/tmp" -mindepth 1)" "" "nor a temporary file"
	is "$(find "$BED/sailor/$2" -not -user sailor)" "" \
		"and all that was written is the user's"
	is "$(find "$BED/sailor/$2/agent" -mindepth 2 -path '*/spool/*')$(find \
		"$BED/sailor/$2/agent" -type s)" "" "spool and socket are gone"
}

# sweep_of NAME WORDS...: a sweep of that command alone
sweep_of()
{
	printf '%s\n' "sweep: $1" 'image: regatta-test/tool:1' \
		"command: [/tool, ${*:2}]" >"$BED/sailor/$1.yaml"
}

# Sweeps may take devices from below /dev alone.
devices_make()
{
	must mount -t tmpfs -o dev,mode=1777 "regatta-$BED_ID" /dev/shm
	must mknod -m 600 /dev/shm/mine c 1 3
	must mknod -m 600 /dev/shm/roots c 1 3
	chown sailor /dev/shm/mine
}

devices_try()
{
	local name

	for name in mine roots; do
		sweep_of "$name" touch, "${2/NAME/$name}"
		echo "device_nodes: ['/dev/shm/$name:${2/NAME/$name}']" \
			>>"$BED/sailor/$name.yaml"
	done
	run as sailor regatta run mine.yaml --state mine
	# shellcheck disable=SC2154 # of run()
	is "$rc" 0 "$1: a device that the user may open is passed on" ||
		diag "$out" "$err"
	run as sailor regatta run roots.yaml --state roots
	is "$rc" 1 "one that the user may not open is not opened inside"
}

host_network_try()
{
	sweep_of host-network listen, 127.0.0.1, '"24555"'
	spawn host-network "$BED/opt/as" sailor regatta run host-network.yaml \
		--state host-network
	ok 'wait_for "[[ \$(\$REGATTA_BUILD/lab/tool dial 127.0.0.1 24555 hi) == hi ]]" 30' \
		"a container is in this machine's network"
	is "$(code_of host-network)" 0 "and ends well"
}
