/* advice.c - advises what to do about a failure: by what its text tells, else
 * by its class.
 */
#include "controller/report/advice.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const char *const advice[FAILURES][LANGUAGES] = {
	[FAILURE_PREFLIGHT] = {
		"fix the node, or exclude it (regatta node drain), then "
		"regatta retry",
		"修复该节点，或将其排除（regatta node drain），然后 regatta "
		"retry" },
	[FAILURE_IMAGE] = {
		"check the name, and that the node can pull it (regatta "
		"image pull), then regatta retry",
		"检查镜像名称，确认节点可以拉取（regatta image pull），然后 "
		"regatta retry" },
	[FAILURE_CREATE] = {
		"see the engine's log on the node (journalctl -u docker), "
		"then regatta retry",
		"查看节点上的引擎日志（journalctl -u docker），然后 regatta "
		"retry" },
	[FAILURE_EXIT] = {
		"see the preceding output (regatta logs) and other "
		"candidates (regatta diagnose)",
		"regatta logs 显示此前的输出，regatta diagnose 列出其他可能"
		"的原因" },
	[FAILURE_OOM] = {
		"use a smaller batch, or more `memory` in the sweep",
		"减小批大小，或在扫描文件中增大 `memory`" },
	[FAILURE_NODE_LOST] = {
		"check the node and its agent (regatta nodes, journalctl -u "
		"regatta-agent), then regatta retry",
		"检查节点及其 agent（regatta nodes，journalctl -u regatta-agent"
		"），然后 regatta retry" },
	[FAILURE_TIMEOUT] = {
		"set a longer `timeout` in the sweep, or fewer steps",
		"在扫描文件中延长 `timeout`，或减少步数" },
	[FAILURE_HANG] = {
		"see what its ranks did (regatta stacks); `hang` in the "
		"sweep sets the limit",
		"regatta stacks 显示各 rank 当时在做什么；扫描文件中的 `hang` "
		"设定时限" },
	[FAILURE_NO_METRIC] = {
		"see how its log is read (regatta extract); --learn "
		"proposes rules",
		"regatta extract 显示日志的解析结果，--learn 给出规则建议" },
	[FAILURE_POLICY] = {
		"the node's policy must allow it; regatta policy suggest "
		"prints the lines",
		"须由节点策略允许；regatta policy suggest 给出所需的内容" },
	[FAILURE_INCOMPLETE] = {
		"see the end of regatta logs; `steps` in the sweep must be "
		"the steps of the training",
		"查看 regatta logs 的末尾；扫描文件中的 `steps` 须等于训练"
		"的步数" },
	[FAILURE_SKIPPED] = {
		"run regatta retry, first for the job on which it depends",
		"执行 regatta retry；若依赖其他作业，先对该作业执行" },
};

#define OPEN_FILES                                                             \
	{ "set `ulimits: {nofile: 1048576}` in the sweep; the node's engine must "  \
	  "allow as many (LimitNOFILE of its unit)",                           \
	  "在扫描文件中设置 `ulimits: {nofile: 1048576}`；节点的引擎须允许该值"     \
	  "（其服务单元的 LimitNOFILE）" }
#define SAME_IMAGE                                                             \
	{ "load one image on all nodes (regatta image load), then regatta retry", \
	  "在所有节点上加载同一镜像（regatta image load），然后 regatta retry" }

#define CREDENTIALS                                                            \
	{ "give the registry's credentials (--registry-auth, or those of the "  \
	  "node: regatta-agent(8)), then regatta retry",                       \
	  "提供镜像仓库的凭据（--registry-auth，或节点上的凭据，见 "              \
	  "regatta-agent(8)），然后 regatta retry" }
#define UNREACHABLE                                                            \
	{ "the node does not reach the registry: see regatta-offline(7), or "   \
	  "load the image from a file (regatta image load), then regatta "     \
	  "retry",                                                             \
	  "节点无法访问镜像仓库：见 regatta-offline(7)，或从文件加载镜像（"     \
	  "regatta image load），然后 regatta retry" }
#define NO_TRUST                                                               \
	{ "set how the node's engine trusts the registry (its certificate, or " \
	  "insecure-registries), then regatta retry",                          \
	  "配置节点引擎对该仓库的信任（证书或 insecure-registries），然后 "     \
	  "regatta retry" }

#define DEVICE_MEMORY                                                          \
	{ "use a smaller batch or sequence, recompute activations, or shard "   \
	  "over more devices; `memory` in the sweep is that of the host",       \
	  "减小批大小或序列长度、启用重计算，或用更多设备切分；扫描文件中的 `memory` 仅限" \
	  "主机内存" }

/* Texts that have an advice of their own; the first that matches counts. */
static const struct {
	enum failure failure;
	const char *text;
	const char *advice[LANGUAGES];
} known[] = {
	{ FAILURE_EXIT, "received 0 items of ancdata", OPEN_FILES },
	{ FAILURE_EXIT, "Too many open files", OPEN_FILES },
	{ FAILURE_EXIT, "ermission denied",
		{ "a container's root may write only its own files: set "
		  "`capabilities: [DAC_OVERRIDE]` in the sweep, or `user` to "
		  "the owner of the folder; the node's policy needs the line "
		  "`capabilities: [DAC_OVERRIDE]`",
		  "容器内的 root 只能写入属于自己的文件：在扫描文件中设置 "
		  "`capabilities: [DAC_OVERRIDE]`，或将 `user` 设为该目录的属主"
		  "；节点策略中须有 `capabilities: [DAC_OVERRIDE]`" } },
	{ FAILURE_OOM, "torch.OutOfMemoryError", DEVICE_MEMORY },
	{ FAILURE_OOM, "cuda.OutOfMemoryError", DEVICE_MEMORY },
	{ FAILURE_OOM, " out of memory. Tried to allocate", DEVICE_MEMORY },
	{ FAILURE_OOM, " error: out of memory", DEVICE_MEMORY },
	{ FAILURE_OOM, "CUDA", DEVICE_MEMORY },
	{ FAILURE_OOM, "RESOURCE_EXHAUSTED", DEVICE_MEMORY },
	{ FAILURE_OOM, "ResourceExhausted", DEVICE_MEMORY },
	{ FAILURE_PREFLIGHT, "must have the same one", SAME_IMAGE },
	{ FAILURE_PREFLIGHT, "but this sweep uses", SAME_IMAGE },
	{ FAILURE_PREFLIGHT, "is in no registry", SAME_IMAGE },
	{ FAILURE_IMAGE, "no space left",
		{ "free disk space on the node (regatta image gc), then regatta "
		  "retry",
		  "释放节点的磁盘空间（regatta image gc），然后 regatta retry" } },
	{ FAILURE_IMAGE, "/etc/subuid",
		{ "do what the text says on the node, then regatta retry",
		  "在节点上按提示操作，然后 regatta retry" } },
	{ FAILURE_IMAGE, "toomanyrequests",
		{ "wait, or use credentials (--registry-auth) or a mirror of "
		  "the registry, then regatta retry",
		  "稍后再试，或使用凭据（--registry-auth）或镜像站，然后 regatta "
		  "retry" } },
	{ FAILURE_IMAGE, "no matching manifest",
		{ "use an image for the node's kind of processor",
		  "使用适合该节点处理器架构的镜像" } },
	{ FAILURE_IMAGE, "unauthorized", CREDENTIALS },
	{ FAILURE_IMAGE, "no basic auth credentials", CREDENTIALS },
	{ FAILURE_IMAGE, "credentials were deleted", CREDENTIALS },
	{ FAILURE_IMAGE, "x509:", NO_TRUST },
	{ FAILURE_IMAGE, "has no TLS", NO_TRUST },
	{ FAILURE_IMAGE, "no such host", UNREACHABLE },
	{ FAILURE_IMAGE, "connection refused", UNREACHABLE },
	{ FAILURE_IMAGE, "i/o timeout", UNREACHABLE },
	{ FAILURE_IMAGE, "makes no progress", UNREACHABLE },
	{ FAILURE_IMAGE, "this sweep has it", SAME_IMAGE },
};
/* clang-format on */

const char *failure_advice(enum failure failure, const char *text,
			   enum language language)
{
	for (size_t i = 0; text && i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].failure == failure && strstr(text, known[i].text))
			return known[i].advice[language];
	return failure < FAILURES ? advice[failure][language] : NULL;
}

const char *advice_once(struct advice_given *given, enum failure failure,
			const char *text, enum language language)
{
	const char *todo = failure_advice(failure, text, language);
	size_t i = 0;

	while (i < ADVICE_MAX && given->of[i] && given->of[i] != todo)
		i++;
	if (!todo || i == ADVICE_MAX || given->of[i])
		return NULL;
	return given->of[i] = todo;
}
