/* network.h - the networks of the host: Ethernet and InfiniBand, and their
 * speed.
 */
#pragma once

#include <cjson/cJSON.h>
#include <net/if.h>

/* Add facts from /sys (sys: the folder in its place):
 *
 *	"networks": [{"name": "eth0", "mbit_per_s": 25000,
 *	  "state": "up", "physical": true}]	     without loopback
 *	"mtu": 9000	the least of physical links that are up
 *	"infiniband_firmware": "20.31" or "20.31, 22.1"  of all its devices
 *	"infiniband": [{"device": "mlx5_0", "port": 1, "type": "InfiniBand" or
 *	  "RoCE", "gbit_per_s": 200, "rate": "200 Gb/sec (4X HDR)",
 *	  "state": "ACTIVE"}]
 *	"network": "InfiniBand, 8x200 Gb/s"  the fastest kind that is up, in
 *	                                     words, as benchmark tables want it
 *
 * Unknown facts are absent. Source: Linux Documentation/ABI/stable/
 * sysfs-class-infiniband, testing/sysfs-class-net.
 */
void network_facts(cJSON *facts, const char *sys);

/* The interface that has this numeric address; NULL: none, or it is a name. */
const char *network_interface(const char *address, char name[IF_NAMESIZE]);
