#!/bin/bash
# image.t - images go to many nodes from one file, sent once; and come back.
# shellcheck disable=SC2034 # variables are used in the words given to ok
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need cmp zstd gzip

CONTROLLER_ARGS=(--verbose)
must cluster_up 3

# what_is NODE TAG: what image that is. Two engines with containerd's store call
# the same one by two ids.
what_is()
{
	dk "$(node_engine "$1")" image inspect \
		--format "{{json .RootFS.Layers}} {{json .Config}}" "$2" |
		sha256sum | cut -c 1-64
}
# has NODE TAG IMAGE: the node's engine has the image
has()
{
	[[ $(what_is "$1" "$2" 2>/dev/null) == "$3" ]]
}
load()
{
	cli image load "$@" 2>"$BED/words"
}
# parts_from WHERE: how many parts the controller told nodes to get from there
parts_from()
{
	log_of cluster/controller |
		grep -o "blob=[0-9a-f]* node=n[0-9] from=$1 " | sort -u | wc -l
}

must random_image e1 test/first:1 24
first=$(what_is 1 test/first:1)
dk e1 save test/first:1 -o "$BED/first.tar"
dk e1 rmi test/first:1 >/dev/null
load "$BED/first.tar"
is $? 0 "an image of a file goes to all nodes"
like "$(<"$BED/words")" 'test/first:1: on 3 of 3 nodes' "and says so"
ok 'has 1 test/first:1 $first && has 2 test/first:1 $first &&
	has 3 test/first:1 $first' "they have the same image"
here=$(parts_from here)
# Twice as many, unless a connection took long and the controller stepped in.
ok '((here > 0 && $(parts_from "n[123]") > here))' \
	"the controller gave each part once, the nodes passed it on" ||
	diag "$(log_of cluster/controller | grep blob=)"

# Again: nothing is sent; a container runs of it.
load "$BED/first.tar"
is $? 0 "again it is there already"
is "$(parts_from here)" "$here" "and no part is sent again"
cat >"$BED/uses.yaml" <<-YAML
	sweep: uses
	image: test/first:1
	nodes: 3
	command: [/tool, print, '100']
YAML
must submit "$BED/uses.yaml"
must wait_job "$JOB" completed 60
ok 'log_is $JOB 1 2 print 100' "jobs run in it"

# A second version upon it: layers that are there do not come again, also when
# only the engine has them.
must mkdir "$BED/more"
must cp "$REGATTA_BUILD/lab/tool" "$BED/more"
printf 'FROM test/first:1\nCOPY tool /more\n' >"$BED/more/Dockerfile"
must dk e1 build -q -t test/more:1 "$BED/more" >/dev/null 2>&1
more=$(what_is 1 test/more:1)
dk e1 save test/more:1 -o "$BED/more.tar"
dk e1 rmi test/more:1 >/dev/null
must dk e2 rmi test/first:1 >/dev/null
rm "$CLUSTER"/n*/content/loose/*
load "$BED/more.tar"
is $? 0 "an image upon one that is there goes to all nodes"
ok 'has 1 test/more:1 $more && has 2 test/more:1 $more &&
	has 3 test/more:1 $more' "they have it"
# But containerd's store wants each blob, and Podman, too.
whole=${CONTAINERD_STORE:-0}
[[ $TEST_ENGINE == docker ]] || whole=1
is "$(find "$CLUSTER/n1/content/loose" -size +20M | wc -l)" "$whole" \
	"what lies below was not sent to those that have it"
is "$(find "$CLUSTER/n2/content/loose" -size +20M | wc -l)" 1 \
	"but to the one that has not"
dk e1 rmi test/more:1 >/dev/null
rm "$CLUSTER"/n*/content/loose/*
load "$BED/first.tar"

# Packed, and to one node only.
must random_image e1 test/second:1 4
second=$(what_is 1 test/second:1)
dk e1 save test/second:1 | zstd -q >"$BED/second.tar.zst"
dk e1 rmi test/second:1 >/dev/null
load "$BED/second.tar.zst" --nodes n2
is $? 0 "a packed file to a chosen node"
ok 'has 2 test/second:1 $second && ! has 1 test/second:1 $second' \
	"that one has it, others do not"

# Back into a file, found on the node that has it.
cli image save test/second:1 "$BED/back.tar.gz" 2>"$BED/words"
is $? 0 "an image is saved from the node that has it"
gzip -d <"$BED/back.tar.gz" | dk e3 load >/dev/null
ok 'has 3 test/second:1 $second' "and is whole"
cli image save test/first:1 "$BED/back.tar.gz" 2>"$BED/words"
like "$? $(<"$BED/words")" '2 .*back.tar.gz exists; .*--replace' \
	"a file that exists stays"
cli image save test/none:1 "$BED/none.tar" 2>"$BED/words"
is $? 1 "one that no node has is not saved"
cli image save test/second:1 "$BED/nowhere/x.tar" 2>"$BED/words"
is "$? $(<"$BED/words")" "2 regatta: $BED/nowhere/: No such file or directory" \
	"nor is one asked for that could not be written"
cli image save test/none:1 "$BED/none.tar" 2>"$BED/words"
like "$(<"$BED/words")" 'n1: .*(does not exist|[Nn]o such image)' "and why not"

# A node that stands still in the middle delays only itself; killed, it goes on
# with what it has; the controller may be killed, too.
must random_image e1 test/third:1 60
third=$(what_is 1 test/third:1)
dk e1 save test/third:1 -o "$BED/third.tar"
dk e1 rmi test/third:1 >/dev/null
kill -STOP "$(pid_of cluster/agent2)"
spawn load "$REGATTA_BUILD/regatta" image load "$BED/third.tar" \
	--nodes n1,n2,n3
wait_for 'has 1 test/third:1 $third && has 3 test/third:1 $third' 60
is $? 0 "two nodes have the image while the third stands still"
ok 'alive load' "which is waited for"
agent_kill 2
controller_kill
controller_up
agent_up 2
is "$(code_of load)" 0 "after kills of it and the controller all have it"
ok 'has 2 test/third:1 $third' "that one, too"

# The controller is another one when all have it, and nobody asked yet.
must random_image e1 test/done:1 30
dk e1 save test/done:1 -o "$BED/done.tar"
dk e1 rmi test/done:1 >/dev/null
kill -STOP "$(pid_of cluster/agent3)"
ended()
{
	log_of cluster/controller | grep -c "load has ended"
}
before=$(ended)
spawn told "$REGATTA_BUILD/regatta" image load "$BED/done.tar"
must wait_for 'dk e1 image inspect test/done:1' 60
kill -STOP "$(pid_of told)"
kill -CONT "$(pid_of cluster/agent3)"
must wait_for '(($(ended) > before))' 30
controller_kill
controller_up
must nodes_up 3 20
kill -CONT "$(pid_of told)"
wait_for '! alive told' 30
is "$(code_of told)" 0 "what is done when a controller dies is done"
like "$(log_of told)" 'test/done:1: on 3 of 3 nodes' "and told"

# Nodes get what is here while the rest is still being sent: the command stands
# still in the middle, and only goes on when they have it all so far.
behind() # the controller has some of a part, and so has each node
{
	local part i

	part=$(cd "$CLUSTER/controller/content/partial" && ls)
	[[ $part ]] || return 1
	for i in 1 2 3; do
		(($(wc -c <"$CLUSTER/n$i/content/partial/$part") > 1 << 20)) ||
			return 1
	done
}
must random_image e1 test/fourth:1 60 3
fourth=$(what_is 1 test/fourth:1)
dk e1 save test/fourth:1 -o "$BED/fourth.tar"
dk e1 rmi test/fourth:1 >/dev/null
must proxy_up send "${REGATTA_CONTROLLER#tcp://}" stall $((30 << 20))
REGATTA_CONTROLLER=tcp://$PROXY spawn send "$REGATTA_BUILD/regatta" \
	image load "$BED/fourth.tar"
ok 'wait_for behind 30' "nodes get a part of which not all is sent"
ok 'alive send && ! has 1 test/fourth:1 $fourth' \
	"while the command that sends it stands still"
agent_kill 2
engine_kill e3
engine_start e3
controller_kill
controller_up
agent_up 2
must nodes_up 3 20
proxy_pass send
wait_for '! alive send' 60
is "$(code_of send)" 0 "after kills of one and the controller it goes on"
like "$(log_of send)" 'lost the controller.*back.*on 3 of 3 nodes' "and says so"
ok 'has 1 test/fourth:1 $fourth && has 2 test/fourth:1 $fourth &&
	has 3 test/fourth:1 $fourth' "they all have it"

# Killed in the middle, and run again.
must random_image e1 test/fifth:1 30
fifth=$(what_is 1 test/fifth:1)
dk e1 save test/fifth:1 -o "$BED/fifth.tar"
dk e1 rmi test/fifth:1 >/dev/null
must proxy_up killed "${REGATTA_CONTROLLER#tcp://}" stall $((15 << 20))
REGATTA_CONTROLLER=tcp://$PROXY spawn killed "$REGATTA_BUILD/regatta" \
	image load "$BED/fifth.tar"
wait_for behind 30
end killed KILL
load "$BED/fifth.tar"
is $? 0 "a load that was killed while it sent goes on when it is run again"
ok 'has 1 test/fifth:1 $fifth && has 3 test/fifth:1 $fifth' "to its end"

# Who gives is asked for what it has removed since: no fault of the network's.
alone=$(log_of cluster/controller | grep -c 'cannot get contents')
for i in 1 2; do
	dk "$(node_engine $i)" rmi -f test/fourth:1 >/dev/null
	rm -f "$CLUSTER/n$i"/content/loose/*
done
load "$BED/fourth.tar"
is $? 0 "what nodes removed unasked comes from where it is"
is "$(log_of cluster/controller | grep -c 'cannot get contents')" "$alone" \
	"and none of them is taken for out of reach"

# Whoever stops while it is sent is told so.
kill -STOP "$(pid_of cluster/controller)"
spawn stopped "$REGATTA_BUILD/regatta" image load "$BED/first.tar"
# A shell that is about to become it blocks all signals for a moment, too.
must wait_for '[[ $(<"/proc/$(pid_of stopped)/comm") == regatta ]] &&
	grep -q "^SigBlk:.*[37bf]$" "/proc/$(pid_of stopped)/status"' 20
kill -INT "$(pid_of stopped)"
is "$(code_of stopped)" 130 "Ctrl-C ends it while it is sent"
like "$(log_of stopped)" 'interrupted before everything was sent; the same command' \
	"and what is to be done is told"
kill -CONT "$(pid_of cluster/controller)"

# What is no image.
tar -C "$BED" -cf "$BED/plain.tar" words
load "$BED/plain.tar"
is $? 2 "another tar file is refused"
like "$(<"$BED/words")" 'neither manifest.json' "in words"
head -c 3000000 "$BED/third.tar" >"$BED/cut.tar"
load "$BED/cut.tar"
is $? 2 "and a cut one"
tar -C "$BED" -cPf "$BED/out.tar" --transform 's|^words|../words|' words
load "$BED/out.tar"
is $? 2 "and one that leads out"
blob=blobs/sha256/$(sha256sum "$BED/words" | cut -d' ' -f1)
must mkdir -p "$BED/layout/blobs/sha256"
echo '{"manifests":[]}' >"$BED/layout/index.json"
echo other >"$BED/layout/$blob"
tar -C "$BED/layout" -cf "$BED/layout.tar" .
load "$BED/layout.tar"
is $? 2 "and one with a blob that is damaged"
like "$(<"$BED/words")" 'do not match its name' "in words"
must random_image e1 test/hurt:1 1
dk e1 save test/hurt:1 -o "$BED/hurt.tar"
dk e1 rmi test/hurt:1 >/dev/null
printf x | dd of="$BED/hurt.tar" bs=1 seek=900000 conv=notrunc status=none
gzip -k "$BED/hurt.tar"
for file in hurt.tar hurt.tar.gz; do
	load "$BED/$file"
	is $? 2 "and one with a layer that is damaged"
	like "$(<"$BED/words")" 'the bytes do not match their hash' "in words"
done

# A controller without room.
controller_kill
must small_disk cluster/controller/content 16
controller_up
must nodes_up 3 20
load "$BED/third.tar"
is $? 1 "what does not fit on the controller's disk is not begun"
like "$(<"$BED/words")" 'the controller: blob .*disk full: .* free some space' \
	"and whose disk that is, is told"
done_testing
