#!/bin/bash
# compliance.t - MLCommons' checker looks at an MLPerf log, where it is installed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# Another folder's modules would run with the user's rights.
mkdir -p "$BED/here" "$BED/modules/mlperf_logging/compliance_checker"
cd "$BED/here" || exit
echo 'raise SystemExit(77)' | tee runpy.py mlperf_logging.py argparse.py >/dev/null
echo ':::MLLOG {"key": "fjord"}' | tee good.log ./-bad.log >/dev/null

run env PYTHONPATH= regatta verify --mlperf good.log
is $rc 2 "without the checker, the request cannot be met"
like "$err" 'mlperf_logging is not installed.*https://github.com/mlcommons/logging' \
	"and what to install is said"

# A checker that says what it is asked, and has MLCommons' exit codes.
touch "$BED"/modules/mlperf_logging/{,compliance_checker/}__init__.py
cat >"$BED/modules/mlperf_logging/compliance_checker/__main__.py" <<'END'
import argparse, sys
parser = argparse.ArgumentParser()
parser.add_argument('filename')
parser.add_argument('--ruleset', default='newest')
parser.add_argument('--log_output', default='compliance_checker.log')
given = parser.parse_args()
print(given.ruleset, given.log_output, open(given.filename).read().strip())
bad = 'bad' in given.filename
print('FAILED' if bad else 'SUCCESS', file=sys.stderr)
sys.exit(1 if bad else 0)
END
export PYTHONPATH=$BED/modules
run regatta verify --mlperf good.log
is "$rc $out" '0 newest /dev/null :::MLLOG {"key": "fjord"}' \
	"the checker reads the log and leaves no file"
is "$err" SUCCESS "its verdict is shown"
run regatta verify --mlperf good.log --ruleset 5.1.0
like "$rc $out" '^0 5\.1\.0 ' "it checks the rules that are asked for"
run regatta verify --mlperf=-bad.log
is "$rc $err" "1 FAILED" "what it finds wrong fails, whatever the name of the log"
run regatta verify --mlperf nowhere.log
is $rc 2 "a log that is not there is a wrong request"
done_testing
