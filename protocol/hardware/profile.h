/* profile.h - reads and checks the profile of a vendor's hardware.
 *
 * The file is images/vendors/<vendor>/profile.yaml. Its keys are described in
 * regatta-profile(5), their tables are in profile_sections.c. Device paths are
 * below /dev, paths of numbers also below /sys and /proc; all are looked up
 * below the roots (sysroot.h). A path with ".." is refused, and an expression
 * that does not compile or fails expression_probe().
 */
#pragma once

#include "protocol/hardware/binary_form.h"
#include "protocol/hardware/expression.h"
#include "protocol/hardware/sample.h"
#include "protocol/hardware/sysroot.h"
#include "protocol/message/spec.h"
#include "protocol/yaml/document.h"

#include <stdbool.h>

enum number_from {
	NUMBER_FILE,    /* the group 1 of match in the file */
	NUMBER_GLOB,    /* the digits matched by the only '*' */
	NUMBER_ORDER,   /* position by bus id; word: "bus" or "present" */
	NUMBER_MONITOR, /* a word of the monitor's row for this bus id */
	NUMBER_MAP,     /* a word of the map tool's row */
};

/* A rule for the value of {name} in paths, per device. Rules of the same name
 * follow each other; the first that finds a value counts.
 */
struct number_rule {
	const char *name;
	enum number_from from;
	const char *path; /* file or glob; may hold {bus} and names before it */
	struct expression *match; /* of a file or a word; NULL: all of it */
	const char *word; /* of the monitor's or map's row: "device" ...; of an
			     order */
	const struct value *value; /* for errors */
};

/* How a runtime's selector or a device request names the devices. */
enum device_naming { NAME_ALL, NAME_UUID, NAME_NUMBER };

struct naming {
	enum device_naming by;
	const char *number; /* which number, by name */
};

struct selector {
	const char *name; /* of the variable; NULL: none */
	struct naming naming;
	const char *none; /* its value for no device; NULL: not known */
};

struct request_rules {
	const char *driver; /* NULL: no device request */
	struct strings capabilities;
	struct naming naming;
	const char *program; /* the request is used only if this program
				exists; NULL: always */
};

struct visible {
	const char *name;
	const char *numbering; /* "host", or "container": 0 .. n - 1 */
	const char *number;    /* of the host: which; NULL: of the container */
};

struct profile_mount {
	const char *host;
	const char *container;
	bool read_only;
	bool optional; /* left out when the host has no such path */
};

struct version_rule {
	struct strings command; /* empty: a file */
	const char *file;
	struct expression *match; /* NULL: the first line */
};

struct discover_rules {
	struct strings pci_vendors;
	struct strings pci_classes;
	uint32_t functions; /* bit per PCI function */
	const char *nodes;  /* NULL with pci */
	struct number_rule *numbers;
	size_t numbers_count;
	struct strings required;    /* numbers */
	struct strings map_command; /* empty: none */
	struct sampler *map;        /* NULL: none */
};

struct container_rules {
	struct strings device_nodes;
	struct strings shared_nodes;
	struct strings optional_nodes;
	const char *runtime; /* NULL: none, as below */
	struct request_rules request;
	const char *cdi;
	struct selector selector;
	struct strings env; /* NAME=VALUE */
	struct strings groups;
	struct strings capabilities;
	struct strings security;
	struct strings ulimits; /* name=soft[:hard] */
	uint64_t shm_bytes;
	const char *ipc;
	struct profile_mount *mounts;
	size_t mounts_count;
	struct strings runtime_mounts; /* patterns of paths of the node that
					  the runtime adds by itself */
};

/* A file of the kernel with one value of a device. */
struct file_rule {
	unsigned field;             /* of a row; sample_internal.h */
	struct strings paths;       /* the first that is there */
	struct expression *match;   /* NULL: all of it */
	struct binary_form *binary; /* forms of a binary file; NULL: text */
	size_t binary_count;
	const char *unit; /* NULL: its own */
	bool seldom;      /* its value seldom changes */
};

struct monitor_rules {
	struct strings *commands; /* tried in order; 0: no tool */
	size_t commands_count;
	const char *loop; /* the argument with which they print again and
			     again, before the ms between; NULL: none */
	struct file_rule *files;
	size_t files_count;
	struct expression *kernel; /* lines of the kernel's log that are told;
				      NULL: none */
	struct strings env;
	uint32_t timeout_ms;
	struct sampler *sampler; /* NULL: nothing to sample */
};

struct process_rules {
	struct strings command;  /* empty: use the open files of processes */
	struct expression *from; /* NULL: all lines */
	struct expression *row;
	struct strings ignore;
};

struct chip_rule {
	const char *name;
	struct strings aliases;
	struct strings pci;         /* device ids, 4 hex digits */
	struct expression *match;   /* over the product name, or NULL */
	double memory_gib;          /* 0: unknown */
	const struct value *tflops; /* peaks of dense arithmetic by precision,
				       or NULL; as the next */
	const struct value *flagperf_tflops; /* as FlagPerf uses them */
	const char *source;
	const char *confidence;    /* A, B or C; NULL: not said */
	const struct value *value; /* the whole entry */
};

/* Plain data; texts are borrowed from the document. */
struct profile {
	const char *vendor;
	struct strings aliases;
	const char *title; /* NULL: none, as the next */
	const char *source;
	struct discover_rules discover;
	struct container_rules container;
	struct visible *visible;
	size_t visible_count;
	struct monitor_rules monitor;
	struct process_rules processes;
	struct version_rule *driver;
	size_t driver_count;
	struct version_rule *sdk;
	size_t sdk_count;
	const char *kubernetes_resource; /* NULL: none, or not known */
	const char *kubernetes_class;    /* a DeviceClass instead; or NULL */
	const char *kubernetes_unknown;  /* why there is neither; or NULL */
	uint32_t devices_per_card;       /* 1 where the file says nothing */
	struct chip_rule *chips;
	size_t chips_count;
	const struct value *images; /* map of framework to reference, or NULL */
	const char *diagnosis; /* lines of a shell that test a node; or NULL */
	const struct value *value; /* the whole file */
	struct document *document; /* owns the texts */
};

/* Read and check one file of at most PROFILE_BYTES_MAX bytes. Errors are
 * "file:line: path: ..."; EINVAL, ENOENT, E2BIG, ENOMEM. profile_parse() reads
 * a text instead; file names it in errors.
 */
#define PROFILE_BYTES_MAX 262144
struct profile *profile_load(const char *path, struct error *err);
struct profile *profile_parse(const char *text, size_t size, const char *file,
			      struct error *err);
void profile_free(struct profile *profile);
OWNED_POINTER(struct profile, profile_free)

/* All profiles of <folder>/vendors/<vendor>/profile.yaml, sorted by name, cpu
 * last. A profile must have the name of its folder. If the folder does not
 * exist, the list is empty.
 */
struct profiles {
	struct profile **list;
	size_t count;
};
int profiles_load(const char *folder, struct profiles *profiles,
		  struct error *err);
void profiles_clear(struct profiles *profiles);
OWNED_VALUE(struct profiles, profiles_clear)

/* Is the word in the list, in any case? */
bool profile_lists(const struct strings *list, const char *word);

/* By name or alias, in any case; NULL: none. */
const struct profile *profiles_find(const struct profiles *profiles,
				    const char *name);

/* The chip with this PCI device id (4 hex digits, or NULL) or this product name
 * (or NULL). The name has precedence. NULL: not in the profile.
 */
const struct chip_rule *profile_chip(const struct profile *profile,
				     const char *pci_device, const char *name);
