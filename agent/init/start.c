/* start.c - reads the start file: what regatta-init is to run, and how. */
#include "agent/init/start.h"
#include "agent/init/init.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#define NAME_LETTERS                                                           \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

static int start_check_word(const struct start_list *list, const char *value,
			    struct error *err)
{
	return list->count || *value
		       ? 0
		       : error_set(err, EINVAL, "the program has no name");
}

static int check_env(const struct start_list *list, const char *value,
		     struct error *err)
{
	return *value != '=' && strchr(value, '=')
		       ? 0
		       : error_set(err, EINVAL,
				   "\"%.40s\" is not valid here; expected "
				   "NAME=VALUE",
				   value);
}

/* The value must not be shown. */
static int check_secret(const struct start_list *list, const char *value,
			struct error *err)
{
	size_t length = strspn(value, NAME_LETTERS);

	return length && value[length] == '='
		       ? 0
		       : error_set(err, EINVAL, "expected NAME=VALUE");
}

static int start_check_follow(const struct start_list *list, const char *value,
			      struct error *err)
{
	return *value && list->count < INIT_PATTERNS_MAX
		       ? 0
		       : error_set(err, EINVAL,
				   "\"%.40s\" is not valid here; expected 1 to "
				   "%d patterns of files",
				   value, INIT_PATTERNS_MAX);
}

static int start_check_collect(const struct start_list *list, const char *value,
			       struct error *err)
{
	return *value == '/' && strlen(value) < PATH_MAX &&
			       list->count < INIT_COLLECT_MAX
		       ? 0
		       : error_set(err, EINVAL,
				   "\"%.40s\" is not valid here; expected 1 to "
				   "%d absolute paths",
				   value, INIT_COLLECT_MAX);
}

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
	NUMBER(open_files, 0,     0, INT64_MAX),
	NUMBER(suid,       0,     0, 1),
	NUMBER(ssh,        0,     0, 1),
	NUMBER(secrets,    0,     0, 1),
	NUMBER(collect_limit, 0,  0, INT64_MAX),
};
static const struct {
	const char *name;
	size_t place;
	int (*check)(const struct start_list *list, const char *value,
		     struct error *err);
} lists[] = {
#define LIST(field, check) { #field, offsetof(struct start, field), check }
	LIST(follow,  start_check_follow),
	LIST(collect, start_check_collect),
	LIST(env,     check_env),
	LIST(secret,  check_secret),
	LIST(prepare, start_check_word),
	LIST(arg,     start_check_word),
};
/* clang-format on */
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define LISTS (sizeof(lists) / sizeof(lists[0]))

static struct start_list *list_place(struct start *start, size_t i)
{
	return (struct start_list *)(void *)((char *)start + lists[i].place);
}

void start_clear(struct start *start)
{
	free(start->bytes);
	free(start->path);
	for (size_t i = 0; i < LISTS; i++)
		free(list_place(start, i)->items);
	memset(start, 0, sizeof(*start));
}

static uint64_t *number_place(struct start *start, const struct number *number)
{
	return (uint64_t *)(void *)((char *)start + number->place);
}

/* Digits only, so that "+1", " 1", "0x1" and "" are all refused. */
static int number_parse(const struct number *number, const char *text,
			uint64_t *value, struct error *err)
{
	size_t length = strspn(text, "0123456789");
	unsigned long long found = 0;

	if (length > 0 && length < 20 && !text[length])
		found = strtoull(text, NULL, 10);
	else
		length = 0;
	if (!length || found < number->min || found > number->max)
		return error_set(err, EINVAL,
				 "%s: \"%.40s\" is not valid here; "
				 "expected %llu to %llu",
				 number->name, text,
				 (unsigned long long)number->min,
				 (unsigned long long)number->max);
	*value = found;
	return 0;
}

/* "name=": what follows the equals sign, or NULL when it is another name. */
static char *start_record_value(char *record, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(record, name, length) != 0 || record[length] != '=')
		return NULL;
	return record + length + 1;
}

static int start_take(struct start *start, char *record, uint32_t *seen,
		      struct error *err)
{
	char *value;

	for (size_t i = 0; i < NUMBERS; i++) {
		value = start_record_value(record, numbers[i].name);
		if (!value)
			continue;
		if (*seen & 1U << i)
			return error_set(err, EINVAL, "%s: given twice",
					 numbers[i].name);
		*seen |= 1U << i;
		return number_parse(&numbers[i], value,
				    number_place(start, &numbers[i]), err);
	}
	for (size_t i = 0; i < LISTS; i++) {
		struct start_list *list = list_place(start, i);

		value = start_record_value(record, lists[i].name);
		if (!value)
			continue;
		if (lists[i].check(list, value, err) < 0)
			return error_prefix(err, "%s", lists[i].name);
		list->items[list->count++] = value;
		return 0;
	}
	return error_set(err, EINVAL,
			 "\"%.40s\" is not valid here; expected processes=, "
			 "first_rank=, rank_env=, grace_ms=, node=, "
			 "log_limit=, "
			 "open_files=, suid=, ssh=, secrets=, follow=, "
			 "collect=, "
			 "collect_limit=, env=, "
			 "secret=, prepare= or arg=",
			 record);
}

static int start_parse(struct start *start, size_t size, struct error *err)
{
	char *record = start->bytes;
	char *end = start->bytes + size;
	uint32_t seen = 0;
	size_t count = 0;

	if (!size)
		return error_set(err, EINVAL, "the file is empty");
	if (end[-1])
		return error_set(err, EINVAL,
				 "the last record does not end in NUL");
	for (const char *p = record; p < end; p++)
		count += !*p;
	for (size_t i = 0; i < LISTS; i++)
		if (!(list_place(start, i)->items =
			      calloc(count + 1, sizeof(char *))))
			return error_nomem(err, "records");
	for (size_t i = 0; i < NUMBERS; i++)
		*number_place(start, &numbers[i]) = numbers[i].initial;
	if (strcmp(record, "version=1") != 0)
		return error_set(err, EINVAL,
				 "record 1: \"%.40s\" is not valid here; "
				 "expected version=1",
				 record);
	for (count = 2; (record += strlen(record) + 1) < end; count++)
		if (start_take(start, record, &seen, err) < 0)
			return error_prefix(err, "record %zu", count);
	if (!start->arg.count)
		return error_set(err, EINVAL, "no arg= record: nothing to run");
	return 0;
}

int start_read(const char *path, const struct buffer *more, struct start *start,
	       struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(INIT_START_MAX);
	size_t size;

	memset(start, 0, sizeof(*start));
	if (file_read(AT_FDCWD, path, &text, err) == 0 &&
	    (!more || buffer_append(&text, more->data, more->size, err) == 0)) {
		size = text.size;
		start->bytes = buffer_take(&text);
		if (!start->bytes)
			error_nomem(err, "records");
		else if (start_parse(start, size, err) == 0)
			return 0;
	}
	start_clear(start);
	return error_prefix(err, "start file");
}
