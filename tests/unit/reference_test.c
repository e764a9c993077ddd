/* reference_test.c - rows to the page of published benchmark results.
 */
#include "controller/report/reference.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/report_rows.h"

#include <errno.h>
#include <string.h>

#define ENVIRONMENT                                                            \
	"\"provenance\":{\"environment\":{\"machine\":\"NVIDIA H800(80G)\","   \
	"\"accelerator\":\"NVIDIA H800\",\"cpu\":\"Intel 8462Y+\","            \
	"\"network\":\"InfiniBand, 200 Gb/s\",\"os\":\"Ubuntu 22.04 LTS\","    \
	"\"kernel\":\"5.15.0-25-generic\",\"driver\":\"535.129.03\","          \
	"\"engine\":\"24.0.7\",\"simulated\":true}}"

#define MEASURED(rate, loss, mfu)                                              \
	"\"result\":{\"tokens_per_second_per_device\":" #rate                  \
	",\"loss\":{\"last\":" #loss "},\"memory_mib\":78848,"                 \
	"\"usage\":{\"mem_total_mib\":81920},\"mfu\":" #mfu "}"

#define SETUP(accumulate, global)                                              \
	"\"setup\":{\"vendor\":\"nvidia\",\"framework\":\"deepspeed\","        \
	"\"model\":\"baichuan2_13b\",\"chip\":\"H800\","                       \
	"\"precision\":\"bf16\",\"micro_batch\":1,\"accumulate\":" #accumulate \
	",\"sequence\":2048,\"global_batch\":" #global                         \
	",\"layout\":{\"stage\":\"1\",\"world\":16,\"data\":16}}"

/* Three repeats of the first cell, whose median is 2068. */
static const char zero[] =
	"[{\"cell\":\"a\",\"state\":\"completed\",\"nodes\":2,\"devices\":"
	"16," SETUP(8, 128) "," MEASURED(
		2070, 2.04,
		0.1633) "," ENVIRONMENT "},"
			"{\"cell\":\"a\",\"state\":\"completed\",\"nodes\":2,"
			"\"devices\":16," SETUP(8, 128) "," MEASURED(
				2000, 2.05,
				0.1577) "," ENVIRONMENT "},"
					"{\"cell\":\"a\",\"state\":"
					"\"completed\",\"nodes\":2,\"devices\":"
					"16," SETUP(8, 128) "," MEASURED(
						2068.9, 2.06,
						0.1631) "," ENVIRONMENT "},"
							"{\"cell\":\"b\","
							"\"state\":"
							"\"completed\","
							"\"nodes\":2,"
							"\"devices\":16," SETUP(64, 1024) "," MEASURED(
								2710, 2.07,
								0.2137) "," ENVIRONMENT
									"},"
									"{\"cel"
									"l\":"
									"\"c\","
									"\"stat"
									"e\":"
									"\"fail"
									"ed\","
									"\"fail"
									"ure\":"
									"\"oom"
									"\","
									"\"text"
									"\":"
									"\"rank"
									" 3 | "
									"out "
									"of "
									"memory"
									"\","
									"\"node"
									"s\":1,"
									"\"devi"
									"ces\":"
									"8"
									"," SETUP(
										8,
										64) "}]";

static const char zero_table[] =
	"| 配置 | fix_hp | token/p/s | loss | mem | MFU |\n"
	"| --- | --- | --- | --- | --- | --- |\n"
	"| H800 2机16卡（2x8） | / | 2068 | 2.06 | 77/80 | 16.31% |\n"
	"| H800 2机16卡（2x8） | GAS=64(GBS=1024=2M tokens) | 2710 | 2.07 | "
	"77/80 | 21.37% |\n"
	"| H800单机8卡（1x8） | / | / | / | / | / |\n";

static void page(const char *text, enum language language, struct buffer *out)
{
	owned(report_rows_clear) struct report_rows rows = rows_of_text(text);
	struct error err = { .text = "" };

	buffer_init(out, 1 << 20);
	ok(report_reference(NULL, &rows, language, out, &err) == 0,
	   "a page%s%s", *err.text ? ": " : "", err.text);
}

static void has(const struct buffer *out, const char *part, const char *name)
{
	bool there = strstr(out->data, part) != NULL;

	ok(there, "%s", name);
	if (!there)
		fprintf(stderr, "%s\nis not in\n%s", part, out->data);
}

static void test_zero(void)
{
	owned(buffer_clear) struct buffer out;

	page(zero, LANGUAGE_ZH, &out);
	has(&out, zero_table,
	    "a line per cell, of the repeat with the median rate; what was "
	    "not run is a slash");
	has(&out,
	    "  - 机器型号: NVIDIA H800(80G)\n  - 加速卡型号: NVIDIA H800\n"
	    "  - CPU型号: Intel 8462Y+\n"
	    "  - 多机网络类型、带宽: InfiniBand, 200 Gb/s\n",
	    "the hardware is what the node said");
	has(&out,
	    "  - OS版本: Ubuntu 22.04 LTS\n"
	    "  - OS kernel版本: 5.15.0-25-generic\n"
	    "  - 加速卡驱动版本: 535.129.03\n  - Docker 版本: 24.0.7\n"
	    "  - 训练框架版本: deepspeed\n  - 依赖软件版本: /\n",
	    "so is the software; what it did not say is a slash");
	has(&out,
	    "  - 并行技术: sharded data parallel\n  - 实施者: deepspeed\n"
	    "  - 实施细节: ZeRO-DP O1, DP_SIZE=16\n",
	    "the parallelism is what the layout says");
	has(&out, "即梯度累加步数，在本case中为8（第1、3行）、64（第2行）\n",
	    "batch definitions name the rows of each value");
	has(&out, "即单条输入的序列长度，在本case中为2048\n",
	    "or the one value of all");
	has(&out, "| 数据精度 | bf16 |  |\n", "one precision is stated once");
	has(&out,
	    "  - 3：内存不足（oom）：rank 3 \\| out of "
	    "memory。处理：减小批大小",
	    "a failure is told below the table, and what to do");
	has(&out,
	    "本次运行的加速卡为模拟设备，日志为回放，所列数值不代表真实硬件。",
	    "simulated devices are named as such");
}

static void test_english(void)
{
	owned(buffer_clear) struct buffer out;
	int chinese = 0;

	page(zero, LANGUAGE_EN, &out);
	has(&out, "| configuration | fix_hp | token/p/s | loss | mem | MFU |\n",
	    "the same page in English");
	has(&out, "| H800, 2 nodes, 16 devices (2x8) | / | 2068 | 2.06 |",
	    "with the same figures");
	for (const char *c = out.data; *c; c++)
		chinese += (unsigned char)*c >= 0xe4;
	is_int(chinese, 0, "no Chinese is left in it");
}

static void test_spread(void)
{
	static const char text[] =
		"[{\"cell\":\"a\",\"state\":\"completed\",\"alignment\":{"
		"\"verdict\":\"baseline\"},"
		"\"nodes\":4,"
		"\"devices\":32,\"setup\":{\"vendor\":\"metax\",\"chip\":"
		"\"C500\",\"precision\":\"fp32\",\"layout\":{\"tp\":8,\"pp\":4,"
		"\"data\":1}},\"result\":{\"memory_mib\":63488,"
		"\"inputs\":{\"chip_memory_bytes\":68719476736},\"mfu\":null}},"
		"{\"cell\":\"b\",\"state\":\"completed\",\"nodes\":4,"
		"\"devices\":32,\"alignment\":{\"verdict\":\"True\"},"
		"\"setup\":{\"vendor\":\"metax\",\"chip\":\"C500\","
		"\"precision\":\"amp\",\"about\":{\"fix_hp\":\"GAS=1024\"},"
		"\"layout\":{\"tp\":4,\"pp\":8,\"data\":1}},\"result\":{"
		"\"tokens_per_second_per_device\":253.614,"
		"\"metric_columns\":[\"acc\"],\"metrics\":{\"acc\":35.9}}}]";
	owned(buffer_clear) struct buffer out;

	page(text, LANGUAGE_ZH, &out);
	has(&out,
	    "| 配置 | precision | parallel | fix_hp | token/p/s | 是否精度对齐 "
	    "| mem | acc | MFU |\n"
	    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
	    "| C500 4机32卡（4x8） | fp32 | TP8PP4DP1 | / | / | True（基线） | "
	    "62/64 | / "
	    "| "
	    "/ |\n"
	    "| C500 4机32卡（4x8） | amp | TP4PP8DP1 | GAS=1024 | 253.61 | "
	    "True "
	    "| / | 35.9 | / |\n",
	    "precision, layout, alignment and named numbers are columns where "
	    "the rows call for them");
	has(&out, "  - 并行技术: 张量、流水、数据混合并行\n",
	    "the technique names what is spread");
}

static void test_columns(void)
{
	static const char text[] =
		"[{\"cell\":\"a\",\"state\":\"completed\",\"nodes\":1,"
		"\"values\":{\"config\":\"config_TP2PP4\"},"
		"\"devices\":8,\"setup\":{\"chip\":\"A100-SXM4-80GB\","
		"\"model\":"
		"\"gpt3_6.7B\",\"sequence\":2048,\"layout\":{\"tp\":2,\"pp\":4,"
		"\"cp\":1,\"ep\":1,\"data\":1},\"about\":{"
		"\"columns\":"
		"\"config  parallel_strategy throughput memory nonsense "
		"acc\"}},"
		"\"result\":{\"samples_per_second\":14.81,"
		"\"metric_columns\":[],\"metrics\":{\"lr\":1,\"acc\":35.9},"
		"\"tokens_per_second_per_device\":3791.36,"
		"\"memory_by_rank_mib\":[47892.48,47892.48,37468.16,37468.16,"
		"30812.16,30812.16,28446.72,28446.72]}},"
		"{\"cell\":\"b\",\"state\":\"completed\",\"nodes\":1,"
		"\"devices\":8,\"setup\":{\"chip\":\"A100\",\"model\":"
		"\"gpt3_13B\"},\"result\":{\"tokens_per_second_per_device\":"
		"1784.32,\"memory_mib\":4096,\"memory_source\":\"cgroup\"}}]";
	owned(buffer_clear) struct buffer out;

	page(text, LANGUAGE_ZH, &out);
	has(&out,
	    "| 配置 | config | parallel_strategy | throughput | memory | acc "
	    "|\n"
	    "| --- | --- | --- | --- | --- | --- |\n"
	    "| **gpt3_6.7B** | | | | | |\n"
	    "| A100单机8卡（1x8） | config_TP2PP4 | TP2PP4DP1 | "
	    "14.81 \\* 2048 / 8 = 3791 tokens/s | "
	    "46.77\\*2 + 36.59\\*2 + 30.09\\*2 + 27.78\\*2 GB | 35.9 |\n"
	    "| **gpt3_13B** | | | | | |\n"
	    "| A100单机8卡（1x8） | / | / | 1784 tokens/s | / | / |\n",
	    "a sweep may name the columns, also metrics; each model has its "
	    "head; devices that use as much memory stand together; chips are "
	    "called by their short names");
}

static void test_fold(void)
{
	static const char text[] =
		"[{\"cell\":\"step=a\",\"repeat\":0,\"state\":\"completed\","
		"\"nodes\":1,\"devices\":8,\"setup\":{\"chip\":\"A800\","
		"\"stage\":\"one\",\"layout\":{\"tp\":2,\"pp\":1,"
		"\"stage\":\"2\",\"sharding\":4,\"data\":4}},\"result\":{"
		"\"tokens_per_second_per_device\":4013,\"memory_mib\":45260.8,"
		"\"usage\":{\"mem_total_mib\":49152},"
		"\"memory_source\":\"sampled\",\"loss\":{\"last\":3.2},"
		"\"flags\":[\"odd\"]}},"
		"{\"cell\":\"step=ab x=1\",\"repeat\":0,\"state\":"
		"\"completed\",\"follows\":\"step=a\",\"nodes\":1,"
		"\"devices\":8,\"setup\":{\"chip\":\"A800\",\"stage\":"
		"\"two\",\"layout\":{\"tp\":2,\"pp\":1,\"stage\":\"2\","
		"\"sharding\":2,\"data\":4}},\"result\":{"
		"\"tokens_per_second_per_device\":2937,\"flags\":[\"odd\"]}},"
		"{\"cell\":\"step=c\",\"repeat\":0,\"state\":\"completed\","
		"\"follows\":\"x=1 step=ab\",\"result\":{\"metrics\":{"
		"\"acc\":35.9,\"other\":1},\"metric_columns\":[\"acc\"],"
		"\"metric_percents\":[\"acc\"]}},"
		"{\"cell\":\"step=d\",\"repeat\":0,\"state\":\"failed\","
		"\"text\":\"no answer\",\"follows\":\"step=ab\","
		"\"result\":{\"metrics\":{\"acc\":1}}}]";
	owned(buffer_clear) struct buffer out;

	page(text, LANGUAGE_EN, &out);
	has(&out,
	    "| configuration | parallel | fix_hp | token/p/s | loss | mem | "
	    "acc "
	    "| MFU |\n"
	    "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
	    "| A800, 1 node, 8 devices (1x8) (one) | TP2PP1SH2SP4 | / | 4013 | "
	    "3.20 | 44.2/48.0 | / | / |\n"
	    "| A800, 1 node, 8 devices (1x8) (two) | TP2PP1DP4 | / | 2937 | / "
	    "| "
	    "/ | 35.9% | / |\n",
	    "an evaluation stands in the line of what it evaluates; stages and "
	    "sharding are told; what is in percent says so, both of a pair "
	    "have as many digits");
	has(&out, "  - 1, 2: odd\n",
	    "an anomaly is told once, with all its rows");
	has(&out, "  - 3: no answer\n", "a failed evaluation is not hidden");
}

static void test_one_device(void)
{
	static const char text[] =
		"[{\"cell\":\"a\",\"state\":\"completed\",\"nodes\":1,"
		"\"devices\":1,\"setup\":{\"chip\":\"A800\"},\"result\":{"
		"\"tokens_per_second_per_device\":4013}}]";
	owned(buffer_clear) struct buffer en, zh;

	page(text, LANGUAGE_EN, &en);
	has(&en, "| A800, 1 node, 1 device (1x1) |", "one device is no plural");
	page(text, LANGUAGE_ZH, &zh);
	has(&zh, "| A800单机1卡（1x1） |", "which Chinese has not");
}

/* What a row was computed and sharded with is its own. */
static const char differing[] =
	"[{\"cell\":\"a\",\"state\":\"completed\",\"setup\":{\"vendor\":"
	"\"nvidia\",\"layout\":{\"stage\":\"1\",\"data\":16}},\"result\":"
	"{\"mfu\":0.5,\"mfu_formula\":\"6N\"}},"
	"{\"cell\":\"b\",\"state\":\"completed\",\"setup\":{\"vendor\":"
	"\"nvidia\",\"layout\":{\"stage\":\"2\",\"data\":16}},\"result\":"
	"{\"mfu\":0.4,\"mfu_formula\":\"4N\"}}]";

static void test_differing(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);

	page(differing, LANGUAGE_EN, &out);
	has(&out,
	    "ZeRO-DP O1, DP_SIZE=16 (row 1), ZeRO-DP O2, DP_SIZE=16 (row 2)",
	    "each row has its own stage");
	has(&out, "formula 6N (row 1), 4N (row 2)", "and its own formula");
}

static void test_bare(void)
{
	struct report_rows rows = rows_of_text(
		"[{},{\"state\":\"completed\",\"setup\":{\"about\":{"
		"\"columns\":3}},\"result\":{},\"provenance\":{}}]");
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);
	struct error err = { 0 };

	ok(report_reference(NULL, &rows, LANGUAGE_EN, &out, &err) == 0,
	   "rows may lack everything");
	report_rows_clear(&rows);
	ok(report_reference(NULL, &rows, LANGUAGE_EN, &out, &err) < 0 &&
		   err.code == EINVAL,
	   "no rows: %s", err.text);
}

/* Whatever fails, the output is as before. */
static void test_failures(void)
{
	struct report_rows rows = rows_of_text(zero);
	size_t limit, refused = 0;
	struct error err;

	for (limit = 3; limit < 1 << 20; limit = limit * 5 / 4 + 1) {
		owned(buffer_clear) struct buffer out;

		buffer_init(&out, limit);
		buffer_text(&out, "kep", NULL);
		if (report_reference(NULL, &rows, LANGUAGE_ZH, &out, &err) == 0)
			break;
		refused++;
		if (err.code != E2BIG || strcmp(out.data, "kep") != 0)
			break;
	}
	ok(limit < 1 << 20 && limit > 2000 && refused > 10,
	   "every smaller limit leaves the output as it was (%zu: %s)", limit,
	   err.text);
	for (int n = 1;; n++) {
		owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);
		int rc;

		fault_arm(n);
		rc = report_reference(NULL, &rows, LANGUAGE_EN, &out, &err);
		if (!fault_disarm()) {
			ok(rc == 0 && n > 3, "%d allocations were tried", n);
			break;
		}
		ok(rc < 0 && err.code == ENOMEM && !out.size,
		   "allocation %d: an error, nothing said", n);
	}
	report_rows_clear(&rows);
}

int main(void)
{
	tap_begin(60);
	test_zero();
	test_english();
	test_spread();
	test_columns();
	test_fold();
	test_one_device();
	test_differing();
	test_bare();
	test_failures();
	return tap_done();
}
