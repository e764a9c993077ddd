/* translations.c - the words of the reference page, in its languages.
 */
#include "controller/report/translations.h"

#include <stddef.h>

const char *const language_names[LANGUAGES + 1] = { "en", "zh", NULL };

/* clang-format off */
static const char *const phrases[PHRASES][LANGUAGES] = {
	[PHRASE_SWEEP] = { "Sweep %llu: %s", "扫描 %llu：%s" },
	[PHRASE_TITLE] = { "%s: configuration and results",
			   "%s 配置与运行信息参考" },
	[PHRASE_ENVIRONMENT] = { "Environment", "环境配置" },
	[PHRASE_HARDWARE] = { "Hardware", "硬件环境" },
	[PHRASE_MACHINE] = { "Machine", "机器型号" },
	[PHRASE_ACCELERATOR] = { "Accelerator", "加速卡型号" },
	[PHRASE_CPU] = { "CPU", "CPU型号" },
	[PHRASE_NETWORK] = { "Network between nodes, bandwidth",
			     "多机网络类型、带宽" },
	[PHRASE_SOFTWARE] = { "Software", "软件环境" },
	[PHRASE_OS] = { "OS", "OS版本" },
	[PHRASE_KERNEL] = { "OS kernel", "OS kernel版本" },
	[PHRASE_DRIVER] = { "Accelerator driver", "加速卡驱动版本" },
	[PHRASE_SDK] = { "Accelerator SDK", "依赖软件版本" },
	[PHRASE_DOCKER] = { "Container engine", "Docker 版本" },
	[PHRASE_FRAMEWORK] = { "Training framework", "训练框架版本" },
	[PHRASE_PARALLEL] = { "Parallelism", "并行策略" },
	[PHRASE_TECHNIQUE] = { "Technique", "并行技术" },
	[PHRASE_TECHNIQUE_DATA] = { "data parallel", "data parallel" },
	[PHRASE_TECHNIQUE_SHARDED] = { "sharded data parallel",
				       "sharded data parallel" },
	[PHRASE_TECHNIQUE_MODEL] = { "%s parallel", "%s混合并行" },
	[PHRASE_TENSOR] = { "tensor", "张量" },
	[PHRASE_PIPELINE] = { "pipeline", "流水" },
	[PHRASE_EXPERT] = { "expert", "专家" },
	[PHRASE_CONTEXT] = { "context", "上下文" },
	[PHRASE_AND_DATA] = { "data", "数据" },
	[PHRASE_JOIN] = { ", ", "、" },
	[PHRASE_COLON] = { ": ", "：" },
	[PHRASE_IMPLEMENTER] = { "By", "实施者" },
	[PHRASE_DETAIL] = { "In detail", "实施细节" },
	[PHRASE_OPTIMIZATIONS] = { "Optimisation", "优化策略" },
	[PHRASE_RUN] = { "Run", "运行情况" },
	[PHRASE_BATCH] = { "Batch", "输入批尺寸" },
	[PHRASE_LBS] = {
		"local batch size (micro batch size), LBS: the samples that "
		"enter the model at once on one device; here %s",
		"local_batchsize(micro_batchsize)，简写为LBS，即单次进入模型的张"
		"量批尺寸，在本case中为%s" },
	[PHRASE_MPE] = {
		"sequence length (max position embedding), MPE: the tokens of "
		"one sample; here %s",
		"seqlength(max_position_embedding)，简写为MPE，即单条输入的序列"
		"长度，在本case中为%s" },
	[PHRASE_GAS] = {
		"gradient accumulation steps, GAS: micro steps per step of the "
		"optimizer; here %s",
		"gradient_accumulate_steps，简写为GAS，即梯度累加步数，在本case"
		"中为%s" },
	[PHRASE_GBS] = {
		"global batch size, GBS = LBS × GAS × data parallel size; "
		"here %s",
		"global_batchsize，简写为GBS，等于"
		"local_batchsize\\*gradient_accumulate_steps"
		"\\*data_parallel_size，在本case中为%s" },
	[PHRASE_GENERAL] = { "General", "通用指标" },
	[PHRASE_GENERAL_HEAD] = { "| what | value | remark |",
				  "| 指标名称 | 指标值 | 特殊说明 |" },
	[PHRASE_TASK] = { "task", "任务类别" },
	[PHRASE_MODEL] = { "model", "模型" },
	[PHRASE_DATASET] = { "data set", "数据集" },
	[PHRASE_PRECISION] = { "precision", "数据精度" },
	[PHRASE_SEE_PRECISION] = { "precision, see performance",
				   "precision,见“性能指标”" },
	[PHRASE_PRECISION_NOTE] = { "fp32, amp, fp16 or bf16",
				    "可选fp32/amp/fp16/bf16" },
	[PHRASE_CHANGES] = { "changed settings", "超参修改" },
	[PHRASE_SEE_LAYOUT] = { "parallel, see performance",
				"parallel,见“性能指标”" },
	[PHRASE_LAYOUT_NOTE] = { "as TPxPPyDPz, such as TP2PP1DP4",
				 "格式为TPxPPyDPz，例如TP2PP1DP4" },
	[PHRASE_SEE_CHANGES] = { "fix_hp, see performance",
				 "fix_hp,见“性能指标”" },
	[PHRASE_CHANGES_NOTE] = { "what this row sets otherwise than the first",
				  "与首行配置不同的超参" },
	[PHRASE_DEVICE] = { "device", "硬件设备简称" },
	[PHRASE_MEMORY] = { "device memory", "硬件存储使用" },
	[PHRASE_SEE_MEMORY] = { "mem, see performance", "mem,见“性能指标”" },
	[PHRASE_MEMORY_NOTE] = { "used/total, GiB", "通常称为“显存”,单位为GiB" },
	[PHRASE_UTILISATION] = { "compute utilisation", "计算使用率" },
	[PHRASE_SEE_UTILISATION] = { "MFU, see performance",
				     "MFU,见“性能指标”" },
	[PHRASE_UTILISATION_NOTE] = { "model FLOPs utilisation, formula %s",
				      "模型浮点利用率，公式 %s" },
	[PHRASE_THROUGHPUT] = { "**throughput**", "**吞吐量**" },
	[PHRASE_SEE_THROUGHPUT] = { "**token/p/s, see performance**",
				    "**token/p/s,见“性能指标”**" },
	[PHRASE_THROUGHPUT_NOTE] = { "tokens per device and second",
				     "平均单卡每秒处理的token数" },
	[PHRASE_PERFORMANCE] = { "Performance", "性能指标" },
	[PHRASE_CONFIGURATION] = { "configuration", "配置" },
	[PHRASE_ALIGNED] = { "loss aligned", "是否精度对齐" },
	[PHRASE_BASELINE] = { "True (baseline)", "True（基线）" },
	[PHRASE_ONE_NODE] = { "%s, 1 node, %.0f devices (%s)",
			      "%s单机%.0f卡（%s）" },
	[PHRASE_MANY_NODES] = { "%s, %.0f nodes, %.0f devices (%s)",
				"%s %.0f机%.0f卡（%s）" },
	[PHRASE_ROW] = { "%s (row %s)", "%s（第%s行）" },
	[PHRASE_ROWS] = { "%s (rows %s)", "%s（第%s行）" },
	[PHRASE_REMARKS] = { "Remarks", "补充说明" },
	[PHRASE_CLASS] = { "%s: ", "%s：" },
	[PHRASE_TODO] = { ". To do: %s", "。处理：%s" },
	[PHRASE_SIMULATED] = {
		"The accelerators of these runs were simulated: recorded output "
		"was replayed, and no figure says anything of real hardware.",
		"本次运行的加速卡为模拟设备，日志为回放，所列数值不代表真实硬件。" },
};
/* clang-format on */

const char *phrase(enum language language, enum phrase phrase)
{
	return phrases[phrase][language];
}
