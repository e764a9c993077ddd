/* hardware_lab.c - a simulated /dev, /sys and /proc below a temporary folder.
 */
#include "tests/unit/hardware_lab.h"
#include "protocol/base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

void lab_begin(struct lab *lab)
{
	snprintf(lab->folder, sizeof(lab->folder), "/tmp/regatta-lab-XXXXXX");
	if (!mkdtemp(lab->folder))
		fail("mkdtemp");
	snprintf(lab->dev, sizeof(lab->dev), "%s/dev", lab->folder);
	snprintf(lab->sys, sizeof(lab->sys), "%s/sys", lab->folder);
	snprintf(lab->proc, sizeof(lab->proc), "%s/proc", lab->folder);
	snprintf(lab->bin, sizeof(lab->bin), "%s/bin", lab->folder);
	if (mkdir(lab->dev, 0755) || mkdir(lab->sys, 0755) ||
	    mkdir(lab->proc, 0755) || mkdir(lab->bin, 0755))
		fail(lab->folder);
	lab->roots = (struct sysroot){ .dev = lab->dev,
				       .sys = lab->sys,
				       .proc = lab->proc,
				       .bin = lab->bin };
}

void lab_end(struct lab *lab)
{
	file_remove_tree(AT_FDCWD, lab->folder, NULL);
}

/* The place below the folder, and the folders above it. */
static void place(struct lab *lab, const char *path, char out[PATH_MAX])
{
	char *slash;

	snprintf(out, PATH_MAX, "%s%s", lab->folder, path);
	slash = strrchr(out, '/');
	*slash = 0;
	if (file_make_folders(out, 0755, NULL) < 0)
		fail(out);
	*slash = '/';
}

void lab_file(struct lab *lab, const char *path, const char *fmt, ...)
{
	char where[PATH_MAX], text[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	place(lab, path, where);
	if (file_write(AT_FDCWD, where, text, strlen(text), 0755, 0, NULL) < 0)
		fail(where);
}

void lab_link(struct lab *lab, const char *path, const char *to)
{
	char where[PATH_MAX];

	place(lab, path, where);
	if (symlink(to, where) < 0)
		fail(where);
}

void lab_remove(struct lab *lab, const char *path)
{
	char where[PATH_MAX];

	place(lab, path, where);
	file_remove_tree(AT_FDCWD, where, NULL);
}

static bool make_node(const char *path)
{
	return mknod(path, S_IFCHR | 0666, makedev(1, 3)) == 0;
}

void lab_node(struct lab *lab, const char *path)
{
	char where[PATH_MAX];

	place(lab, path, where);
	if (!make_node(where) && symlink("/dev/null", where) < 0)
		fail(where);
}

bool lab_nodes(void)
{
	char path[] = "/tmp/regatta-node-XXXXXX";
	bool made;

	if (!mkdtemp(path))
		fail("mkdtemp");
	rmdir(path);
	made = make_node(path);
	unlink(path);
	return made;
}

void lab_pci(struct lab *lab, const char *bus_id, const char *vendor,
	     const char *device, const char *class, int numa)
{
	static const char folder[] = "/sys/bus/pci/devices";
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/vendor", folder, bus_id);
	lab_file(lab, path, "0x%s\n", vendor);
	snprintf(path, sizeof(path), "%s/%s/device", folder, bus_id);
	lab_file(lab, path, "0x%s\n", device);
	snprintf(path, sizeof(path), "%s/%s/class", folder, bus_id);
	lab_file(lab, path, "0x%s\n", class);
	snprintf(path, sizeof(path), "%s/%s/numa_node", folder, bus_id);
	lab_file(lab, path, "%d\n", numa);
}

struct profile *lab_profile(const char *vendor)
{
	char path[128];
	struct error err;
	struct profile *profile;

	snprintf(path, sizeof(path), "images/vendors/%s/profile.yaml", vendor);
	profile = profile_load(path, &err);
	if (!profile) {
		printf("# %s\n", err.text);
		exit(1);
	}
	return profile;
}

struct profile *lab_profile_text(const char *text)
{
	struct error err;
	struct profile *profile =
		profile_parse(text, strlen(text), "test.yaml", &err);

	if (!profile) {
		printf("# %s\n", err.text);
		exit(1);
	}
	return profile;
}
