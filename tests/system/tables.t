#!/bin/bash
# tables.t - pandas and R read the CSV of a sweep as it is.
#
# Long: R and pandas, which nothing else needs.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need docker dockerd containerd Rscript /usr/bin/python3
/usr/bin/python3 -c 'import pandas' 2>"$BED/words" || die "$(<"$BED/words")"

must engine_up one
must tool_image one
unset REGATTA_CONFIG
export HOME=$BED XDG_CONFIG_HOME=$BED/config
DOCKER_HOST=$(engine_host one)
export DOCKER_HOST
cd "$BED" || exit 1
# What completes and what does not; texts that try to break a table.
cat >sweep.yaml <<'END'
sweep: rows
image: regatta-test/tool:1
log: auto
model: gpt-nano
retries: 0
repeat: 2
matrix:
  note: ["x, y", "say \"z\"", "ä;\t'#"]
  batch.micro: [1, 2]
  code: [0, 3]
exclude: [{note: "x, y", code: 3}, {note: "ä;\t'#", code: 3}]
command: [/tool, error, "${note}", ",", steps, "30", "5", ",", exit,
  "${code}"]
END
run regatta run sweep.yaml --state kept
is $rc 1 "a sweep of jobs, some of which fail"
csv=kept/report.csv
is "$(jq '.rows | length' kept/report.json)" 16 "has a row for each"
# Of both: rows, the columns' types, what a column comes to, and texts.
cat >read.py <<'END'
import pandas, sys
table = pandas.read_csv(sys.argv[1])
good = table[table["state"] == "completed"]
print(len(table), len(good), table["cell.batch.micro"].sum(),
      len(table["cell.note"].unique()))
for name in ("tokens_per_second", "iteration_ms_median", "loss_last", "wall_s"):
    print(name, pandas.api.types.is_numeric_dtype(table[name]),
          bool(good[name].notna().all()), round(good[name].mean(), 3))
print(pandas.to_datetime(good["started_utc"]).notna().all())
print("|".join(table["cell.note"].unique()))
print(table[table["state"] == "failed"]["text"].iloc[0])
print(table["sweep_name"].iloc[0], table["model"].iloc[0])
END
cat >read.R <<'END'
table <- read.csv(commandArgs(TRUE)[1], check.names = FALSE)
good <- table[table$state == "completed", ]
yes <- function(x) if (x) "True" else "False"
cat(nrow(table), nrow(good), sum(table$cell.batch.micro),
    length(unique(table$cell.note)), "\n")
for (name in c("tokens_per_second", "iteration_ms_median", "loss_last",
               "wall_s"))
  cat(name, yes(is.numeric(table[[name]])), yes(!anyNA(good[[name]])),
      round(mean(good[[name]]), 3), "\n")
cat(yes(!anyNA(as.POSIXct(good$started_utc, format = "%Y-%m-%dT%H:%M:%SZ"))),
    "\n")
cat(unique(table$cell.note), sep = "|")
cat("\n")
cat(table[table$state == "failed", ]$text[1], "\n")
cat(table$sweep_name[1], table$model[1], "\n")
END
run /usr/bin/python3 read.py $csv
is $rc 0 "pandas reads it" || diag "$err"
pandas=$(sed 's/\.0*$//; s/ *$//' <<<"$out")
like "$pandas" $'^16 12 24 3\n.*True True.*\nTrue\n' \
	"numbers are numbers, times are times"
like "$pandas" $'\nx, y\|say "z"\|ä;\'\t\'#\n' "and texts what they were"
like "$pandas" 'rank 0 exited with code 3' "and why a job failed"
like "$pandas" $'\nrows gpt-nano$' "and what was run in each row"
# What Grafana's sources of CSV (Infinity, CSV) ask of a table: RFC 4180 with a
# header, each row as wide as it, and times of ISO 8601.
cat >strict.py <<'END'
import csv, datetime, sys
text = open(sys.argv[1], "rb").read()
rows = list(csv.DictReader(text.decode("utf-8").splitlines(True), strict=True,
                           restkey="more", restval="less"))
print(len(rows), text.endswith(b"\r\n"),
      any("more" in row or "less" in row.values() for row in rows))
for row in rows:
    for name in row:
        if name.endswith("_utc") and row[name]:
            datetime.datetime.strptime(row[name], "%Y-%m-%dT%H:%M:%SZ")
END
run /usr/bin/python3 strict.py $csv
is "$rc $out" "0 16 True False" "it is CSV by the letter, as Grafana's sources take" ||
	diag "$err"
run Rscript --vanilla read.R $csv
is $rc 0 "R reads it" || diag "$err"
is "$(sed 's/\.0*$//; s/ *$//' <<<"$out")" "$pandas" "and finds the same"
done_testing
