/* classes.h - the kinds of failures. */
#pragma once

#include "protocol/yaml/value.h"

enum causes_class {
	CAUSE_NONE, /* nothing failed */
	CAUSE_ERROR,
	CAUSE_DEVICE_OOM,
	CAUSE_HOST_OOM,
	CAUSE_COMMUNICATION,
	CAUSE_HARDWARE,
	CAUSE_DEVICE_MISSING,
	CAUSE_IMPORT,
	CAUSE_DATA,
	CAUSE_NAN,
	CAUSE_SIGNAL,
	CAUSE_OTHER,
	CAUSE_CLASSES
};

/* "device-oom"; NULL for CAUSE_NONE. */
const char *causes_class_name(enum causes_class class);

/* The class that a file names. EINVAL. */
int causes_class_read(const struct value *value, enum causes_class *class,
		      struct error *err);
