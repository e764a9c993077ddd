/* translations.c - the phrases of the reference page in English and Chinese.
 */
#include "controller/report/translations.h"

#include <string.h>

const char *const language_names[LANGUAGES + 1] = { "en", "zh", NULL };

/* clang-format off */
static const char *const phrases[][LANGUAGES] = {
	{ "Sweep %llu: %s", "扫描 %llu：%s" },
	{ "%s: configuration and results", "%s 配置与运行信息参考" },
	{ "Environment", "环境配置" },
	{ "Hardware", "硬件环境" },
	{ "Machine", "机器型号" },
	{ "Accelerator", "加速卡型号" },
	{ "CPU", "CPU型号" },
	{ "Network between nodes, bandwidth", "多机网络类型、带宽" },
	{ "Software", "软件环境" },
	{ "OS", "OS版本" },
	{ "OS kernel", "OS kernel版本" },
	{ "Accelerator driver", "加速卡驱动版本" },
	{ "Accelerator SDK", "依赖软件版本" },
	{ "Container engine", "Docker 版本" },
	{ "Training framework", "训练框架版本" },
	{ "Parallelism", "并行策略" },
	{ "Technique", "并行技术" },
	{ "%s parallel", "%s混合并行" },
	{ "tensor", "张量" },
	{ "pipeline", "流水" },
	{ "expert", "专家" },
	{ "context", "上下文" },
	{ "data", "数据" },
	{ ", ", "、" },
	{ ": ", "：" },
	{ "By", "实施者" },
	{ "In detail", "实施细节" },
	{ "Optimisation", "优化策略" },
	{ "Run", "运行情况" },
	{ "Batch", "输入批尺寸" },
	{ "local batch size (micro batch size), LBS: the samples that "
	  "enter the model at once on one device; here ",
	  "local_batchsize(micro_batchsize)，简写为LBS，即单次进入模型"
	  "的张量批尺寸，在本case中为" },
	{ "sequence length (max position embedding), MPE: the tokens "
	  "of one sample; here ",
	  "seqlength(max_position_embedding)，简写为MPE，即单条输入的序"
	  "列长度，在本case中为" },
	{ "gradient accumulation steps, GAS: micro steps per step of "
	  "the optimizer; here ",
	  "gradient_accumulate_steps，简写为GAS，即梯度累加步数，在本ca"
	  "se中为" },
	{ "global batch size, GBS = LBS × GAS × data parallel size; "
	  "here ",
	  "global_batchsize，简写为GBS，等于local_batchsize\\*gradient_"
	  "accumulate_steps\\*data_parallel_size，在本case中为" },
	{ "General", "通用指标" },
	{ "| what | value | remark |",
	  "| 指标名称 | 指标值 | 特殊说明 |" },
	{ "task", "任务类别" },
	{ "model", "模型" },
	{ "data set", "数据集" },
	{ "precision", "数据精度" },
	{ "precision, see performance", "precision,见“性能指标”" },
	{ "fp32, amp, fp16 or bf16", "可选fp32/amp/fp16/bf16" },
	{ "changed settings", "超参修改" },
	{ "parallel, see performance", "parallel,见“性能指标”" },
	{ "as TPxPPyDPz, such as TP2PP1DP4",
	  "格式为TPxPPyDPz，例如TP2PP1DP4" },
	{ "fix_hp, see performance", "fix_hp,见“性能指标”" },
	{ "settings that differ from the first row",
	  "与首行配置不同的超参" },
	{ "device", "硬件设备简称" },
	{ "device memory", "硬件存储使用" },
	{ "mem, see performance", "mem,见“性能指标”" },
	{ "used/total, GiB", "通常称为“显存”,单位为GiB" },
	{ "compute utilisation", "计算使用率" },
	{ "MFU, see performance", "MFU,见“性能指标”" },
	{ "model FLOPs utilisation, formula %s",
	  "模型浮点利用率，公式 %s" },
	{ "**throughput**", "**吞吐量**" },
	{ "**token/p/s, see performance**",
	  "**token/p/s,见“性能指标”**" },
	{ "tokens per device and second", "平均单卡每秒处理的token数" },
	{ "Performance", "性能指标" },
	{ "configuration", "配置" },
	{ "loss aligned", "是否精度对齐" },
	{ "True (baseline)", "True（基线）" },
	{ "%s, 1 node, %.0f devices (%s)", "%s单机%.0f卡（%s）" },
	{ "%s, %.0f nodes, %.0f devices (%s)", "%s %.0f机%.0f卡（%s）" },
	{ "%s (row %s)", "%s（第%s行）" },
	{ "%s (rows %s)", "%s（第%s行）" },
	{ "Remarks", "补充说明" },
	{ ". To do: ", "。处理：" },
	{ "The accelerators of these runs were simulated: recorded output was "
	  "replayed, and the figures do not describe real hardware.",
	  "本次运行的加速卡为模拟设备，日志为回放，所列数值不代表真实硬件。" },
	{ " (%s)", "（%s）" },
	{ "preflight", "节点检查未通过（preflight）" },
	{ "image", "镜像不可用（image）" },
	{ "create", "容器无法创建或启动（create）" },
	{ "exit", "进程异常退出（exit）" },
	{ "oom", "内存不足（oom）" },
	{ "node-lost", "节点失联（node-lost）" },
	{ "timeout", "超过时限（timeout）" },
	{ "hang", "训练停滞（hang）" },
	{ "no-metric", "日志中没有指标（no-metric）" },
	{ "policy", "节点策略不允许（policy）" },
	{ "cancelled", "已取消（cancelled）" },
	{ "incomplete", "步数不足（incomplete）" },
	{ "skipped", "已跳过（skipped）" },
	{ "preempted", "节点时间已到（preempted）" },
};
/* clang-format on */

const char *phrase(enum language language, const char *english)
{
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (!strcmp(phrases[i][LANGUAGE_EN], english))
			return phrases[i][language];
	return english;
}
