/* remarks.c - the sentence of each remark, in English and Chinese.
 */
#include "controller/results/remarks.h"

#include "protocol/base/list.h"
#include "protocol/base/owned.h"
#include "protocol/base/units.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const struct {
	const char *name; /* of the code, as stored */
	const char *sentences[LANGUAGES];
} remarks[REMARKS] = {
	[REMARK_END_UNREPORTED] = {
		"end-unreported",
		{ "the log does not report the end of the training",
		  "日志没有表明训练已经结束" } },
	[REMARK_END_REPORTED] = {
		"end-reported",
		{ "the log reports the end of the training at step "
		  "{0} of {1}",
		  "日志表明训练在第 {0} 步结束（共 {1} 步）" } },
	[REMARK_LOG_ENDS] = {
		"log-ends",
		{ "the log ends at step {0} of {1}",
		  "日志止于第 {0} 步（共 {1} 步）" } },
	[REMARK_SLOWDOWN] = {
		"slowdown",
		{ "the training slows down: most steps before step "
		  "{0} take less than {1.1} ms, the median of the "
		  "steps after it",
		  "训练变慢：第 {0} 步之前的多数步不到 {1.1} "
		  "ms，即其后各步的中位数" } },
	[REMARK_IMPOSSIBLE_TIMES] = {
		"impossible-times",
		{ "{0} steps with an impossible time are excluded",
		  "已剔除 {0} 个用时不合理的步" } },
	[REMARK_IMPOSSIBLE_RATES] = {
		"impossible-rates",
		{ "{0} impossible rates are excluded",
		  "已剔除 {0} 个不合理的速率" } },
	[REMARK_ONE_STEP] = {
		"one-step",
		{ "only one step: the values include its warm-up",
		  "只有一步：数值包含预热" } },
	[REMARK_UNSETTLED] = {
		"unsettled",
		{ "the step times do not settle: no end of the "
		  "warm-up was found in the first half",
		  "步时间不稳定：前半段没有找到预热的终点" } },
	[REMARK_SLOW_STEPS] = {
		"slow-steps",
		{ "{0} of {1} steps are much slower than the median, "
		  "and excluded",
		  "{0} 步（共 {1} 步）远慢于中位数，已剔除" } },
	[REMARK_LONGER_THAN_JOB] = {
		"longer-than-job",
		{ "steps {0} to {1} at {2.1} ms, {3.1} s in all, take "
		  "longer than the whole job, {4.1} s",
		  "第 {0} 到 {1} 步每步 {2.1} ms，共 {3.1} "
		  "s，长于整个作业的 {4.1} s" } },
	[REMARK_WIDE_SPREAD] = {
		"wide-spread",
		{ "half of the steps take {0.1} to {1.1} ms around a "
		  "median of {2.1}: the spread is too wide for a "
		  "single value",
		  "半数的步为 {0.1} 到 {1.1} ms，中位数 {2.1} "
		  "ms：过于分散，不能用一个数表示" } },
	[REMARK_EPOCH_SHARES] = {
		"epoch-shares",
		{ "the log contains fractions of epochs, but not the "
		  "number of steps: each line counts as one step",
		  "日志只有轮次的比例，没有步数：每行算作一步" } },
	[REMARK_EPOCH_BARS] = {
		"epoch-bars",
		{ "the log contains fractions of epochs, and its "
		  "progress bars skip steps: the step numbers are "
		  "uncertain",
		  "日志只有轮次的比例，进度条跳过了一些步：步号不确定" } },
	[REMARK_RUNS_MIXED] = {
		"runs-mixed",
		{ "the log contains several runs: its steps are those of the "
		  "last one, and what that goes on from",
		  "日志含有多次运行：所列的步属于最后一次，以及它所接续的部分" } },
	[REMARK_ARRIVAL] = {
		"arrival",
		{ "the log contains no step time: {0.1} ms (+-{1.1}) "
		  "is computed from the times of arrival of its lines",
		  "日志没有步时间：由各行到达的时刻得出 {0.1} "
		  "ms（±{1.1}）" } },
	[REMARK_LOSS] = {
		"loss",
		{ "the loss is {a} at step {0}, and not a number at "
		  "{1} steps in total",
		  "损失为 {a}（第 {0} 步）；损失不是有效数值的步共 "
		  "{1} 个" } },
	[REMARK_IMPOSSIBLE_MFU] = {
		"impossible-mfu",
		{ "an MFU of {0.1} % is impossible",
		  "MFU 为 {0.1} %，不合理" } },
	[REMARK_IMPOSSIBLE_PALM] = {
		"impossible-mfu-palm",
		{ "an MFU by PaLM's formula of {0.1} % is impossible",
		  "按 PaLM 公式计算的 MFU 为 {0.1} %，不合理" } },
	[REMARK_IMPOSSIBLE_HFU] = {
		"impossible-hfu",
		{ "an HFU of {0.1} % is impossible",
		  "HFU 为 {0.1} %，不合理" } },
	[REMARK_IMPOSSIBLE_MEMORY] = {
		"impossible-memory",
		{ "a memory of {0.0} MiB is impossible: the device "
		  "has {1.0}",
		  "显存占用 {0.0} MiB 不合理：设备只有 {1.0} MiB" } },
	[REMARK_SIMULATED] = {
		"simulated",
		{ "the devices were simulated: these are not "
		  "measurements of real hardware",
		  "设备为模拟：所列数值不代表真实硬件" } },
	[REMARK_TOKENS_DIFFER] = {
		"tokens-differ",
		{ "the program reports {0.1} tokens/s, its step time "
		  "and batch give {1.1}[ to {2.1}]",
		  "程序报告 {0.1} tokens/s，由步时间和批大小得出 "
		  "{1.1}[ 到 {2.1}]" } },
	[REMARK_SAMPLES_DIFFER] = {
		"samples-differ",
		{ "the program reports {0.2} samples/s, its step time "
		  "and batch give {1.2}[ to {2.2}]",
		  "程序报告 {0.2} samples/s，由步时间和批大小得出 "
		  "{1.2}[ 到 {2.2}]" } },
	[REMARK_ARRIVAL_DIFFERS] = {
		"arrival-differs",
		{ "the log reports a step time of {0.1} ms, the times "
		  "of arrival of its lines give {1.1}[ to {2.1}]",
		  "日志中的步时间为 {0.1} ms，由各行到达的时刻得出 "
		  "{1.1}[ 到 {2.1}]" } },
	[REMARK_BATCH_DIFFERS] = {
		"batch-differs",
		{ "the program reports a step of {0.0} samples, the "
		  "sweep has {1.0}[ to {2.0}]",
		  "程序报告每步 {0.0} 个样本，扫描文件为 {1.0}[ 到 "
		  "{2.0}]" } },
	[REMARK_SAMPLES_GROW] = {
		"samples-grow",
		{ "the samples in the log increase by {0.1} per step, "
		  "the sweep's batch is {1.1}[ to {2.1}]",
		  "日志中的样本数每步增加 {0.1}，扫描文件的批大小为 "
		  "{1.1}[ 到 {2.1}]" } },
	[REMARK_TOKENS_GROW] = {
		"tokens-grow",
		{ "the tokens in the log increase by {0.1} per step, "
		  "the sweep's batch and sequence give {1.1}[ to "
		  "{2.1}]",
		  "日志中的 token 数每步增加 "
		  "{0.1}，由批大小和序列长度得出 {1.1}[ 到 {2.1}]" } },
	[REMARK_TOKENS_STATED] = {
		"tokens-stated",
		{ "the log states {0.0} tokens per step, the sweep's batch "
		  "and sequence give {1.0}[ to {2.0}]",
		  "日志说明每步 {0.0} 个 token，由批大小和序列长度得出 "
		  "{1.0}[ 到 {2.0}]" } },
	[REMARK_TFLOPS_DIFFER] = {
		"tflops-differ",
		{ "the program reports {0.1} TFLOPS per device, its "
		  "token rate and our formulas give {1.1}[ to {2.1}]",
		  "程序报告单卡 {0.1} TFLOPS，由 token 速率和公式得出 "
		  "{1.1}[ 到 {2.1}]" } },
	[REMARK_MFU_DIFFERS] = {
		"mfu-differs",
		{ "the program reports an MFU of {0.1} %, its token "
		  "rate and our formulas give {1.1}[ to {2.1}]",
		  "程序报告 MFU 为 {0.1} %，由 token 速率和公式得出 "
		  "{1.1}[ 到 {2.1}]" } },
	[REMARK_NEVER_SAMPLED] = {
		"never-sampled",
		{ "{a}: device {0} was never sampled",
		  "{a}：设备 {0} 从未被采样" } },
	[REMARK_NOT_SAMPLED] = {
		"not-sampled",
		{ "{a}: device {0} was not sampled for {1.1} s, and "
		  "its energy lacks that time",
		  "{a}：设备 {0} 有 {1.1} s "
		  "未被采样，能耗不含这段时间" } },
	[REMARK_MORE_GAPS] = {
		"more-gaps",
		{ "{0} more devices were sampled with gaps",
		  "另有 {0} 个设备的采样有间断" } },
	[REMARK_THROTTLED_THERMAL] = {
		"throttled-thermal",
		{ "{a}: device {0} was throttled {1.0} %[ of the {2.0} s of "
		  "the steady state] (thermal)",
		  "{a}：设备 {0} 有 {1.0} % 的时间[（稳态共 {2.0} s）]被降频"
		  "（温度）" } },
	[REMARK_THROTTLED_POWER] = {
		"throttled-power",
		{ "{a}: device {0} was throttled {1.0} %[ of the {2.0} s of "
		  "the steady state] (power)",
		  "{a}：设备 {0} 有 {1.0} % 的时间[（稳态共 {2.0} s）]被降频"
		  "（功耗）" } },
	[REMARK_THROTTLED_OTHER] = {
		"throttled-other",
		{ "{a}: device {0} was throttled {1.0} %[ of the {2.0} s of "
		  "the steady state] (neither heat nor power)",
		  "{a}：设备 {0} 有 {1.0} % 的时间[（稳态共 {2.0} s）]被降频"
		  "（非温度、功耗）" } },
	[REMARK_ECC_CORRECTED] = {
		"ecc-corrected",
		{ "{a}: {1} corrected memory errors during the job (device "
		  "{0})",
		  "{a}：作业期间有 {1} 个已纠正的显存错误（设备 {0}）" } },
	[REMARK_ECC_UNCORRECTED] = {
		"ecc-uncorrected",
		{ "{a}: {1} uncorrected memory errors during the job (device "
		  "{0})",
		  "{a}：作业期间有 {1} 个未纠正的显存错误（设备 {0}）" } },
	[REMARK_LINK_ERRORS] = {
		"link-errors",
		{ "{a}: {1} link errors during the job (device {0})",
		  "{a}：作业期间有 {1} 个链路错误（设备 {0}）" } },
	[REMARK_REMAP_PENDING] = {
		"remap-pending",
		{ "{a}: the memory of device {0} waits for a reset to be "
		  "repaired",
		  "{a}：设备 {0} 的显存待复位后修复" } },
	[REMARK_CLOCK_BELOW] = {
		"clock-below",
		{ "{a}: the clock of device {0} was {1.0} % below the other "
		  "devices",
		  "{a}：设备 {0} 的频率比其他设备低 {1.0} %" } },
	[REMARK_NET_ERRORS] = {
		"net-errors",
		{ "{a}: {0} errors of its network during the job",
		  "{a}：作业期间网络有 {0} 个错误" } },
	[REMARK_NET_RETRANSMITS] = {
		"net-retransmits",
		{ "{a}: {0} packets of RDMA were lost and sent again during the "
		  "job",
		  "{a}：作业期间有 {0} 个 RDMA 数据包丢失并重传" } },
	[REMARK_SLOWER] = {
		"slower",
		{ "{a} was at least {0.0} % slower than its {1} peers "
		  "throughout: it drew {2.0} % more power, while they waited",
		  "{a} 始终比其他 {1} 个慢至少 {0.0} %：它们等待时，其功耗高 "
		  "{2.0} %" } },
	[REMARK_SLOWER_AT_TIMES] = {
		"slower-at-times",
		{ "{a} was at least {0.0} % slower than its {1} peers for "
		  "{3.0} % of the time: it drew {2.0} % more power, while they "
		  "waited",
		  "{a} 有 {3.0} % 的时间比其他 {1} 个慢至少 {0.0} %：它们等待"
		  "时，其功耗高 {2.0} %" } },
	[REMARK_MORE_ALIKE] = {
		"more-alike",
		{ "the same is so of {0} more", "另有 {0} 个也是如此" } },
	[REMARK_FEW_POWER_SAMPLES] = {
		"few-power-samples",
		{ "the power of a device is the mean of {0} samples, fewer "
		  "than {1}",
		  "设备功耗只由 {0} 个采样得出，少于 {1} 个" } },
	[REMARK_MONITOR] = {
		"monitor",
		{ "{a}: monitor: {b}",
		  "{a}：监控程序：{b}" } },
	[REMARK_DRIVERS_DIFFER] = {
		"drivers-differ",
		{ "driver differs: {a}",
		  "驱动不同：{a}" } },
	[REMARK_CHIPS_DIFFER] = {
		"chips-differ",
		{ "chip differs: {a}",
		  "芯片不同：{a}" } },
	[REMARK_NODE] = {
		"node",
		{ "{a}: {b}",
		  "{a}：{b}" } },
	[REMARK_REJECTED] = {
		"rejected",
		{ "{a} failed the preflight; other nodes of its kind ran this",
		  "{a} 未通过预检，由同类其他节点运行" } },
	[REMARK_STRAGGLER] = {
		"straggler",
		{ "the last look at its running ranks found one that the "
		  "others waited for: {a}",
		  "最后一次查看运行中的 rank 时，其他 rank 在等待其中一个：{a}" } },
	[REMARK_LAST_TO_ENTER] = {
		"last-to-enter",
		{ "when its running ranks were looked at: {a}",
		  "查看运行中的 rank 时：{a}" } },
	[REMARK_FORMATS_TIED] = {
		"formats-tied",
		{ "two formats match the log equally well, but read "
		  "different values; select one with `log`",
		  "有两种格式与日志同样相符，但读出的值不同；请用 "
		  "`log` 选择一种" } },
	[REMARK_LAST_LINE_OPEN] = {
		"last-line-open",
		{ "the last line has no end: its last number may be cut",
		  "最后一行没有结尾：其最后一个数字可能不完整" } },
	[REMARK_LINE_UNREAD] = {
		"line-unread",
		{ "no format reads this line of the log: {a}",
		  "没有格式能读取日志中的这一行：{a}" } },
	[REMARK_LEARN] = {
		"learn",
		{ "run `regatta extract` on the log to find another "
		  "format, or with --learn and the values of such a "
		  "line to create rules",
		  "对日志运行 `regatta extract` 可查找其他格式；加上 "
		  "--learn 和这一行中的值可生成规则" } },
	[REMARK_RULES_SLOW] = {
		"rules-slow",
		{ "the log rules of the sweep are too slow: their searches were "
		  "given up; make their expressions simpler",
		  "测试计划的日志规则太慢：已放弃匹配；请简化其表达式" } },
	[REMARK_FILES_UNREAD] = {
		"files-unread",
		{ "the followed files have too many steps: {0} of them, the "
		  "smallest, were not read to their end",
		  "跟随的文件中步数过多：其中最小的 {0} 个未读完" } },
	[REMARK_COARSE] = {
		"coarse",
		{ "the log has too many steps to keep: the figures are those "
		  "of {1} steps, one of each {0} successive numbers",
		  "日志的步数过多：数值取自其中 {1} 步，每 {0} 个步号取一步" } },
	[REMARK_BY_MEANING] = {
		"by-meaning",
		{ "no format is known for this log; its names were read by "
		  "their meaning: {a}",
		  "该日志没有已知格式；按名称的含义读取：{a}" } },
	[REMARK_STEPS_EPOCHS] = {
		"steps-epochs",
		{ "the log names no steps: each epoch counts as one step",
		  "日志没有步号：每个轮次算作一步" } },
	[REMARK_STEPS_COUNTED] = {
		"steps-counted",
		{ "the log names no steps: each line counts as one step",
		  "日志没有步号：每行算作一步" } },
	[REMARK_STEPS_NAMELESS] = {
		"steps-nameless",
		{ "the numbers taken as steps have no name: they may count "
		  "something else, such as samples",
		  "作为步号的数字没有名称：它们可能是其他计数，例如样本数" } },
	[REMARK_LOSS_GUESSED] = {
		"loss-guessed",
		{ "\"{a}\" is taken as the loss: it may be a part of it, or "
		  "another figure",
		  "“{a}”被当作损失：它可能只是其中一部分或其他指标" } },
	[REMARK_LOSS_PARTS] = {
		"loss-parts",
		{ "no loss was read: the log has several parts of it, and does "
		  "not tell their sum",
		  "未读取损失：日志只有损失的若干部分，没有说明其总和" } },
	[REMARK_BEGINS_LATE] = {
		"begins-late",
		{ "the log begins in a later epoch: how many steps came "
		  "before is uncertain",
		  "日志从较后的轮次开始：之前的步数不确定" } },
	[REMARK_EPOCHS_GUESSED] = {
		"epochs-guessed",
		{ "the log does not tell the length of an epoch: step numbers "
		  "behind the first epoch are uncertain",
		  "日志没有给出每个轮次的步数：首个轮次之后的步号不确定" } },
	[REMARK_FIGURE_OPEN] = {
		"figure-open",
		{ "\"{a}\" is no figure: the log does not tell its unit, or "
		  "of what it is",
		  "“{a}”未作为指标：日志没有说明其单位或所指" } },
	[REMARK_SCOPE_OPEN] = {
		"scope-open",
		{ "the log does not tell whether its rate is of one device or "
		  "of all; it is taken as that of all",
		  "日志没有说明速率是单卡还是全部设备；按全部设备计" } },
	[REMARK_MEMORY_UNIT] = {
		"memory-unit",
		{ "the log gives its memory in MB or GB; they are taken as "
		  "MiB or GiB",
		  "日志中的内存以 MB 或 GB 给出；按 MiB 或 GiB 计" } },
	[REMARK_CLOCK_DIFFERS] = {
		"clock-differs",
		{ "the log reports a step time of {0.1} ms, the clock of its "
		  "lines gives {1.1} ms",
		  "日志中的步时间为 {0.1} ms，由各行的时刻得出 {1.1} ms" } },
	[REMARK_REPEATS_DIFFER] = {
		"repeats-differ",
		{ "the {0} repeats differ by {1.1} % (coefficient of "
		  "variation), more than {2} %",
		  "{0} 次重复的变异系数为 {1.1} %，超过 {2} %" } },
	[REMARK_SEEDS_EQUAL] = {
		"seeds-equal",
		{ "the {0} repeats have one seed, {a}; the placeholder ROUND "
		  "gives each its own",
		  "{0} 次重复使用同一随机种子 {a}；占位符 ROUND 使各次不同" } },
	[REMARK_RATE_ABOVE] = {
		"rate-above",
		{ "the rate is {0.1} times that of {a}",
		  "速率是另一单元的 {0.1} 倍：{a}" } },
	[REMARK_RATE_BELOW] = {
		"rate-below",
		{ "the rate of {a} is {0.1} times as high",
		  "{a} 的速率是它的 {0.1} 倍" } },
};
/* clang-format on */

/* A mark of a sentence: "{0}", "{1.2}", "{a}". */
struct remark_mark {
	size_t index;
	bool word;
	int digits; /* -1: as many as it has */
	size_t size;
};

static struct remark_mark mark_read(const char *at)
{
	struct remark_mark mark = { .digits = -1 };

	mark.word = at[1] >= 'a';
	mark.index = (size_t)(at[1] - (mark.word ? 'a' : '0'));
	if (at[2] == '.')
		mark.digits = at[3] - '0';
	mark.size = strcspn(at, "}") + 1;
	return mark;
}

/* How many numbers, or words, the sentence has marks for. */
static size_t marks_count(enum remark_code code, bool words)
{
	const char *at = remarks[code].sentences[LANGUAGE_EN];
	size_t count = 0;

	while ((at = strchr(at, '{'))) {
		struct remark_mark mark = mark_read(at);

		if (mark.word == words && mark.index >= count)
			count = mark.index + 1;
		at += mark.size;
	}
	return count;
}

/* A number is stored as text, which loses its last bits: 17.950000000000003
 * comes back as 17.95, and its sentence would have another last digit.
 */
#define REMARK_DIGITS 12

static int remark_fill(struct remark *to, const struct remark_said *said,
		       struct error *err)
{
	size_t numbers = marks_count(said->code, false);
	size_t words = marks_count(said->code, true);

	if (string_set(&to->code, remarks[said->code].name, err) < 0)
		return -1;
	for (size_t i = 0; i < numbers && isfinite(said->numbers[i]); i++)
		if (doubles_add(&to->numbers,
				round_digits(said->numbers[i], REMARK_DIGITS),
				err) < 0)
			return -1;
	for (size_t i = 0; i < words; i++)
		if (strings_add(&to->words,
				said->words[i] ? said->words[i] : "", err) < 0)
			return -1;
	return 0;
}

int remark_add(struct remark **list, size_t *count,
	       const struct remark_said *said, struct error *err)
{
	struct remark *to = LIST_ADD(*list, *count, err);

	if (!to)
		return -1;
	if (remark_fill(to, said, err) < 0) {
		codec_clear(&remark_schema, to);
		--*count;
		return -1;
	}
	return 0;
}

static bool mark_is_filled(const struct remark *remark,
			   const struct remark_mark *mark)
{
	return mark->index <
	       (mark->word ? remark->words.count : remark->numbers.count);
}

/* What is missing is a question mark. */
static void mark_print(const struct remark *remark,
		       const struct remark_mark *mark, char *text, size_t size)
{
	if (!mark_is_filled(remark, mark))
		text_append(text, size, "?");
	else if (mark->word)
		text_append(text, size, "%s", remark->words.items[mark->index]);
	else if (mark->digits < 0)
		text_append(text, size, "%.15g",
			    remark->numbers.items[mark->index]);
	else
		text_append(text, size, "%.*f", mark->digits,
			    remark->numbers.items[mark->index]);
}

/* Behind "[": its end, if an argument in it is missing; else NULL. */
static const char *option_end(const struct remark *remark, const char *at)
{
	const char *end = strchr(at, ']');
	const char *open = strchr(at, '{');
	struct remark_mark mark;

	if (!end || !open || open > end)
		return NULL;
	mark = mark_read(open);
	return mark_is_filled(remark, &mark) ? NULL : end + 1;
}

static void pattern_print(const struct remark *remark, const char *at,
			  char *text, size_t size)
{
	while (*at) {
		size_t plain = strcspn(at, "[]{");
		const char *end;

		text_append(text, size, "%.*s", (int)plain, at);
		at += plain;
		if (*at == '{') {
			struct remark_mark mark = mark_read(at);

			mark_print(remark, &mark, text, size);
			at += mark.size;
		} else if (*at) {
			end = *at == '[' ? option_end(remark, at) : NULL;
			at = end ? end : at + 1;
		}
	}
}

static void unknown_print(const struct remark *remark, char *text, size_t size)
{
	text_append(text, size, "%s", remark->code ? remark->code : "?");
	for (size_t i = 0; i < remark->numbers.count; i++)
		text_append(text, size, "%s%.15g", i ? ", " : ": ",
			    remark->numbers.items[i]);
	for (size_t i = 0; i < remark->words.count; i++)
		text_append(text, size, "; %s", remark->words.items[i]);
}

static enum remark_code code_find(const char *name)
{
	size_t code = 0;

	while (code < REMARKS && strcmp(remarks[code].name, name) != 0)
		code++;
	return (enum remark_code)code;
}

const char *remark_sentence(const struct remark *remark, enum language language,
			    char *text, size_t size)
{
	enum remark_code code =
		remark->code ? code_find(remark->code) : REMARKS;

	if (!remark->code && remark->text)
		return remark->text;
	*text = 0;
	if (code < REMARKS)
		pattern_print(remark, remarks[code].sentences[language], text,
			      size);
	else
		unknown_print(remark, text, size);
	return text;
}

cJSON *remarks_sentences(const struct remark *list, size_t count)
{
	owned(cJSON_Delete) cJSON *sentences = cJSON_CreateArray();

	for (size_t i = 0; i < count; i++) {
		char text[REMARK_TEXT_MAX];
		cJSON *sentence = cJSON_CreateString(
			remark_sentence(&list[i], LANGUAGE_EN, text,
					sizeof(text)));

		if (!cJSON_AddItemToArray(sentences, sentence)) {
			cJSON_Delete(sentence);
			return NULL;
		}
	}
	return take(sentences);
}

const char *remark_code_name(enum remark_code code)
{
	return remarks[code].name;
}

const char *remark_pattern(enum remark_code code, enum language language)
{
	return remarks[code].sentences[language];
}
