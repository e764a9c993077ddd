/* sentences.c - what results, anomalies and failures say, in another language.
 */
#include "controller/report/sentences.h"

#include <stdbool.h>
#include <string.h>

#define STARS_MAX 8

/* "*" is what differs from one sentence to another; a translation has as many
 * of them, in the same order. Stored results keep the wording of the version
 * that computed them.
 */
static const struct {
	const char *english, *chinese;
	const char *earlier; /* the English of earlier versions; NULL */
} sentences[] = {
	{ "the * repeats differ by * % (coefficient of variation), more than * "
	  "%",
	  "* 次重复的变异系数为 * %，超过 * %", NULL },
	{ "the rate jumps: it is * times that of *",
	  "速率突变：是以下单元的 * 倍：*", NULL },
	{ "the rate jumps: that of * is * times as much",
	  "速率突变：* 的速率是它的 * 倍", NULL },
	{ "the log does not report the end of the training",
	  "日志没有说训练已结束",
	  "nothing in the log says that the training finished" },
	{ "the log reports the end of the training at step * of *",
	  "训练称在第 * 步结束（共 * 步）",
	  "the training says that it finished at step * of *" },
	{ "the log ends at step * of *", "日志止于第 * 步（共 * 步）", NULL },
	{ "the training slows down: most steps before step * take less than * "
	  "ms, the median of the steps after it",
	  "训练变慢：第 * 步之前的多数步不到 * ms，即其后各步的中位数",
	  "the training slows down: most steps before step * take less than * "
	  "ms, the median of those behind it" },
	{ "* steps with an impossible time are excluded",
	  "略去 * 个时间不可能的步",
	  "* steps with an impossible time are left out" },
	{ "* impossible rates are excluded", "略去 * 个不可能的速率",
	  "* impossible rates are left out" },
	{ "only one step: the values include its warm-up",
	  "只有一步：数值包含预热",
	  "one step only: its warm-up is in the figures" },
	{ "the step times do not settle: no end of the warm-up was found in "
	  "the first half",
	  "步时间不稳定：前半段没有预热的终点", NULL },
	{ "* of * steps are much slower than the median, and excluded",
	  "* 步远慢于中位数（共 * 步），已略去",
	  "* of * steps are much slower than the median, and left out" },
	{ "steps * to * at * ms, * s in all, take longer than the whole job, * "
	  "s",
	  "第 * 到 * 步每步 * ms，共 * s，长于整个作业的 * s", NULL },
	{ "half of the steps take * to * ms around a median of *: the spread "
	  "is too wide for a single value",
	  "半数的步为 * 到 * ms，中位数 * ms：过于分散，不能用一个数表示",
	  "half of the steps take * to * ms around a median of *: too wide a "
	  "spread for one figure" },
	{ "the loss is * at step *, and not a number at * steps in total",
	  "损失为 *（第 * 步），不是数的共 * 步",
	  "the loss is * at step *, and no number at * steps in all" },
	{ "a memory of * MiB is impossible: the device has *",
	  "存储使用 * MiB 不可能：设备只有 * MiB", NULL },
	{ "* of * % is impossible", "* 为 * %，不可能", NULL },
	{ "the log contains no step time: * ms (+-*) is computed from the "
	  "times of arrival of its lines",
	  "日志没有步时间：由各行到达的时刻得出 * ms（±*）",
	  "the log prints no step time: * ms (+-*) follow from when its lines "
	  "came" },
	{ "the log contains fractions of epochs, but not the number of steps: "
	  "each line counts as one step",
	  "日志只有轮次的比例，没有步数：每行算作一步",
	  "the log says shares of epochs, and nowhere how many steps there "
	  "are: each line counts as one step" },
	{ "the log contains fractions of epochs, and its progress bars skip "
	  "steps: the step numbers are uncertain",
	  "日志只有轮次的比例，进度条跳过了一些步：步号不确定",
	  "the log says shares of epochs, and its bars skip steps: which steps "
	  "they are is not certain" },
	{ "the devices were simulated: these are not measurements of real "
	  "hardware",
	  "设备为模拟：所列数值不代表真实硬件",
	  "the devices were pretended: these are no figures of real hardware" },
	{ "the program reports * tokens/s, its step time and batch give *",
	  "程序报告 * tokens/s，由步时间和批大小得出 *", NULL },
	{ "the program reports * samples/s, its step time and batch give *",
	  "程序报告 * samples/s，由步时间和批大小得出 *", NULL },
	{ "the log reports a step time of * ms, the times of arrival of its "
	  "lines give *",
	  "日志中的步时间为 * ms，由各行到达的时刻得出 *",
	  "the log prints a step time of * ms, by when its lines came it is "
	  "*" },
	{ "the program reports a step of * samples, the sweep has *",
	  "程序称每步 * 个样本，扫描文件为 *",
	  "the program says that a step has * samples, the sweep says *" },
	{ "the samples in the log increase by * per step, the sweep's batch is "
	  "*",
	  "日志中的样本数每步增加 *，扫描文件的批大小为 *",
	  "the samples in the log grow by * a step, the sweep's batch is *" },
	{ "the tokens in the log increase by * per step, the sweep's batch and "
	  "sequence give *",
	  "日志中的 token 数每步增加 *，由批大小和序列长度得出 *",
	  "the tokens in the log grow by * a step, the sweep's batch and "
	  "sequence give *" },
	{ "the program reports * TFLOPS per device, its token rate and our "
	  "formulas give *",
	  "程序报告单卡 * TFLOPS，由 token 速率和公式得出 *",
	  "the program reports * TFLOPS of a device, its token rate and our "
	  "formulas give *" },
	{ "the program reports an MFU of * %, its token rate and our formulas "
	  "give *",
	  "程序报告 MFU 为 * %，由 token 速率和公式得出 *", NULL },
	{ "*: device * was never sampled", "*：设备 * 从未被采样", NULL },
	{ "*: device * was not sampled for * s, and its energy lacks that time",
	  "*：设备 * 有 * s 未被采样，能耗不含这段时间",
	  "*: device * was not sampled for * s, which its energy leaves out" },
	{ "* more devices were sampled with gaps", "另有 * 个设备的采样有间断",
	  NULL },
	{ "*: monitor: *", "*：监控程序：*", NULL },
	{ "*: rank * exited with code *: *", "*：rank * 的退出码为 *：*",
	  NULL },
	{ "*: rank * exited with code *", "*：rank * 的退出码为 *", NULL },
	{ "*: rank * was ended by signal * (*) that nobody here sent: engine "
	  "or host stopped?",
	  "*：rank * 被信号 *（*）结束，并非这里发出：引擎或主机停了？", NULL },
	{ "*: rank * was ended by signal * (*): *",
	  "*：rank * 被信号 *（*）结束：*", NULL },
	{ "*: rank * was ended by signal * (*)", "*：rank * 被信号 *（*）结束",
	  NULL },
	{ "*: rank *: the kernel killed * process(es) for memory: *",
	  "*：rank *：内核因内存不足杀死了 * 个进程：*", NULL },
	{ "*: rank *: the kernel killed * process(es) for memory",
	  "*：rank *：内核因内存不足杀死了 * 个进程", NULL },
	{ "*: the kernel killed the container for memory",
	  "*：内核因内存不足杀死了容器", NULL },
	{ "*: the container was killed from outside (exit code *, no exit "
	  "record)",
	  "*：容器被外部杀死（退出码 *，没有退出记录）", NULL },
	{ "*: the container vanished without an exit record",
	  "*：容器消失，没有退出记录", NULL },
	{ "*: the exit record is forged or damaged: *",
	  "*：退出记录是伪造的或已损坏：*", NULL },
	{ "not ended within its limit of * s", "在 * s 的时限内没有结束",
	  NULL },
	{ "no step, no output and nothing written for * s after step *: *",
	  "* s 内没有新的步、输出或写入，停在第 * 步之后：*", NULL },
	{ "no step, no output and nothing written for * s after step *",
	  "* s 内没有新的步、输出或写入，停在第 * 步之后", NULL },
	{ "no step, no output and nothing written for * s: *",
	  "* s 内没有步、输出或写入：*", NULL },
	{ "no step, no output and nothing written for * s",
	  "* s 内没有步、输出或写入", NULL },
	{ "* no longer has the task", "* 上已没有该任务", NULL },
	{ "* has been out of reach for * s", "* 已失联 * s", NULL },
	{ "* was removed", "* 已被移除", NULL },
	{ "* steps in the log, but no step time and no rate",
	  "日志中有 * 步，但没有步时间和速率", NULL },
	{ "* steps in the log, none after the warm-up of *",
	  "日志中有 * 步，预热的 * 步之后没有",
	  "* steps in the log, none behind the warm-up of *" },
	{ "nothing in the log matches the rules of *",
	  "日志中没有符合 * 规则的行", NULL },
	{ "job * (*) failed: *", "作业 *（*）失败：*", NULL },
	{ "job * failed: *", "作业 * 失败：*", NULL },
	{ "job * (*) was cancelled", "作业 *（*）已取消", NULL },
	{ "job * was cancelled", "作业 * 已取消", NULL },
	{ "job * does not exist", "没有作业 *", "job * is not there" },
};

#define SENTENCES (sizeof(sentences) / sizeof(sentences[0]))

struct stretch {
	const char *text;
	size_t size;
};

/* Is the sentence of the pattern? Then what its stars stand for. */
static bool fits(const char *pattern, const char *sentence,
		 struct stretch stars[STARS_MAX])
{
	size_t size = strcspn(pattern, "*");

	if (strncmp(sentence, pattern, size) != 0)
		return false;
	for (;;) {
		const char *end = sentence += size;

		pattern += size;
		if (!*pattern)
			return !*sentence;
		size = strcspn(++pattern, "*");
		while (*end && (!size || strncmp(end, pattern, size) != 0))
			end++;
		*stars++ =
			(struct stretch){ sentence, (size_t)(end - sentence) };
		if (!*end && size)
			return false;
		sentence = end;
	}
}

static int put(const char *translation, const struct stretch *stars,
	       struct buffer *out, struct error *err)
{
	for (;; stars++) {
		size_t size = strcspn(translation, "*");

		if (buffer_append(out, translation, size, err) < 0)
			return -1;
		translation += size;
		if (!*translation)
			return 0;
		if (buffer_append(out, stars->text, stars->size, err) < 0)
			return -1;
		translation++;
	}
}

int sentence_put(const char *sentence, enum language language,
		 struct buffer *out, struct error *err)
{
	struct stretch stars[STARS_MAX] = { 0 };

	for (size_t i = 0; language == LANGUAGE_ZH && i < SENTENCES; i++)
		if (fits(sentences[i].english, sentence, stars) ||
		    (sentences[i].earlier &&
		     fits(sentences[i].earlier, sentence, stars)))
			return put(sentences[i].chinese, stars, out, err);
	return buffer_text(out, sentence, err);
}
