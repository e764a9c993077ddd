/* html_style.c - how pages look: light, dark, and on paper.
 */
#include "controller/report/html_style.h"

#include "controller/report/html_text.h"

static const char html_style[] =
	":root{--ink:#1b1f24;--paper:#fff;--faint:#d5dae0;--mute:#5b6570;"
	"--bar:#dbe7f5;--bad:#b3261e;"
	"--c0:#0b62c4;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;"
	"--c4:#b91c5c;--c5:#0e7490;--c6:#a16207;--c7:#475569}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e4e8ec;"
	"--paper:#14181d;--faint:#343b44;--mute:#9aa5b1;--bar:#233a57;"
	"--bad:#ff8a80;--c0:#6cb0ff;--c1:#ff9a62;--c2:#5ad98a;--c3:#c99bff;"
	"--c4:#ff85b3;--c5:#5fd3ea;--c6:#f0c35a;--c7:#a8b5c4}}\n"
	"@media print{:root{--ink:#000;--paper:#fff;--faint:#bbb;--mute:#333;"
	"--bar:#e3e3e3}}\n"
	"body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);"
	"background:var(--paper);margin:2em auto;max-width:1180px;"
	"padding:0 1em}\n"
	"h1{font-size:1.5em}h2{font-size:1.1em;margin-top:2em}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse}\n"
	"th,td{padding:.25em .7em;border-bottom:1px solid var(--faint);"
	"text-align:left;vertical-align:top}\n"
	"th{color:var(--mute);font-weight:600}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums}"
	"td.n{white-space:nowrap}.wide "
	"td:first-child{min-width:9em}li{overflow-wrap:anywhere}\n"
	"body>table{display:block;overflow-x:auto}\n"
	".bar{background:linear-gradient(90deg,var(--bar) var(--w),"
	"transparent var(--w))}\n"
	"a{color:var(--c0)}nav{margin:-1em 0 1em}\n"
	".bad{color:var(--bad)}.mute{color:var(--mute)}\n"
	".charts{display:flex;flex-wrap:wrap;gap:1em}\n"
	"figure{margin:0;flex:1 1 min(480px,100%);"
	"max-width:560px}\n"
	"figcaption span{display:inline-block;margin-right:1em;"
	"font-size:.85em}\n"
	".chart{width:100%;height:auto}.chart text{fill:var(--ink)}\n"
	".chart .axis{font-size:11px;fill:var(--mute)}\n"
	".chart .name{font-size:13px;font-weight:600}\n"
	".grid{stroke:var(--faint);stroke-width:1}\n"
	".chart path{stroke-width:1.6;stroke-linecap:round;"
	"stroke-linejoin:round}\n"
	".l0{stroke:var(--c0)}.l1{stroke:var(--c1)}.l2{stroke:var(--c2)}"
	".l3{stroke:var(--c3)}.l4{stroke:var(--c4)}.l5{stroke:var(--c5)}"
	".l6{stroke:var(--c6)}.l7{stroke:var(--c7)}\n"
	".k0{color:var(--c0)}.k1{color:var(--c1)}.k2{color:var(--c2)}"
	".k3{color:var(--c3)}.k4{color:var(--c4)}.k5{color:var(--c5)}"
	".k6{color:var(--c6)}.k7{color:var(--c7)}\n"
	".f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}"
	".f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}"
	".f6{fill:var(--c6)}.f7{fill:var(--c7)}\n"
	".band{fill:var(--bar)}.spread{stroke:var(--ink);stroke-width:1.5}"
	".limit{stroke:var(--bad);stroke-width:2;stroke-dasharray:3 2}\n"
	"dl{display:grid;grid-template-columns:max-content minmax(0,1fr);"
	"gap:.2em "
	"1em}dt{color:var(--mute)}dd{margin:0;overflow-wrap:anywhere}\n"
	"pre{overflow-x:auto;background:var(--bar);padding:.6em;"
	"font-size:.85em}summary{cursor:pointer}\n"
	"details{margin:.4em 0}.lead{font-size:1.1em}\n"
	"@media print{@page{margin:12mm}body{margin:0;padding:0;"
	"max-width:none;font-size:13px}nav{display:none}a{color:inherit}"
	"tr,figure{break-inside:avoid}h2{break-after:avoid}"
	".wide{overflow:visible}.wide table{width:100%;font-size:11px}"
	".wide th,.wide td{padding:.2em .35em}"
	".wide td.n{white-space:normal}"
	".wide td:first-child{overflow-wrap:anywhere}pre{white-space:pre-wrap}"
	".bar{print-color-adjust:exact}"
	".charts{display:grid;grid-template-columns:1fr 1fr}}\n";

int html_begin(const char *language, const char *title, struct buffer *out,
	       struct error *err)
{
	if (buffer_printf(out, err,
			  "<!doctype html>\n<html lang=\"%s\"><head>"
			  "<meta charset=\"utf-8\">\n"
			  "<meta name=\"viewport\" "
			  "content=\"width=device-width\">\n"
			  "<style>\n%s</style>\n<title>",
			  language, html_style) < 0 ||
	    html_text(out, title, err) < 0)
		return -1;
	return buffer_text(out, "</title></head>\n<body>\n", err);
}
