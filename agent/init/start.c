/* start.c - reads the start file: what regatta-init is to run, and how. */
#include "agent/init/start.h"
#include "agent/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/* clang-format off */
static const struct number {
	const char *name;
	size_t place;
	uint64_t initial, min, max;
} numbers[] = {
#define NUMBER(field, initial, min, max) \
	{ #field, offsetof(struct start, field), initial, min, max }
	NUMBER(processes,  1,     1, INIT_PROCESSES_MAX),
	NUMBER(first_rank, 0,     0, START_RANK_MAX),
	NUMBER(rank_env,   0,     0, 1),
	NUMBER(grace_ms,   10000, 0, 3600000),
	NUMBER(node,       0,     0, START_RANK_MAX),
	NUMBER(log_limit,  0,     0, INT64_MAX),
	NUMBER(suid,       0,     0, 1),
	NUMBER(ssh,        0,     0, 1),
};
/* clang-format on */
#define NAME_LETTERS                                                           \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

void start_clear(struct start *start)
{
	free(start->bytes);
	free(start->path);
	free(start->env);
	free(start->secrets);
	free(start->prepare);
	free(start->args);
	free(start->follow);
	memset(start, 0, sizeof(*start));
}

static uint64_t *number_place(struct start *start, const struct number *number)
{
	return (uint64_t *)(void *)((char *)start + number->place);
}

/* Digits only, so that "+1", " 1", "0x1" and "" are all refused. */
static int number_parse(const struct number *number, const char *text,
			uint64_t *value, struct start_error *why)
{
	size_t length = strspn(text, "0123456789");
	unsigned long long found = 0;

	if (length > 0 && length < 20 && !text[length])
		found = strtoull(text, NULL, 10);
	else
		length = 0;
	if (!length || found < number->min || found > number->max)
		return start_error_set(why,
				       "%s: \"%.40s\" is not valid here; "
				       "expected %llu to %llu",
				       number->name, text,
				       (unsigned long long)number->min,
				       (unsigned long long)number->max);
	*value = found;
	return 0;
}

/* "name=": what follows the equals sign, or NULL when it is another name. */
static char *record_value(char *record, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(record, name, length) != 0 || record[length] != '=')
		return NULL;
	return record + length + 1;
}

static int start_take(struct start *start, char *record, uint32_t *seen,
		      struct start_error *why)
{
	char *value;

	for (size_t i = 0; i < NUMBERS; i++) {
		value = record_value(record, numbers[i].name);
		if (!value)
			continue;
		if (*seen & 1U << i)
			return start_error_set(why, "%s: given twice",
					       numbers[i].name);
		*seen |= 1U << i;
		return number_parse(&numbers[i], value,
				    number_place(start, &numbers[i]), why);
	}
	if ((value = record_value(record, "arg"))) {
		if (!start->arg_count && !*value)
			return start_error_set(why,
					       "arg: the program has no name");
		start->args[start->arg_count++] = value;
		return 0;
	}
	if ((value = record_value(record, "prepare"))) {
		if (!start->prepare_count && !*value)
			return start_error_set(why, "prepare: the program has "
						    "no name");
		start->prepare[start->prepare_count++] = value;
		return 0;
	}
	if ((value = record_value(record, "env"))) {
		if (*value == '=' || !strchr(value, '='))
			return start_error_set(why,
					       "env: \"%.40s\" is not valid "
					       "here; expected NAME=VALUE",
					       value);
		start->env[start->env_count++] = value;
		return 0;
	}
	if ((value = record_value(record, "secret"))) {
		if (!strchr(value, '=') || strspn(value, NAME_LETTERS) == 0 ||
		    value[strspn(value, NAME_LETTERS)] != '=')
			return start_error_set(why,
					       "secret: expected NAME=VALUE");
		start->secrets[start->secret_count++] = value;
		return 0;
	}
	if ((value = record_value(record, "follow"))) {
		if (!*value || start->follow_count == INIT_PATTERNS_MAX)
			return start_error_set(why,
					       "follow: \"%.40s\" is not valid "
					       "here; expected 1 to %d "
					       "patterns of files",
					       value, INIT_PATTERNS_MAX);
		start->follow[start->follow_count++] = value;
		return 0;
	}
	return start_error_set(why,
			       "\"%.40s\" is not valid here; expected "
			       "processes=, first_rank=, rank_env=, grace_ms=, "
			       "node=, log_limit=, suid=, ssh=, follow=, "
			       "env=, secret=, prepare= or arg=",
			       record);
}

/* Everything of the file, with a NUL behind it; at most INIT_START_MAX bytes.
 * One byte more is asked for, which is how a file that is too long shows.
 */
static char *start_load(const char *path, size_t *size, struct start_error *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes = malloc(INIT_START_MAX + 2);
	ssize_t got = 0;

	*size = 0;
	if (fd < 0)
		start_error_errno(why, "cannot open");
	else if (!bytes)
		start_error_set(why, "out of memory");
	while (fd >= 0 && bytes && *size <= INIT_START_MAX) {
		got = read(fd, bytes + *size, INIT_START_MAX + 1 - *size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		*size += (size_t)got;
	}
	if (got < 0)
		start_error_errno(why, "cannot read");
	else if (*size > INIT_START_MAX)
		start_error_set(why, "more than %d bytes, which is the limit",
				INIT_START_MAX);
	if (fd >= 0)
		close(fd);
	if (fd < 0 || !bytes || got < 0 || *size > INIT_START_MAX) {
		free(bytes);
		return NULL;
	}
	bytes[*size] = 0;
	return bytes;
}

static int start_parse(struct start *start, size_t size,
		       struct start_error *why)
{
	char *record = start->bytes;
	char *end = start->bytes + size;
	uint32_t seen = 0;
	struct start_error reason = { 0 };
	size_t count = 0;

	if (!size)
		return start_error_set(why, "the file is empty");
	if (end[-1])
		return start_error_set(why,
				       "the last record does not end in NUL");
	for (const char *p = record; p < end; p++)
		count += !*p;
	start->env = calloc(count + 1, sizeof(*start->env));
	start->secrets = calloc(count + 1, sizeof(*start->secrets));
	start->prepare = calloc(count + 1, sizeof(*start->prepare));
	start->args = calloc(count + 1, sizeof(*start->args));
	start->follow = calloc(INIT_PATTERNS_MAX, sizeof(*start->follow));
	if (!start->env || !start->secrets || !start->prepare || !start->args ||
	    !start->follow)
		return start_error_set(why, "out of memory");
	for (size_t i = 0; i < NUMBERS; i++)
		*number_place(start, &numbers[i]) = numbers[i].initial;
	if (strcmp(record, "version=1") != 0)
		return start_error_set(why,
				       "record 1: \"%.40s\" is not valid here; "
				       "expected version=1",
				       record);
	for (count = 2; (record += strlen(record) + 1) < end; count++) {
		if (start_take(start, record, &seen, &reason) < 0)
			return start_error_set(why, "record %zu: %.200s", count,
					       reason.text);
	}
	if (!start->arg_count)
		return start_error_set(why, "no arg= record: nothing to run");
	return 0;
}

int start_read(const char *path, struct start *start, struct start_error *why)
{
	struct start_error reason = { 0 };
	size_t size = 0;

	memset(start, 0, sizeof(*start));
	start->bytes = start_load(path, &size, &reason);
	if (start->bytes && start_parse(start, size, &reason) == 0)
		return 0;
	start_clear(start);
	return start_error_set(why, "start file: %.220s", reason.text);
}
