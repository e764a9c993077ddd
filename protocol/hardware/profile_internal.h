/* profile_internal.h - the field readers shared by the profile*.c files.
 *
 * profile_fields.c: the fields of a profile, one reader for each kind. A
 * section of the file is a table of fields: name, reader, place in a struct.
 * Each reader checks a value of the file and writes it to its place in the
 * struct; texts are borrowed from the document. An error is "file:line: path:
 * found ..., allowed ...".
 */
#ifndef PROTOCOL_HARDWARE_PROFILE_INTERNAL_H
#define PROTOCOL_HARDWARE_PROFILE_INTERNAL_H

#include "protocol/hardware/profile.h"

#define PROFILE_TEXT_MAX 1024 /* bytes of a text */

typedef int field_fn(const struct value *value, void *out, struct error *err);

struct profile_field {
	const char *name;
	field_fn *read; /* NULL: allowed, but read elsewhere */
	size_t place;   /* offsetof() in the struct */
	bool needed;
};

#define FIELD_END                                                              \
	{                                                                      \
		NULL, NULL, 0, false                                           \
	}

/* Read a map. The table ends in FIELD_END. */
int fields_read(const struct value *map, const struct profile_field *fields,
		void *base, struct error *err);

/* Read a list of at most PROFILE_LIST_MAX into an array of items of this size,
 * which grows as it is read. On an error it holds the items read so far.
 */
int list_read(const struct value *list, size_t size, field_fn *read,
	      void **items, size_t *count, struct error *err);

/* read_text: a text of one line. read_word: the same without blanks. const char
 * *.
 */
field_fn read_text;
field_fn read_word;

/* A PCRE2 expression. struct expression *; the caller frees it. */
field_fn read_expression;

/* Paths without "." and "..". const char *. A device path begins with /dev/, a
 * system path with /dev/, /sys/ or /proc/; both may hold {name}s and one '*'. A
 * file path is any other path and holds neither.
 */
field_fn read_device_path;
field_fn read_system_path;
field_fn read_file_path;

/* NAME of an environment variable. const char *. */
field_fn read_variable;

/* true, false. bool. */
field_fn read_flag;

/* Lists of them. struct profile_list. */
field_fn read_words;
field_fn read_names; /* texts */
field_fn read_device_paths;
field_fn read_pci_ids;     /* 4 hex digits, quoted, as they may be numbers */
field_fn read_pci_classes; /* 2 to 6 hex digits */

/* struct strings: an argv without a shell; NAME=VALUE; name=soft[:hard]. */
field_fn read_argv;
field_fn read_env;
field_fn read_ulimits;

/* profile_sections.c, profile_tools.c: the sections of a profile, from values
 * to its structs. On an error a reader keeps what it has read so far;
 * profile_free() releases it.
 */
field_fn read_discover;  /* struct discover_rules */
field_fn read_container; /* struct container_rules */
field_fn read_chips;     /* struct profile */
field_fn read_images;    /* struct profile */
field_fn read_visible;   /* struct profile */
field_fn read_versions;  /* struct profile */
field_fn read_processes; /* struct process_rules */
field_fn read_monitor;   /* struct monitor_rules */

/* profile_check.c: every {name} that is used has a rule, and no name is used
 * twice. EINVAL with file and line.
 */
int profile_check(const struct profile *profile, struct error *err);

#endif
