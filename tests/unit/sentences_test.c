/* sentences_test.c - what results and anomalies say, in Chinese.
 */
#include "controller/report/sentences.h"
#include "tests/tap.h"

static void says(const char *sentence, const char *want)
{
	owned(buffer_clear) struct buffer out;

	buffer_init(&out, 1000);
	ok(sentence_put(sentence, LANGUAGE_ZH, &out, NULL) == 0, "%.40s",
	   sentence);
	is(out.data, want, "in Chinese");
	buffer_consume(&out, out.size);
	sentence_put(sentence, LANGUAGE_EN, &out, NULL);
	is(out.data, sentence, "and in English as it is");
}

int main(void)
{
	tap_begin(45);
	says("the 3 repeats differ by 8.4 % (coefficient of variation), more "
	     "than 5 %",
	     "3 次重复的变异系数为 8.4 %，超过 5 %");
	says("only one step: the values include its warm-up",
	     "只有一步：数值包含预热");
	says("the rate jumps: that of model=a n=2 is 3.1 times as much",
	     "速率突变：model=a n=2 的速率是它的 3.1 倍");
	says("n1: rank 0 exited with code 3", "n1：rank 0 的退出码为 3");
	says("n1: rank 0 exited with code 3: Error: no: * file",
	     "n1：rank 0 的退出码为 3：Error: no: * file");
	says("the program reports an MFU of 51.0 %, its token rate and our "
	     "formulas give 40.1 to 40.9",
	     "程序报告 MFU 为 51.0 %，由 token 速率和公式得出 40.1 to 40.9");
	says("steps 21 to 40 at 1.0 ms, 0.1 s in all, take longer than the "
	     "whole job, 0.0 s",
	     "第 21 到 40 步每步 1.0 ms，共 0.1 s，长于整个作业的 0.0 s");
	says("n2: rank 3 was ended by signal 11 (Segmentation fault): rank 7: "
	     "Fatal: x",
	     "n2：rank 3 被信号 11（Segmentation fault）结束：rank 7: Fatal: "
	     "x");
	says("n2: rank 3 was ended by signal 9 (Killed) that nobody here sent: "
	     "engine or host stopped?",
	     "n2：rank 3 被信号 "
	     "9（Killed）结束，并非这里发出：引擎或主机停了？");
	says("no step, no output and nothing written for 900 s after step 12",
	     "900 s 内没有新的步、输出或写入，停在第 12 步之后");
	says("no step, no output and nothing written for 900 s",
	     "900 s 内没有步、输出或写入");
	says("job 4 (model=a n=2) failed: exit",
	     "作业 4（model=a n=2）失败：exit");
	says("one step only", "one step only");
	says("one step only: its warm-up is in the figures",
	     "只有一步：数值包含预热");
	says("only one step: the values include its warm-up!",
	     "only one step: the values include its warm-up!");
	says("", "");
	return tap_done();
}
