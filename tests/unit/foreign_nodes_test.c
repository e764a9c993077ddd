/* foreign_nodes_test.c - device nodes that an engine, a vendor's runtime and a
 * hook make in a container: which of them are known. Root only.
 */
#include "agent/task/foreign_nodes.h"
#include "tests/tap.h"
#include "tests/unit/hardware_lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define BUS "0000:3b:00.0"

static struct lab lab;

static void make_node(const char *folder, const char *path, mode_t type,
		      unsigned int major_number, unsigned int minor_number)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s%s", lab.folder, folder, path);
	for (char *at = full + strlen(lab.folder) + 1; (at = strchr(at, '/'));
	     *at++ = '/') {
		*at = 0;
		mkdir(full, 0755);
	}
	unlink(full);
	if (mknod(full, type | 0600, makedev(major_number, minor_number)) < 0)
		perror(full);
}

static const struct {
	const char *path; /* in the container */
	mode_t type;
	unsigned int major_number, minor_number;
	bool known;
	const char *what;
} cases[] = {
	{ "/dev/null", S_IFCHR, 1, 3, true, "what each container has" },
	{ "/dev/null", S_IFCHR, 1, 1, false, "memory by its name" },
	{ "/dev/null", S_IFBLK, 1, 3, false, "a disk of its number" },
	{ "/dev/ours", S_IFCHR, 195, 0, true, "one of the request" },
	{ "/dev/again", S_IFCHR, 195, 0, true, "the same once more" },
	{ "/dev/nvidia1", S_IFCHR, 195, 1, false, "the card of another task" },
	{ "/dev/nvidia-modeset", S_IFCHR, 195, 254, true,
	  "one that the profile has for all" },
	{ "/dev/nvidia-modeset", S_IFCHR, 195, 1, false,
	  "another one in its place" },
	{ "/dev/nvidia-caps/cap1", S_IFCHR, 237, 1, true,
	  "one of a folder that the profile has" },
	{ "/dev/mine", S_IFCHR, 10, 1, true, "one that the policy names" },
	{ "/dev/.hidden/x/y", S_IFCHR, 1, 11, false, "one that hides" },
	{ "/dev/dri/card1", S_IFCHR, 226, 1, true,
	  "one of a device of the task" },
	{ "/dev/dri/card2", S_IFCHR, 226, 2, false, "one of another device" },
	{ "/dev/shared", S_IFCHR, 240, 1, true,
	  "one that a description has for all devices" },
	{ "/dev/renamed", S_IFCHR, 240, 2, true,
	  "one that it has for the requested device, by another name" },
	{ "/dev/other", S_IFCHR, 240, 3, false,
	  "one that it has for another device" },
	{ "/dev/strange", S_IFCHR, 240, 4, false,
	  "one of another vendor's description" },
};

/* What of the node is the same in all cases. */
static void make_machine(void)
{
	make_node("/dev", "/nvidia0", S_IFCHR, 195, 0);
	make_node("/dev", "/nvidia1", S_IFCHR, 195, 1);
	make_node("/dev", "/nvidia-modeset", S_IFCHR, 195, 254);
	make_node("/dev", "/nvidia-caps/cap1", S_IFCHR, 237, 1);
	make_node("/dev", "/mine", S_IFCHR, 10, 1);
	make_node("/dev", "/shared", S_IFCHR, 240, 1);
	make_node("/dev", "/named", S_IFCHR, 240, 2);
	make_node("/dev", "/other", S_IFCHR, 240, 3);
	make_node("/dev", "/strange", S_IFCHR, 240, 4);
	lab_file(&lab, "/sys/dev/char/x", "%d", 0);
	lab_link(&lab, "/sys/dev/char/226:1",
		 "../../devices/pci0000:3a/" BUS "/drm/card1");
	lab_link(&lab, "/sys/dev/char/226:2",
		 "../../devices/pci0000:3a/0000:3c:00.0/drm/card2");
}

static int check_one(size_t i, struct error *err)
{
	static const char rules[] = "devices: [/dev/mine]";
	static struct cdi_node described[] = {
		{ (char *)"nvidia.com/gpu", NULL, (char *)"/dev/shared",
		  (char *)"/dev/shared" },
		{ (char *)"nvidia.com/gpu", (char *)"nvidia.com/gpu=0",
		  (char *)"/dev/named", (char *)"/dev/renamed" },
		{ (char *)"nvidia.com/gpu", (char *)"nvidia.com/gpu=1",
		  (char *)"/dev/other", (char *)"/dev/other" },
		{ (char *)"else.com/gpu", NULL, (char *)"/dev/strange",
		  (char *)"/dev/strange" },
	};
	static const struct cdi_nodes cdi = { described, 4 };
	static char *first[] = { (char *)"0" };
	static const struct strings given = { .items = first, .count = 1 };
	owned(resolved_paths_clear) struct resolved_paths paths = { 0 };
	owned(policy_free) struct policy *policy =
		policy_parse(rules, strlen(rules), "p.yaml", err);
	owned(profile_free) struct profile *profile = lab_profile("nvidia");
	struct device_info cards[2] = { { .bus_id = (char *)BUS },
					{ .bus_id = (char *)"0000:3c:00.0" } };
	struct devices devices = { .list = cards, .count = 2 };
	owned_free char *text = NULL;
	char root[PATH_MAX];
	owned_fd int fd = -1;
	cJSON *request;
	int rc;

	if (asprintf(&text,
		     "{\"HostConfig\":{\"Devices\":[{\"PathOnHost\":"
		     "\"%s/nvidia0\",\"PathInContainer\":\"/dev/ours\"}],"
		     "\"DeviceRequests\":[{\"Driver\":\"cdi\",\"DeviceIDs\":"
		     "[\"nvidia.com/gpu=0\"]}]}}",
		     lab.dev) < 0)
		return 1;
	request = cJSON_Parse(text);
	snprintf(root, sizeof(root), "%s/root%zu", lab.folder, i);
	mkdir(root, 0755);
	make_node(strrchr(root, '/'), "/dev/zero", S_IFCHR, 1, 5);
	make_node(strrchr(root, '/'), cases[i].path, cases[i].type,
		  cases[i].major_number, cases[i].minor_number);
	fd = open(root, O_PATH | O_CLOEXEC);
	rc = foreign_nodes_check(
		&(struct foreign_nodes){ .policy = policy,
					 .request = request,
					 .paths = &paths,
					 .rules = &profile->container,
					 .cdi_nodes = &cdi,
					 .roots = &lab.roots,
					 .devices = &devices,
					 .given = &given },
		fd, err);
	cJSON_Delete(request);
	return rc;
}

int main(void)
{
	struct error err;

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	tap_begin(60);
	lab_begin(&lab);
	make_machine();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rc;

		error_set(&err, 1, "known");
		rc = check_one(i, &err);
		ok(cases[i].known ? rc == 0
				  : rc < 0 && err.code == EPERM &&
					    strstr(err.text, cases[i].path),
		   "%s: %s", cases[i].what, err.text);
	}
	lab_end(&lab);
	return tap_done();
}
