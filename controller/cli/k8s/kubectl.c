/* kubectl.c - runs the kubectl of this machine.
 */
#include "controller/cli/k8s/kubectl.h"
#include "protocol/base/local_tool.h"
#include "protocol/base/strings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int kubectl_run(const cJSON *options, const char *const *words,
		struct buffer *text, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 };
	const cJSON *option;

	buffer_init(text, KUBECTL_OUTPUT_MAX);
	if (strings_add(&argv, "kubectl", err) < 0)
		return -1;
	cJSON_ArrayForEach(option, options)
		if (strings_add(&argv, cJSON_GetStringValue(option), err) < 0)
			return -1;
	for (; *words; words++)
		if (strings_add(&argv, *words, err) < 0)
			return -1;
	return local_tool_run(&argv, NULL, KUBECTL_MS, text, err);
}

int kubectl_json(const cJSON *options, const char *const *words, cJSON **answer,
		 struct error *err)
{
	owned(buffer_clear) struct buffer text = { 0 };

	if (kubectl_run(options, words, &text, err) < 0)
		return -1;
	*answer = cJSON_ParseWithLength(text.data, text.size);
	return *answer ? 0
		       : error_set(err, EPROTO,
				   "kubectl %.40s: its output is not JSON",
				   words[0]);
}

int kubectl_can(const cJSON *options, const char *verb, const char *what,
		struct error *err)
{
	const char *const words[] = { "auth", "can-i", verb, what, NULL };
	owned(buffer_clear) struct buffer text = { 0 };
	struct error why;

	if (kubectl_run(options, words, &text, &why) == 0)
		return 1;
	/* "no" is no complaint. */
	return why.code != EIO || strstr(why.text, "ended with 1:")
		       ? error_set(err, why.code, "%s", why.text)
		       : 0;
}

/* It reads the object from our memory, so that a Secret is on no disk. */
int kubectl_create(const cJSON *options, const cJSON *object, const char *more,
		   cJSON **answer, struct error *err)
{
	owned_free char *text = cJSON_PrintUnformatted(object);
	owned_fd int fd = memfd_create("object", MFD_CLOEXEC);
	char path[40];
	const char *const words[] = { "create", "-f", path, "-o",
				      "json",   more, NULL };

	if (!text || fd < 0 ||
	    write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return error_errno(err, "kubectl create");
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	return kubectl_json(options, words, answer, err);
}
