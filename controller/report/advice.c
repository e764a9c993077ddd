/* advice.c - explains a class of failure and advises what to do.
 */
#include "controller/report/advice.h"

#include <stddef.h>

static const char *const classes_zh[FAILURES] = {
	[FAILURE_PREFLIGHT] = "节点检查未通过（preflight）",
	[FAILURE_IMAGE] = "镜像不可用（image）",
	[FAILURE_CREATE] = "容器无法创建或启动（create）",
	[FAILURE_EXIT] = "进程异常退出（exit）",
	[FAILURE_OOM] = "内存不足（oom）",
	[FAILURE_NODE_LOST] = "节点失联（node-lost）",
	[FAILURE_TIMEOUT] = "超过时限（timeout）",
	[FAILURE_HANG] = "训练停滞（hang）",
	[FAILURE_NO_METRIC] = "日志中没有指标（no-metric）",
	[FAILURE_POLICY] = "节点策略不允许（policy）",
	[FAILURE_CANCELLED] = "已取消（cancelled）",
	[FAILURE_INCOMPLETE] = "步数不足（incomplete）",
	[FAILURE_SKIPPED] = "已跳过（skipped）",
	[FAILURE_PREEMPTED] = "节点时间已到（preempted）",
};

static const char *const advice[FAILURES][LANGUAGES] = {
	[FAILURE_PREFLIGHT] = { "fix the node, or exclude it (regatta node "
				"drain), then regatta retry",
				"修复该节点，或将其排除（regatta node "
				"drain），然后 regatta retry" },
	[FAILURE_IMAGE] = { "check the name, and that the node can pull it "
			    "(regatta image pull), then regatta retry",
			    "检查镜像名称，确认节点可以拉取（regatta image "
			    "pull），然后 regatta retry" },
	[FAILURE_CREATE] = { "see the engine's log on the node (journalctl -u "
			     "docker), then regatta retry",
			     "查看节点上的引擎日志（journalctl -u "
			     "docker），然后 regatta retry" },
	[FAILURE_EXIT] = { "regatta logs shows the preceding output, regatta "
			   "diagnose other candidates",
			   "regatta logs 显示此前的输出，regatta diagnose "
			   "列出其他可能的原因" },
	[FAILURE_OOM] = { "a smaller batch, or more `memory` in the sweep",
			  "减小批大小，或在扫描文件中增大 `memory`" },
	[FAILURE_NODE_LOST] = { "check the node and its agent (regatta nodes, "
				"journalctl -u regatta-agent), then regatta "
				"retry",
				"检查节点及其 agent（regatta "
				"nodes，journalctl -u "
				"regatta-agent），然后 regatta retry" },
	[FAILURE_TIMEOUT] = { "a longer `timeout` in the sweep, or fewer steps",
			      "在扫描文件中延长 `timeout`，或减少步数" },
	[FAILURE_HANG] = { "regatta stacks shows what its ranks did; `hang` in "
			   "the sweep sets the limit",
			   "regatta stacks 显示各 rank "
			   "当时在做什么；扫描文件中的 "
			   "`hang` 设定时限" },
	[FAILURE_NO_METRIC] = { "regatta extract shows how its log is read, "
				"and "
				"--learn proposes rules",
				"regatta extract 显示日志的解析结果，--learn "
				"给出规则建议" },
	[FAILURE_POLICY] = { "the node's policy must allow it; regatta policy "
			     "suggest prints the lines",
			     "须由节点策略允许；regatta policy suggest "
			     "给出所需的内容" },
	[FAILURE_INCOMPLETE] = { "see the end of regatta logs; `steps` in the "
				 "sweep must be the steps of the training",
				 "查看 regatta logs 的末尾；扫描文件中的 "
				 "`steps` "
				 "须等于训练的步数" },
	[FAILURE_SKIPPED] = { "regatta retry the job on which it depends",
			      "先对其依赖的作业执行 regatta retry" },
};

const char *failure_class(enum failure failure, enum language language)
{
	if (language == LANGUAGE_ZH)
		return failure < FAILURES ? classes_zh[failure] : NULL;
	return failure_name(failure);
}

const char *failure_advice(enum failure failure, enum language language)
{
	return failure < FAILURES ? advice[failure][language] : NULL;
}
