/* export_test.c - a job of cards as FlagPerf's base suite leaves it.
 */
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/cli_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* Two cards, read twice; the second has no power the second time. */
static const char samples[] =
	"{\"trace\":1,\"node\":\"n1\",\"rank\":0,\"time_ms\":1790000000000,"
	"\"interval_ms\":1000,\"clock\":true,\"offset_ms\":0,"
	"\"round_trip_ms\":1,\"devices\":[],\"columns\":[\"temp_c\",\"power_"
	"w\","
	"\"mem_used_mib\",\"mem_total_mib\",\"util_pct\"],"
	"\"host\":[\"cpu_pct\",\"mem_used_mib\",\"power_w\"]}\n"
	"{\"t\":1790000000000,\"d\":[[4,45,220.504,100,65536,97],"
	"[5,46,221,200,65536,98]]}\n"
	"{\"t\":1790000000000,\"h\":[50,512,1800]}\n"
	"{\"t\":1790000001000,\"d\":[[4,47,230,100,65536,97],"
	"[5,48,null,200,65536,98]]}\n";

static const char output[] = "hello\n"
			     "[FlagPerf Result]Rank 0's m=19.5TFLOPS\n"
			     "bye\n";

#define JOB(id, vendor, suite, name)                                           \
	"{\"job\":{\"job\":" id ",\"attempt\":1,\"state\":\"completed\","      \
	"\"ended_ms\":1790000002000,\"allocation\":[\"n1\"],"                  \
	"\"streams\":[{\"stream\":\"rank-0\",\"bytes\":60}],"                  \
	"\"spec\":{\"nodes\":1,\"devices\":2,\"vendor\":\"" vendor "\","       \
	"\"values\":{\"case\":\"" name "\"},"                                  \
	"\"container\":{\"argv\":[\"python3\",\"main.py\"]},"                  \
	"\"measure\":{\"framework\":\"" suite "\"}}}}"

static void answer(struct wire_peer *peer, const struct message_query *query)
{
	const char *json = "{}";

	if (query->what == QUERY_SWEEP)
		json = "{\"sweep\":{\"id\":1,\"submitted_ms\":1790000000000}}";
	else if (query->what == QUERY_JOBS)
		json = "{\"jobs\":[{\"job\":5},{\"job\":6},{\"job\":7},"
		       "{\"job\":8},{\"job\":9}],\"more\":false}";
	else if (query->what == QUERY_NODES)
		json = "{\"nodes\":[{\"name\":\"n1\",\"address\":\"10.0.0.1\","
		       "\"facts\":{\"memory_bytes\":1073741824}}],"
		       "\"more\":false}";
	else if (query->id == 5)
		json = JOB("5", "cambricon", "operation", "m:FP32:1:native:M");
	else if (query->id == 6)
		json = JOB("6", "kunlunxin", "inference", "m:pytorch_2.1");
	else if (query->id == 7)
		json = JOB("7", "metax", "base", "computation-FP32:C500");
	else if (query->id == 8)
		json = JOB("8", "hygon", "base", "computation-FP32:K100");
	else if (query->id == 9)
		json = JOB("9", "kunlunxin", "base", "computation-FP32:R310p");
	fake_reply(peer, query->request, json, NULL, 0);
}

static void fake_export(struct fake *fake, struct wire_peer *peer,
			enum message_type type, void *body, const void *payload,
			size_t size)
{
	const struct message_log_read *read = body;
	const char *text = output;
	char json[100];

	if (type == MESSAGE_QUERY)
		answer(peer, body);
	if (type != MESSAGE_LOG_READ)
		return;
	if (!strcmp(read->stream, "samples-0"))
		text = samples;
	/* In pieces that are no lines. */
	size = strlen(text) - (size_t)read->offset;
	if (size > 100)
		size = 100;
	snprintf(json, sizeof(json),
		 "{\"offset\":%llu,\"size\":%zu,\"length\":%zu}",
		 (unsigned long long)read->offset, size, strlen(text));
	fake_reply(peer, read->request, json, text + read->offset, size);
}

static void file_is(const char *folder, const char *file, const char *want,
		    const char *name)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	file_read(AT_FDCWD, path, &text, NULL);
	is(text.size ? text.data : "", want, "%s", name);
}

#define METAX "computation-FP32:C500/10.0.0.1_noderank0/"
#define HYGON "computation-FP32:K100/10.0.0.1_noderank0/"
#define KUNLUNXIN "computation-FP32:R310p/10.0.0.1_noderank0/"
#define OPERATION "m:FP32:1:native:M/"
#define INFERENCE "m:pytorch_2.1/10.0.0.1_noderank0/"

static void test_export(struct bed *bed)
{
	char folder[300];

	bed_serve(bed, fake_export);
	is_int(bed_run(bed, "export", "flagperf", "1", bed_file(bed, "out"),
		       "--images", "images", NULL),
	       0, "a sweep is exported");
	snprintf(folder, sizeof(folder), "%s/run20260921141320",
		 bed_file(bed, "out"));
	file_is(folder, METAX "metax_monitor.log",
		"2026-09-21-14:13:20\n45C 220.5W 100/65536 MiB\n"
		"46C 221W 200/65536 MiB\n\n"
		"2026-09-21-14:13:21\n47C 230W 100/65536 MiB\n"
		"48C N/A 200/65536 MiB\n\n",
		"devices stand in the log of FlagPerf's monitor, in the form "
		"of the vendor");
	file_is(folder, HYGON "dcu_monitor.log",
		"2026-09-21-14:13:20\n45C 220.5W 100MiB 65536MiB 97%\n"
		"46C 221W 200MiB 65536MiB 98%\n\n"
		"2026-09-21-14:13:21\n47C 230W 100MiB 65536MiB 97%\n"
		"48C N/A 200MiB 65536MiB 98%\n\n",
		"under FlagPerf's name for the vendor");
	file_is(folder, KUNLUNXIN "kunlunxin_monitor.log",
		"2026-09-21-14:13:20\n45C 220.5W 100MiB 65536MiB 97%\n"
		"46C 221W 200MiB 65536MiB 98%\n\n"
		"2026-09-21-14:13:21\n47C 230W 100MiB 65536MiB 97%\n"
		"48C N/A 200MiB 65536MiB 98%\n\n",
		"with the units that FlagPerf's analysis looks for");
	file_is(folder, OPERATION "10.0.0.1_noderank0/cambricon_monitor.log",
		"2026-09-21-14:13:20\n45C 220.5 100 65536 97%\n"
		"46C 221 200 65536 98%\n\n"
		"2026-09-21-14:13:21\n47C 230 100 65536 97%\n"
		"48C N/A 200 65536 98%\n\n",
		"where the operation suite has a line of its own");
	file_is(folder, INFERENCE "kunlunxin_monitor.log",
		"2026-09-21-14:13:20\n xpu_smi 45 220.5 100 65536 97\n"
		" xpu_smi 46 221 200 65536 98\n\n"
		"2026-09-21-14:13:21\n xpu_smi 47 230 100 65536 97\n"
		" xpu_smi 48 N/A 200 65536 98\n\n",
		"and the inference");
	file_is(folder, METAX "pwr_monitor.log", "2026-09-21-14:13:20\t1800\n",
		"beside those of the machine");
	file_is(folder, METAX "benchmark.log.txt", output, "and the output");
	file_is(folder, OPERATION "10.0.0.1_noderank0/operation.log.txt",
		output, "the output of an operation");
#define DETAIL                                                                 \
	"{\"10.0.0.1\":{\"flagperf\":[\"[FlagPerf Result]Rank 0's "            \
	"m=19.5TFLOPS\"],\"cpu\":[0.5],\"mem\":[0.5],\"pwr\":[1800],"          \
	"\"vendor\":{\"temp\":{\"0\":[45,47],\"1\":[46,48]},"                  \
	"\"power\":{\"0\":[220.504,230],\"1\":[221]},"                         \
	"\"mem\":{\"0\":[100,100],\"1\":[200,200]},\"max_mem\":65536}}}"
	file_is(folder, "computation-FP32:C500/detail_result.json", DETAIL,
		"each case has what FlagPerf makes of its logs");
	file_is(folder, OPERATION "detail_result.json", DETAIL,
		"also of the operation suite");
	file_is(folder, "detail_result.json", DETAIL,
		"the run has that of its last case");
	bed_unserve(bed);
}

int main(void)
{
	struct bed bed;

	tap_begin(60);
	bed_init(&bed);
	test_export(&bed);
	bed_clear(&bed);
	return tap_done();
}
