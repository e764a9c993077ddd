/* classes.c - the kinds of failures. */
#include "controller/causes/classes.h"

static const char *const class_names[] = {
	"error",    "device-oom",     "host-oom", "communication",
	"hardware", "device-missing", "import",   "data",
	"nan",      "signal",         "other",    NULL,
};
_Static_assert(sizeof(class_names) / sizeof(class_names[0]) == CAUSE_CLASSES,
	       "a name for each class but the first, and the end");

const char *causes_class_name(enum causes_class class)
{
	return class == CAUSE_NONE ? NULL : class_names[class - 1];
}

int causes_class_read(const struct value *value, enum causes_class *class,
		      struct error *err)
{
	size_t number;

	if (value_enum(value, class_names, &number, err) < 0)
		return -1;
	*class = (enum causes_class)(number + 1);
	return 0;
}
