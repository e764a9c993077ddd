/* exporter.c - metrics of this node for Prometheus, at GET /metrics.
 */
#include "agent/exporter.h"
#include "protocol/base/log.h"
#include "protocol/http/openmetrics.h"

#include <string.h>
#include <sys/statvfs.h>

#define MIB (1024.0 * 1024.0)

/* clang-format off */
static const struct {
	const char *name;
	const char *help;
	double unit;
} host_families[HOST_READINGS] = {
	[HOST_CPU_PCT] = { "regatta_host_cpu_usage_ratio",
		"Share of all processors that is busy.", 0.01 },
	[HOST_MEM_USED_MIB] = { "regatta_host_memory_used_bytes",
		"Memory used.", MIB },
	[HOST_DISK_READ_MIB_S] = { "regatta_host_disk_read_bytes_per_second",
		"Bytes read from whole disks.", MIB },
	[HOST_DISK_WRITE_MIB_S] = { "regatta_host_disk_write_bytes_per_second",
		"Bytes written to whole disks.", MIB },
	[HOST_NET_IN_MIB_S] = { "regatta_host_network_in_bytes_per_second",
		"Bytes received by physical interfaces and RDMA.", MIB },
	[HOST_NET_OUT_MIB_S] = { "regatta_host_network_out_bytes_per_second",
		"Bytes sent by physical interfaces and RDMA.", MIB },
	[HOST_CPU_POWER_W] = { "regatta_host_cpu_power_watts",
		"Power of the processors (RAPL packages).", 1 },
	[HOST_POWER_W] = { "regatta_host_power_watts",
		"Power of the whole machine, from IPMI.", 1 },
	[HOST_NET_ERRORS] = { "regatta_host_network_errors",
		"Errors of interfaces and RDMA ports since the machine was started.",
		1 },
	[HOST_NET_RETRANSMITS] = { "regatta_host_network_rdma_retransmits",
		"Packets that RDMA sent again since the machine was started.", 1 },
};
/* clang-format on */

static void put_host(const struct exporter_config *exporter,
		     struct openmetrics *metrics)
{
	struct host_usage_sample sample = monitor_host(exporter->monitor);

	for (int i = 0; i < HOST_READINGS; i++)
		if (sample.has & 1U << i)
			openmetrics_gauge(metrics, host_families[i].name,
					  host_families[i].help,
					  sample.value[i] *
						  host_families[i].unit);
}

static void exporter_put_devices(const struct exporter_config *exporter,
				 struct openmetrics *metrics)
{
	const struct devices *devices = inventory_devices(exporter->inventory);
	struct device_metrics list[DEVICES_MAX];
	size_t count = monitor_devices(exporter->monitor, list), gone = 0;

	for (size_t i = 0; i < devices->count; i++)
		gone += devices->list[i].gone || devices->list[i].text;
	openmetrics_gauge(metrics, "regatta_agent_devices",
			  "Devices of this node, including lost ones.",
			  inventory_count(exporter->inventory));
	openmetrics_gauge(metrics, "regatta_agent_devices_lost",
			  "Devices that are gone or cannot be used.",
			  (double)gone);
	device_metrics_put(metrics, list, count);
}

static void put_agent(const struct exporter_config *exporter,
		      struct openmetrics *metrics)
{
	struct statvfs disk;

	openmetrics_family(metrics, "regatta_agent_info", METRIC_GAUGE,
			   "Version and labels of this agent; always 1.");
	openmetrics_value(metrics, 1, "node", exporter->node, "version",
			  REGATTA_VERSION, "vendor",
			  inventory_vendor(exporter->inventory), NULL);
	openmetrics_gauge(metrics, "regatta_agent_connected",
			  "1 if this node has a session with the controller.",
			  session_is_open(exporter->session));
	openmetrics_gauge(metrics, "regatta_agent_tasks",
			  "Tasks with a container or a spool on this node.",
			  (double)task_table_count(exporter->tasks));
	if (statvfs(exporter->state, &disk) == 0)
		openmetrics_gauge(metrics, "regatta_agent_spool_free_bytes",
				  "Free space on the disk of the spool.",
				  (double)disk.f_bavail *
					  (double)disk.f_frsize);
}

static void exporter_answer(void *arg, const struct http_request *request,
			    struct http_reply *reply)
{
	const struct exporter_config *exporter = arg;
	struct openmetrics metrics;

	if (strcmp(http_path(request), "/metrics") != 0) {
		reply->status = 404;
		buffer_text(&reply->body, "not found; only /metrics exists\n",
			    NULL);
		return;
	}
	monitor_watch(exporter->monitor);
	if (!openmetrics_begin(&metrics, request, reply))
		return;
	put_agent(exporter, &metrics);
	put_host(exporter, &metrics);
	exporter_put_devices(exporter, &metrics);
	openmetrics_end(&metrics, reply);
}

struct http_server *exporter_new(const struct exporter_config *config,
				 struct error *err)
{
	static const struct http_handler handler = { .answer =
							     exporter_answer };
	struct http_server *server =
		http_server_new(config->loop,
				&(struct http_config){ .address =
							       config->address,
						       .name = config->name },
				&handler, (void *)config, err);

	if (server)
		log_info("metrics at %s/metrics", http_server_url(server));
	else
		error_prefix(err, "metrics");
	return server;
}
