/* export_mlperf_test.c - a result as the lines of an MLPerf log. */
#include "controller/cli/commands/exported.h"
#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <string.h>

static const char want[] =
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":1000,\"event_type\":\"POINT_IN_"
	"TIME\",\"key\":\"submission_benchmark\",\"value\":\"nano\","
	"\"metadata\":{}}\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":1000,\"event_type\":\"POINT_IN_"
	"TIME\",\"key\":\"submission_platform\",\"value\":\"8xA1\","
	"\"metadata\":{}}\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":1000,\"event_type\":\"POINT_IN_"
	"TIME\",\"key\":\"number_of_nodes\",\"value\":2,\"metadata\":{}}\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":1000,\"event_type\":\"POINT_IN_"
	"TIME\",\"key\":\"accelerators_per_node\",\"value\":4,\"metadata\":{}}"
	"\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":1000,\"event_type\":\"POINT_IN_"
	"TIME\",\"key\":\"global_batch_size\",\"value\":64,\"metadata\":{}}\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":1000,\"event_type\":\"INTERVAL_"
	"START\",\"key\":\"run_start\",\"value\":null,\"metadata\":{}}\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":9000,\"event_type\":\"POINT_IN_"
	"TIME\",\"key\":\"train_loss\",\"value\":2.5,\"metadata\":{\"step_"
	"num\":60}}\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":9000,\"event_type\":\"POINT_IN_"
	"TIME\",\"key\":\"train_tokens_per_second\",\"value\":800,\"metadata\":"
	"{\"step_"
	"num\":60}}\n"
	":::MLLOG "
	"{\"namespace\":\"\",\"time_ms\":9000,\"event_type\":\"INTERVAL_"
	"END\",\"key\":\"run_stop\",\"value\":null,\"metadata\":{\"status\":"
	"\"success\"}}\n";

int main(void)
{
	owned(report_rows_clear) struct report_rows rows = rows_of_text(
		"[{\"job\":1,\"cell\":\"a=\\\"1\\\"\",\"state\":\"completed\","
		"\"nodes\":2,\"devices\":8,\"setup\":{\"model\":\"nano\","
		"\"chip\":\"A1\",\"vendor\":\"acme\",\"global_batch\":64},"
		"\"result\":{\"steps\":60,\"tokens_per_second\":800,"
		"\"loss\":{\"first\":9,\"last\":2.5},"
		"\"inputs\":{\"started_ms\":1000,\"ended_ms\":9000}}}]");
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 16);

	tap_begin(60);
	is_int(mllog_write(&rows.items->info, &out, NULL), 0,
	       "a result is written");
	is(out.data, want, "with what it has, and nothing else");
	return tap_done();
}
