#!/bin/bash
# slurm-late.t - on a real Slurm no job starts that would not end in time, a
# limit that is changed counts, and a site's file says how its jobs are sent.
: "${TEST_LIMIT:=600}"
# shellcheck source=tests/lab/slurm-test.sh
. "$(dirname "$0")/../lab/slurm-test.sh"
need docker dockerd containerd
must slurm_bed
must slurm_up a1 a2

# Of two minutes the nodes leave after 90 s: the third job would end at some
# 95 s. Slurm's own warning would come before that.
cat >late.yaml <<END
sweep: late
vendor: cpu
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
command: [/tool, touch, "/host/late-\${n}", ",", sleep, "30"]
matrix: {n: [1, 2, 3]}
END
sed 's/late/longer/' late.yaml >longer.yaml
begun=$EPOCHSECONDS
submit late late.yaml -- -t 2 -w a1 --signal=B:CONT@1
late=$job
submit longer longer.yaml -- -t 2 -w a2 --signal=B:CONT@1
longer=$job
must wait_for '[[ -e host/longer-2 ]]' 90
must scontrol update "jobid=$longer" TimeLimit=20

must wait_for 'grep -q "waits\|no remaining job" late/slurm.log' 120
job=$late
must over 'COMPLETED|FAILED|TIMEOUT'
took=$((EPOCHSECONDS - begun))
is "$(states late) $(cd host && echo late-*)" \
	'["completed","completed","queued"] late-1 late-2' \
	"a job that would not end in time does not start"
like "$(cat late/slurm.log)" \
	"no remaining job would end.*continue with" \
	"when nothing else is left, the run ends and says how it goes on"
ok '((took < 88))' "before its time is over: after $took s"
run regatta slurm --resume "$BED/late" -- -t 5
job=${out##* }

must wait_for '[[ $(slurm_state "$longer") == COMPLETED ]]' 90
is "$(states longer)" '["completed","completed","completed"]' \
	"a limit that is extended gives time to all"
like "$(cat longer/agent.log)" "time limit of the allocation was changed" \
	"the agent noticed"
must over 'COMPLETED|FAILED'
is "$(slurm_state "$job") $(states late)" \
	'COMPLETED ["completed","completed","completed"]' \
	"--resume runs what was late"
nothing late "after all"

# What a site needs.
must scontrol update nodename=a2 AvailableFeatures=fast
must scontrol update nodename=a2 ActiveFeatures=fast
cat >site.sh <<END
#SBATCH --partition=first
#SBATCH --account=science
#SBATCH --constraint=fast
module() { export SITE_MODULES=\$2; }
module load cuda-12
export SITE_SCRATCH=/scratch
END
sed 's/late/site/; s/sleep, "30"/exit, "0"/; s/1, 2, 3/1/' late.yaml >site.yaml
submit site --site site.sh site.yaml -- -t 5
must over 'COMPLETED|FAILED'
is "$(scontrol show job "$job" --oneliner | tr ' ' '\n' |
	grep -E '^(JobState|Partition|Account|Features|NodeList)=' | sort | xargs)" \
	"Account=science Features=fast JobState=COMPLETED NodeList=a2 Partition=first" \
	"a site's file gives partition, account and constraint"
like "$(sed -n '/^module/,/run --slurm/p' site/job.sh)" \
	"module load cuda-12.*exec" "and loads modules before the run"
run regatta slurm --site none.sh site.yaml
like "$rc $err" "^2 .*site" "a file that is not there is a wrong request"

slurm_down
done_testing
