#!/bin/bash
# web.t - what a controller answers over HTTP, and what it refuses.
#
# The controller alone: nothing runs.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need curl openssl jq

# get PATH [CURL ARGUMENT...]: the status; head and body in $BED/head, body
get()
{
	local path=$1

	shift
	curl -s --max-time 20 -o "$BED/body" -D "$BED/head" -w '%{http_code}' \
		"$@" "$web$path"
}

CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_keys
must controller_up
web=$(web_at cluster/controller)
like "$web" '^http://127\.0\.0\.1:[0-9]+$' "the log names the address"

# Figures.
is "$(get /metrics)" 200 "/metrics is there"
body=$(<"$BED/body")
like "$body" 'regatta_jobs\{state="queued"\} 0' "figures of jobs"
like "$body" '# TYPE regatta_log_received_bytes_total counter' \
	"in the format of Prometheus"
get /metrics -H 'Accept: application/openmetrics-text' >/dev/null
ok '[[ $(tail -1 "$BED/body") == "# EOF" ]]' "or in OpenMetrics"
if command -v promtool >/dev/null; then
	get /metrics >/dev/null
	run promtool check metrics <"$BED/body"
	promtool check metrics <"$BED/body" >"$BED/lint" 2>&1
	is "$?:$(<"$BED/lint")" "0:" "promtool finds no fault in them"
fi

# What is no request for a page.
is "$(get /metrics -X POST -d x=1)" 405 "nothing is taken in"
is "$(get /metrics -X DELETE)" 405 "nothing is removed"
is "$(get /../../etc/passwd --path-as-is)" 403 "no file is read"
is "$(get /metrics -X GET -d x=1)" 000 "a GET with a body is cut off"
get /metrics >/dev/null
like "$(<"$BED/head")" "Content-Security-Policy: default-src 'none'" \
	"no page may load what is not ours"
ok '! grep -qi unsafe "$BED/head"' "nor run what stands in it"
like "$(<"$BED/head")" 'X-Content-Type-Options: nosniff' \
	"and types are what they are called"
is "$(curl -s --max-time 20 -o /dev/null -w '%{http_code}' \
	-H "X: $(printf '%020000d' 0)" "$web/metrics")" 431 \
	"a head of 20,000 bytes is refused"

# Who may look.
is "$(get /)" 403 "no page without a login"
is "$(get /live?page=/)" 403 "nor what changes in it"
is "$(get "/login?ticket=$(printf '%064d' 0)")" 403 "a wrong address lets nobody in"
address=$(cli web)
like "$address" "^$web/login\\?ticket=[0-9a-f]{64}\$" "regatta web prints one"
is "$(cli web 2>&1 >/dev/null)" "" "and no more on this machine"
# A name that does not look like it.
run cli web --controller "tcp://Localhost:${REGATTA_CONTROLLER##*:}"
like "$rc $err" \
	"^0 .*ssh -N -L ${web##*:}:127\.0\.0\.1:${web##*:} Localhost\$" \
	"elsewhere, the tunnel through which it works"
is "$(get "${address#"$web"}" -c "$BED/jar")" 303 "it lets in,"
like "$(<"$BED/head")" \
	'Set-Cookie: [^;]*; Max-Age=43200; Path=/; HttpOnly; SameSite=Lax' \
	"with a cookie that no script and no other page has"
is "$(get "${address#"$web"}")" 403 "once"
look() # PATH [CURL ARGUMENT...]
{
	get "$@" -b "$BED/jar"
}
is "$(look /)" 200 "then pages are there"

# Pages.
cat >"$BED/sweep.yaml" <<'END'
sweep: pages
image: none@sha256:0000000000000000000000000000000000000000000000000000000000000000
matrix: {a: [1, "<script>alert(1)</script>\"'&"]}
command: [x, "${a}"]
env: {PASSWORD: s3cret-word}
END
look / >/dev/null
like "$(<"$BED/body")" 'No sweep has been submitted yet. .*regatta submit SWEEP' \
	"an empty list says how it is filled"
look /nodes >/dev/null
like "$(<"$BED/body")" 'No node has joined yet. .*regatta node token' \
	"so does that of nodes"
must submit "$BED/sweep.yaml"
for path in / "/sweep/$SWEEP" "/sweep/$SWEEP/1" "/sweep/$SWEEP/report" /job/2 \
	/nodes; do
	is "$(look "$path")" 200 "$path is a page"
	ok '! grep -q "<script>alert\|s3cret" "$BED/body"' \
		"with what others wrote escaped, and no secret"
done
for path in /sweep/9 /job/9 /sweep/ /job/-1 /job/1x /nodes/0/0/0 /sweep/9/report /node/1 /log/9/0/0 \
	/log/1/0/0/0 /job/1/0/0 \
	/job/99999999999999999999 /nothing /etc/passwd; do
	is "$(look "$path")" 404 "$path is none"
done
look "/sweep/$SWEEP" >/dev/null
like "$(<"$BED/body")" '<th scope="col">a=1</th>' \
	"a board has a column for each value"
like "$(<"$BED/body")" 'a=&lt;script&gt;alert\(1\)&lt;/script&gt;&quot;&#39;&amp;' \
	"a cell is text"

# What changes comes by itself, and to who shows the rest already it alone.
shape=$(grep -o 'shape=[0-9a-f]*' "$BED/body")
state=$(grep -o 'state=[0-9a-f]*' "$BED/body")
spawn same curl -sND "$BED/same.head" -b "$BED/jar" \
	"$web/live?page=/sweep/$SWEEP/0&$shape&$state"
wait_for '[[ -s $BED/same.head ]]' 20
spawn stream curl -sN -b "$BED/jar" "$web/live?page=/sweep/$SWEEP&$shape"
wait_for 'grep -q "data: j2" "$BED/stream.log"' 20
ok '! grep -q cancelled "$BED/stream.log"' "an open page has its parts"
look /job/2 >/dev/null
spawn late curl -sN -b "$BED/jar" \
	"$web/live?page=/job/2&$(grep -o 'shape=[0-9a-f]*' "$BED/body")"
wait_for 'grep -q "data: head" "$BED/late.log"' 20
cli cancel "$SWEEP" >/dev/null
wait_for 'grep -q "id=\"j2\".*cancelled" "$BED/stream.log"' 20
ok 'grep -q "id=\"j2\".*cancelled" "$BED/stream.log"' "and those that change"
wait_for 'grep -q "id=\"j2\".*cancelled" "$BED/same.log"' 20
ok '! grep -q "id=\"j2\".*queued" "$BED/same.log"' \
	"which are all that one gets who showed the others"
end same
wait_for 'grep -q cancelled "$BED/late.log"' 20
ok 'grep -q cancelled "$BED/late.log"' \
	"even as soon as it has been opened"
end late
spawn other curl -sN -b "$BED/jar" "$web/live?page=/sweep/$SWEEP&shape=1"
wait_for 'grep -q "data: main" "$BED/other.log"' 20
ok 'grep -q "<main id=\"main\">" "$BED/other.log"' \
	"a page with other parts gets all of it"
end other

# A new sweep comes to everybody, and nobody has to ask.
look / >/dev/null
shape=$(grep -o 'shape=[0-9a-f]*' "$BED/body")
state=$(grep -o 'state=[0-9a-f]*' "$BED/body")
for i in {1..12}; do
	printf 'url = "%s/live?page=/&%s&%s"\noutput = "%s/list.%s"\n' "$web" \
		"$shape" "$state" "$BED" "$i"
done >"$BED/lists"
spawn lists curl -sNZ --parallel-immediate -b "$BED/jar" -K "$BED/lists"
printf 'sweep: newer\nimage: none\ncommand: [a]\n' >"$BED/newer.yaml"
must cli submit "$BED/newer.yaml"
wait_for '(($(grep -l newer "$BED"/list.* | wc -l) == 12))' 20
is "$(grep -l newer "$BED"/list.* | wc -l) $(cat "$BED"/list.* |
	grep -c 'event: reload')" "12 0" "a new sweep comes to all who look"
ok 'grep -qF "data: <tr id=\"s$SWEEP\">" "$BED/list.1"' "beside those that were there"
end lists

# Who floods is refused, and the controller works on.
seq 1 600 | sed "s|.*|url = $web/metrics\noutput = /dev/null|" >"$BED/flood"
curl -s --max-time 60 -Z --no-progress-meter --parallel-max 50 -K "$BED/flood" \
	-w '%{http_code}\n' | sort | uniq -c >"$BED/codes"
ok 'grep -q " 200$" "$BED/codes" && grep -q " 503$" "$BED/codes"' \
	"more requests than $(tr -s ' \n' ' ' <"$BED/codes")are 503"
ok 'cli nodes &>/dev/null' "while commands are answered"
must controller_stop
wait_for '! alive stream' 20
ok '! alive stream' "open pages do not keep a controller from ending"

# Who listens where.
controller_fails() # ARGUMENT...
{
	run "$REGATTA_BUILD/regatta-controller" --listen 'tcp://127.0.0.1:*' \
		--key "$CLUSTER/controller.key" --keys "$CLUSTER/authorized" \
		--state "$CLUSTER/other" --images "$REGATTA_BUILD/images" "$@"
}
controller_fails --web 0.0.0.0:0
like "$rc $err" "^2 .*not valid here without a certificate" \
	"plain HTTP is for this machine alone"
controller_fails --web nowhere
like "$rc $err" "^2 .*expected ADDRESS:PORT" "an address has a port"
controller_fails --web 127.0.0.1:0 --web-certificate "$CLUSTER/n.crt"
like "$rc $err" "^2 .*missing web-certificate or web-key" "a certificate has a key"

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=regatta \
	-addext subjectAltName=IP:127.0.0.1 -keyout "$BED/web.key" \
	-out "$BED/web.crt" 2>/dev/null
CONTROLLER_ARGS=(--web 0.0.0.0:0 --web-certificate "$BED/web.crt"
	--web-key "$BED/web.key")
rm -f "$CLUSTER/endpoint" "$BED/cluster/controller.log"
must controller_up
web=$(web_at cluster/controller)
web=https://127.0.0.1:${web##*:}
is "$(get /metrics --cacert "$BED/web.crt")" 200 "with one it is HTTPS"
like "$(cli web)" '^https://' "its address says so"
is "$(curl -s --max-time 20 -o /dev/null -w '%{http_code}' \
	--tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0 --cacert "$BED/web.crt" \
	"$web/metrics")" 000 "of TLS 1.2 at least"
done_testing
