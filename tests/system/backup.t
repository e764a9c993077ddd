#!/bin/bash
# backup.t - a controller made from a backup goes on with the jobs that run.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 2 one

must submit_tool early print 1000
must wait_job "$JOB" completed 20
early=$JOB
must submit_tool long append /host/runs x , print 3000 , wait /host/go , print 5000
long=$JOB
must wait_job "$long" running 20
must wait_for '(($(log_size "$long") > 0))' 20

mkdir -p "$CLUSTER/controller/backup.tar.gz.part/x"
run regatta backup "$BED/b.tar.gz"
like "$rc $err" "^1 .*backup failed: .*backup.tar.gz" "a failure has its reason"
rm -r "$CLUSTER/controller/backup.tar.gz.part"
run regatta backup "$BED/b.tar.gz"
is $rc 0 "a backup is made while jobs run"
is "$(stat -c %a "$BED/b.tar.gz")" 600 "it is for the owner's eyes only"
is "$(tar tzf "$BED/b.tar.gz" | head -2 | tr '\n' ' ')" \
	"regatta-backup regatta.db " "it is a tar file"
ok '! tar xzOf "$BED/b.tar.gz" | finds -aF "$(sed -n "s/^secret: //p" \
	"$CLUSTER/controller.key")"' "the controller's key is not in it"
run regatta backup "$BED/b.tar.gz"
like "$rc $err" "^2 .*b.tar.gz exists; .*--replace" "one that exists stays"
run regatta backup "$BED/b.tar.gz" --replace
is $rc 0 "unless it is asked for"
ok '[[ ! -e $CLUSTER/controller/backup.tar.gz* ]]' \
	"nothing of it is left in the state folder"
like "$(regatta audit --tail 1)" "backup .*done" "it is in the audit log"

# What came later is lost with the machine.
must submit_tool later append /host/runs x , wait /host/go
must wait_job "$JOB" running 20
later=$JOB
must regatta cancel job "$later" 2>/dev/null
must submit_tool stray append /host/runs x , sleep 1000
must wait_job "$JOB" running 20
must controller_kill
mv "$CLUSTER/controller" "$BED/lost"

# A folder that is not empty, a file that is none.
mkdir "$CLUSTER/controller" && touch "$CLUSTER/controller/x"
run regatta-controller restore "$BED/b.tar.gz" --state "$CLUSTER/controller"
like "$rc $err" "^2 .*not empty" "nothing is written over"
rm "$CLUSTER/controller/x"
head -c 5000 /dev/urandom >"$BED/none"
run regatta-controller restore "$BED/none" --state "$CLUSTER/controller"
ok '((rc > 0)) && [[ ! -e $CLUSTER/controller/regatta.db ]]' \
	"what is no backup makes no controller"
head -c 3000 "$BED/b.tar.gz" >"$BED/half"
run regatta-controller restore "$BED/half" --state "$CLUSTER/controller"
ok '((rc > 0)) && [[ ! -e $CLUSTER/controller/regatta.db ]]' \
	"nor does half of one"
rm -rf "$CLUSTER/controller"
mkdir -p "$BED/evil/logs" && ln -s /etc/passwd "$BED/evil/logs/link"
echo 1 >"$BED/evil/regatta-backup"
tar czf "$BED/evil.tar.gz" -C "$BED/evil" regatta-backup logs/link
run regatta-controller restore "$BED/evil.tar.gz" --state "$CLUSTER/controller"
like "$rc $err" "^[12] .*logs/link.* does not belong" "links are refused"
rm -rf "$CLUSTER/controller"

run regatta-controller restore "$BED/b.tar.gz" --state "$CLUSTER/controller"
is $rc 0 "a backup is restored"
is "$(find "$CLUSTER/controller" -type f ! -perm 600 -o -type d ! -perm 700)" \
	"" "for its owner's eyes only"
must controller_up
must nodes_up 2 20
is "$(job_get "$early" .state)" completed "what completed is there"
ok 'log_is "$early" 1 0 print 1000' "with its output"
ok 'wait_for "[[ \$(containers e1 | wc -l) == 1 ]]" 20' \
	"what the backup does not know is removed from the nodes"
touch "$BED/host/long/go"
ok 'wait_job "$long" completed 30' "what ran is taken up, and completes"
ok 'intact "$long" append /dev/null x , print 3000 , wait "$BED/host/long/go" , \
	print 5000' "in its first attempt, every byte once"
done_testing
