#!/bin/bash
# engine-bed.t - the test bed itself works, and leaves nothing behind.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need docker dockerd containerd docker-registry ip

tool=$REGATTA_BUILD/lab/tool
image=regatta-test/tool:1

# An engine of our own, and an image without a hub.
must engine_up one
must tool_image one
run dk one run --rm --network host "$image" /tool print 1000000 , exit 7
is $rc 7 "a container runs on the host's network and its exit code comes back"
must "$tool" print 1000000 >"$BED/want"
ok 'cmp "$BED/want" "$BED/out"' "the tool prints the same bytes in each run"
run dk one run --rm --network none -m 16m "$image" /tool eat 67108864
is $rc 137 "the tool eats until the kernel ends it"

# A disk that is full when a test wants it to be.
must small_disk disk 1
ok '! head -c 2000000 /dev/zero 2>/dev/null >"$BED/disk/file"' \
	"a small disk is full soon"
is "$(stat -c %s "$BED/disk/file")" 1048576 "and holds what fitted"

# The engine killed and started; the container runs on.
must dk one run -d --name long --network host -v "$BED:/bed" "$image" \
	/tool wait /bed/go , exit 5 >/dev/null
before=$(dk one inspect -f '{{.State.Pid}}' long)
must engine_kill one
ok '! engine_answers one' "a killed engine does not answer"
ok '[[ -d /proc/$before ]]' "its container runs on"
must engine_start one
is "$(dk one inspect -f '{{.State.Pid}}' long)" "$before" \
	"the engine that is back knows the container"
must engine_kill one dockerd
must engine_start one
is "$(dk one inspect -f '{{.State.Running}}' long)" true \
	"also after a kill of dockerd alone"
must engine_stop one
touch "$BED/go"
must wait_for '[[ ! -d /proc/$before ]]' 10
must engine_start one
is "$(dk one wait long)" 5 "an exit while the engine was stopped is not lost"
must engine_freeze one
ok '! engine_answers one' "a frozen engine does not answer"
must engine_thaw one
ok 'engine_answers one' "and does again when it is thawed"

# A registry, and a proxy that stalls or cuts in the middle of a layer.
must registry_up
must random_image one "$REGISTRY/big:1" 8
must dk one push -q "$REGISTRY/big:1" >/dev/null
must proxy_up slow "$REGISTRY" stall 3000000
must dk one rmi -f "$REGISTRY/big:1" >/dev/null
spawn pull docker -H "$(engine_host one)" pull "$PROXY/big:1"
ok 'wait_for "log_of proxy-slow | finds stalled" 20' \
	"a pull stalls in the middle of a layer"
ok 'alive pull' "and hangs there"
must proxy_pass slow
ok 'wait_for "! alive pull" 30' "until the proxy lets it pass"
run dk one image inspect "$PROXY/big:1"
is $rc 0 "then the image is whole"
must dk one rmi -f "$PROXY/big:1" >/dev/null
must proxy_up cut "$REGISTRY" cut 3000000
run dk one pull "$PROXY/big:1"
like "$(log_of proxy-cut)" cut "the other proxy cuts in the middle of a layer"
is $rc 0 "and a second try passes"
must engine_down one
ok '[[ ! -e $BED/engines/one ]]' "an engine that is down leaves no folder"

# Hosts that reach each other, until the wire is cut.
must hosts_up 2
must tool_image host1
must dk host1 tag "$image" "$REGISTRY/tool:1"
must dk host1 push -q "$REGISTRY/tool:1" >/dev/null
run dk host2 pull "$REGISTRY/tool:1"
is $rc 0 "an image goes from host to host through the registry"

# dial TEXT: from a container of host 1 to host 2. knock: is anybody there?
dial()
{
	dk host1 run --rm --network host "$image" \
		/tool dial "$(host_address 2)" 7000 "$1"
}
knock()
{
	on_host 1 timeout 1 "$tool" dial "$(host_address 2)" 22 x 2>&1
}
must dk host2 run -d --name peer --network host "$REGISTRY/tool:1" \
	/tool listen 0.0.0.0 7000 >/dev/null
must wait_for 'dk host2 logs peer | grep listening' 10
run dial hello
is "$out" hello "containers of two hosts talk over the wire"
like "$(knock)" refused "a port where nobody listens is refused"
must link_cut 2
is "$(knock)" "" "a cut link answers nothing"
must link_restore 2
ok 'wait_for "[[ \$(knock) == *refused* ]]" 20' "a restored one does again"
must link_mute 2
is "$(knock)" "" "a mute link answers nothing"
must link_unmute 2
ok 'wait_for "[[ \$(knock) == *refused* ]]" 20' "and an unmuted one again"
must dk host2 run -d --name stays --network host "$REGISTRY/tool:1" \
	/tool sleep 1000 >/dev/null
must engine_kill host2
must hosts_down
is "$(netns_of_bed)" "" "hosts that are down leave no namespace"
done_testing
