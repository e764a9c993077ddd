/* kubectl.c - runs the kubectl of this machine.
 */
#include "controller/cli/k8s/kubectl.h"
#include "protocol/base/buffer.h"
#include "protocol/base/local_tool.h"
#include "protocol/base/strings.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KUBECTL_MS 60000
#define KUBECTL_OUTPUT_MAX ((size_t)16 << 20)

/* It reads the object from our memory, so that a Secret is on no disk. */
static int kubectl_give(struct strings *argv, const cJSON *object, int *fd,
			struct error *err)
{
	owned_free char *text = cJSON_PrintUnformatted(object);

	*fd = memfd_create("object", MFD_CLOEXEC);
	if (!text || *fd < 0 ||
	    write(*fd, text, strlen(text)) != (ssize_t)strlen(text))
		return error_errno(err, "kubectl");
	return strings_add(argv, "-f", err) < 0
		       ? -1
		       : strings_printf(argv, err, "/proc/%d/fd/%d",
					(int)getpid(), *fd);
}

int kubectl_run(const cJSON *options, const cJSON *object, cJSON **answer,
		struct error *err, ...)
{
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(KUBECTL_OUTPUT_MAX);
	owned(strings_clear) struct strings argv = { 0 };
	owned_fd int fd = -1;
	const cJSON *option;
	const char *word;
	va_list words;
	int rc = strings_add(&argv, "kubectl", err);

	cJSON_ArrayForEach(option, options) {
		rc |= strings_add(&argv, cJSON_GetStringValue(option), err);
	}
	va_start(words, err);
	while ((word = va_arg(words, const char *)))
		rc |= strings_add(&argv, word, err);
	va_end(words);
	if (rc < 0 || (object && kubectl_give(&argv, object, &fd, err) < 0) ||
	    local_tool_run(&argv, NULL, KUBECTL_MS, &text, err) < 0)
		return -1;
	if (answer)
		*answer = cJSON_ParseWithLength(text.data, text.size);
	return !answer || *answer
		       ? 0
		       : error_set(err, EPROTO,
				   "kubectl: its output is not JSON");
}

int kubectl_can(const cJSON *options, const char *verb, const char *what,
		struct error *err)
{
	struct error why;

	if (kubectl_run(options, NULL, NULL, &why, "auth", "can-i", verb, what,
			NULL) == 0)
		return 1;
	/* "no" is no complaint. */
	return why.code != EIO || strstr(why.text, "ended with 1:")
		       ? error_set(err, why.code, "%s", why.text)
		       : 0;
}
