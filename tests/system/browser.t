#!/bin/bash
# browser.t - a real browser shows a sweep as it goes, and what is hostile is text.
#
# Pictures stay in build/browser.
# Long: a real browser, which few changes touch.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need curl chromium base64
pictures=$REGATTA_BUILD/browser
mkdir -p "$pictures"

# The browser is driven through its pipe: messages of JSON, each with a NUL.
mkfifo "$BED/to" "$BED/from"
exec 7<>"$BED/to" 8<>"$BED/from"
HOME=$BED spawn chromium bash -c 'exec chromium --headless --no-sandbox \
	--disable-gpu --disable-dev-shm-usage --remote-debugging-pipe \
	--user-data-dir="$1" 3<&7 4>&8' - "$BED/profile"
number=0 session=
# cdp METHOD [PARAMETERS]: sets $result
cdp()
{
	local message

	number=$((number + 1))
	jq -nc --arg session "$session" --arg method "$1" \
		--argjson params "${2-"{}"}" --argjson id "$number" \
		'{id: $id, method: $method, params: $params} +
			if $session == "" then {} else {sessionId: $session} end' |
		tr '\n' '\0' >&7
	while IFS= read -r -t 60 -d '' message <&8; do
		[[ $(jq .id <<<"$message") == "$number" ]] || continue
		result=$(jq -c .result <<<"$message")
		return
	done
	return 1
}
# in_page EXPRESSION: what it is in the page
in_page()
{
	cdp Runtime.evaluate "$(jq -nc --arg e "$1" \
		'{expression: $e, returnByValue: true}')" &&
		jq -r .result.value <<<"$result"
}
# go PATH: the page is loaded, and live
go()
{
	cdp Page.navigate "$(jq -nc --arg url "$1" '{url: $url}')" &&
		wait_for '[[ $(in_page "document.readyState + location.href") \
			== "complete'"$1"'" ]]' 30
}
is_live()
{
	wait_for '[[ $(in_page "document.getElementById(\"state\").textContent") \
		== live ]]' 30
}
picture()
{
	cdp Page.captureScreenshot '{"format": "png"}' &&
		jq -r .data <<<"$result" | base64 -d >"$pictures/$1.png"
}

CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_up 1
mkdir -p "$BED/host/show"
printf '<script>document.title = "taken"</script><img src=x onerror=alert(1)>\n' \
	>"$BED/host/show/hostile"
printf '\033[2J\033]0;taken\007 \xff\xfe <b>bold</b>\n' \
	>>"$BED/host/show/hostile"
must submit_tool show log=auto show /host/hostile , wait /host/go , \
	steps 40 100 , wait /host/end
must wait_job "$JOB" running 30

must cdp Target.createTarget '{"url": "about:blank"}'
must cdp Target.attachToTarget \
	"$(jq -c '{targetId, flatten: true}' <<<"$result")"
session=$(jq -r .sessionId <<<"$result")
must cdp Page.enable
must cdp Runtime.enable
address=$(cli web)
web=${address%/login*}
must cdp Page.navigate "$(jq -nc --arg url "$address" '{url: $url}')"
wait_for '[[ $(in_page location.pathname) == / ]]' 30
is "$(in_page 'document.querySelector("main a").textContent')" show \
	"the address lets the browser in, which sees the sweeps"
picture sweeps

# A board that fills.
go "$web/sweep/$SWEEP"
ok is_live "the page of a sweep is live"
is "$(in_page "document.getElementById('c$JOB').className")" running \
	"its board shows what runs"
touch "$BED/host/show/go"
# So many steps are shown.
steps()
{
	in_page "(document.querySelector('#j$JOB progress') || {value: 0}).value"
}
wait_for '(( $(steps) >= 3 ))' 60
ok '(( $(steps) >= 3 ))' "steps are shown as they come"
picture board

like "$(in_page "document.getElementById('c$JOB').textContent")" '%' \
	"as part of a square of the board"

# A job whose output is hostile.
go "$web/job/$JOB"
ok is_live "the page of a job is live"
is "$(in_page 'document.querySelectorAll("#output *").length')" 0 \
	"its output is text, whatever it holds"
like "$(in_page document.title)" "^Job $JOB" "and runs nothing"
is "$(in_page 'document.getElementById("output").textContent
	.includes("<script>document.title") &&
	!/[\u0000-\u0008\u000b-\u001f]/.test(
		document.getElementById("output").textContent)')" true \
	"it is there, without control characters"
wait_for '[[ $(in_page "document.querySelectorAll(\"#curves svg\").length") \
	== [12] ]]' 60
ok '[[ $(in_page "document.querySelectorAll(\"#curves svg\").length") == [12] ]]' \
	"curves are drawn as they grow"
lines()
{
	in_page 'document.getElementById("output").textContent.split("\n").length'
}
wait_for '(( $(lines) >= 40 ))' 60
ok '(( $(lines) >= 40 ))' "output comes by itself"
picture job

# Narrow, and by the keyboard.
cdp Emulation.setDeviceMetricsOverride \
	'{"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": true}'
ok '(( $(in_page "document.documentElement.scrollWidth") <= 400 ))' \
	"a page fits 400 pixels"
picture job-narrow
go "$web/sweep/$SWEEP"
is_live
ok '(( $(in_page "document.documentElement.scrollWidth") <= 400 ))' \
	"a board, too"
picture board-narrow
in_page "document.getElementById('c$JOB').focus()" >/dev/null
touch "$BED/host/show/end"
done='[[ $(in_page "document.getElementById(\"c'$JOB'\").className") == completed ]]'
wait_for "$done" 60
ok "$done" "what ends is coloured at once"
like "$(in_page "document.getElementById('c$JOB').title")" \
	"^job $JOB, completed, step 40, loss [0-9.]+, [0-9.]+ token/p/s( \\(!\\))?\$" \
	"which says on a pointer how far it came"
like "$(in_page "document.getElementById('j$JOB').innerText")" \
	"completed.[0-9.]+ token/p/s( \(!\))?.n1.40.[0-9]+\.[0-9]+" "as its row does"
is "$(in_page 'document.activeElement.id')" "c$JOB" \
	"and who was at it with the keyboard still is"
for key in rawKeyDown keyUp; do
	cdp Input.dispatchKeyEvent "$(jq -nc --arg type "$key" '{type: $type,
		key: "Enter", code: "Enter", text: "\r",
		windowsVirtualKeyCode: 13}')"
done
cdp Input.dispatchKeyEvent '{"type": "char", "text": "\r"}'
wait_for '[[ $(in_page location.pathname) == /job/* ]]' 30
is "$(in_page location.pathname)" "/job/$JOB" "Enter opens the job"

like "$(in_page 'document.getElementById("head").textContent')" \
	'Step 40, loss [0-9.]+, [0-9.]+ token/p/s' "which says how far it came"

# One that failed: who, and where in the output it says why.
running=$JOB board=$SWEEP
said="RuntimeError: CUDA out of memory. <b>Tried</b> to allocate 2 GiB"
must submit_tool broken retries=0 print 200000 , error "$said" , print 30000 , exit 3
must wait_job "$JOB" failed 30
go "$web/job/$JOB"
like "$(in_page 'document.querySelector("#why p").textContent')" \
	"^Rank 0 on n1 failed first: device-oom$" "who failed first is told"
is "$(in_page 'document.querySelector("#why pre").textContent')" "$said" \
	"with the line that says why"
is "$(in_page 'document.querySelector("#output mark").textContent')" "$said" \
	"its output is shown around that line"
ok '[[ $(in_page "(function (out, at) {
	return at.top >= out.top && at.bottom <= out.bottom; })(
	document.querySelector(\"#output\").getBoundingClientRect(),
	document.querySelector(\"#output mark\").getBoundingClientRect())") == true ]]' \
	"and opens at it"
picture job-failed
in_page 'document.querySelector("#why p a").click()' >/dev/null
wait_for '[[ $(in_page "document.readyState + location.pathname") \
	== complete/log/* ]]' 30
is "$(in_page 'document.querySelector("mark").textContent')" "$said" \
	"and where it stands in 230,000 bytes of output"
ok '(( $(in_page "Math.round(window.scrollY)") > 0 ))' "which is in sight"
like "$(in_page 'document.querySelector("main p").textContent')" \
	"^Job $JOB, rank 0, bytes 1[0-9]+ to 230[0-9]+ of 230[0-9]+\. Previous$" \
	"of which a piece is shown"
picture log
in_page 'document.querySelector("main p a:last-child").click()' >/dev/null
wait_for '[[ $(in_page "document.querySelector(\"main p a:last-child\") \
	.textContent") == Next ]]' 30
like "$(in_page 'document.querySelector("main p").textContent')" \
	" of 230[0-9]+\. Previous Next$" "and a link brings the piece before it"
JOB=$running SWEEP=$board

go "$web/nodes"
like "$(in_page 'document.querySelector("main").textContent')" "n1" "nodes"
picture nodes
go "$web$(in_page 'document.querySelector("main a").getAttribute("href")')"
ok is_live "the page of a node is live"
like "$(in_page 'document.querySelector("main").textContent')" \
	'Policy' "and says what the node refuses"
picture node
go "$web/sweep/$SWEEP/report"
like "$(in_page 'document.body.textContent')" "Sweep $SWEEP" "the report"
ok '(( $(in_page "document.documentElement.scrollWidth") <= 400 ))' \
	"fits as well"
picture report
in_page 'document.querySelector("nav a").click()' >/dev/null
wait_for '[[ $(in_page "document.readyState + location.pathname") \
	== "complete/sweep/$SWEEP" ]]' 30
is "$(in_page location.pathname)" "/sweep/$SWEEP" "and leads back to the board"
go "$web/sweep/$SWEEP/report"

# On paper of A4: nothing that only a scroll bar would show.
cdp Emulation.setDeviceMetricsOverride \
	'{"width": 700, "height": 1000, "deviceScaleFactor": 1, "mobile": false}'
cdp Emulation.setEmulatedMedia '{"media": "print"}'
hidden()
{
	in_page 'Array.from(document.querySelectorAll("main, body, .wide, pre"))
		.filter(e => e.scrollWidth > 700).map(e => e.className || e.tagName)
		.join(" ")'
}
is "$(hidden)" "" "a report fits on paper"
picture report-print
for page in "sweep/$SWEEP" "job/$JOB" nodes; do
	go "$web/$page"
	is "$(hidden)" "" "and so does $page"
done
is "$(in_page 'getComputedStyle(document.querySelector("nav")).display')" none \
	"without what only leads elsewhere"
end chromium
exec 7>&- 8>&-
done_testing
