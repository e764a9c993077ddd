/* advice.c - advises what to do about a class of failure.
 */
#include "controller/report/advice.h"

#include <stddef.h>

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
/* clang-format on */

const char *failure_advice(enum failure failure, enum language language)
{
	return failure < FAILURES ? advice[failure][language] : NULL;
}
