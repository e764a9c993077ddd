/* mount_table.c - the mounts of a process, by the kernel's word.
 */
#include "agent/task/mount_table.h"
#include "agent/policy/policy_check.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mount_table_clear(struct mount_table *table)
{
	free(table->text);
	free(table->rows);
	*table = (struct mount_table){ 0 };
}

/* Blanks and backslashes are written as \NNN, octal. */
static void mount_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') * 64 +
				       (text[2] - '0') * 8 + text[3] - '0');
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = 0;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD...] - TYPE ... */
static bool mount_row_read(char *line, struct mount_row *row)
{
	char *words[6], *rest = line, *type;

	for (size_t i = 0; i < 6; i++)
		if (!(words[i] = strsep(&rest, " ")))
			return false;
	do {
		type = strsep(&rest, " ");
	} while (type && strcmp(type, "-") != 0);
	type = type ? strsep(&rest, " ") : NULL;
	mount_unescape(words[3]);
	mount_unescape(words[4]);
	*row = (struct mount_row){
		.id = (int)strtol(words[0], NULL, 10),
		.parent = (int)strtol(words[1], NULL, 10),
		.device = words[2],
		.root = words[3],
		.point = words[4],
		.type = type ? type : "",
		.options = rest ? rest : "",
		.read_only = !strncmp(words[5], "ro", 2) &&
			     (!words[5][2] || words[5][2] == ','),
	};
	return true;
}

int mount_table_read(int process, struct mount_table *table, struct error *err)
{
	owned_free struct mount_row *rows = NULL;
	owned_free char *whole = NULL;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(MOUNT_TABLE_BYTES);
	size_t lines = 0, count = 0;
	char *line, *rest;

	if (file_read(process, "mountinfo", &text, err) < 0)
		return -1;
	for (size_t i = 0; i < text.size; i++)
		lines += text.data[i] == '\n';
	rows = calloc(lines + 1, sizeof(*rows));
	whole = rest = buffer_take(&text);
	if (!rows || !whole)
		return error_nomem(err, "mounts");
	while ((line = strsep(&rest, "\n")) && *line)
		if (!mount_row_read(line, &rows[count++]))
			return error_set(err, EPROTO,
					 "mountinfo: a line is not valid");
	*table = (struct mount_table){ take(whole), take(rows), count };
	return 0;
}

const struct mount_row *mount_table_row(const struct mount_table *table, int id)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].id == id)
			return &table->rows[i];
	return NULL;
}

/* A path with a comma or a blank is not read. */
char *mount_table_layer(const struct mount_table *table)
{
	static const char key[] = ",upperdir=";

	for (size_t i = 0; i < table->count; i++) {
		const struct mount_row *row = &table->rows[i];
		const char *at = strstr(row->options, key);

		if (!strcmp(row->point, "/") && !strcmp(row->type, "overlay") &&
		    at && !strchr(at, '\\'))
			return strndup(at + sizeof(key) - 1,
				       strcspn(at + sizeof(key) - 1, ","));
	}
	return NULL;
}

/* The number of the mount that an open file lies in; -1: not known. */
static int mount_id(int fd)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	const char *line;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (file_read(AT_FDCWD, path, &text, NULL) < 0 || !text.size)
		return -1;
	line = strstr(text.data, "mnt_id:");
	return line ? (int)strtol(line + 7, NULL, 10) : -1;
}

const struct mount_row *mount_table_place(const struct mount_table *own, int fd,
					  char *root)
{
	const struct mount_row *row = mount_table_row(own, mount_id(fd));
	char name[40], path[PATH_MAX];
	const char *rest;
	ssize_t size;
	int length;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	size = readlink(name, path, sizeof(path));
	if (!row || size <= 0 || size == sizeof(path))
		return NULL;
	path[size] = 0;
	if (!policy_path_below(path, row->point))
		return NULL;
	rest = path + (row->point[1] ? strlen(row->point) : 0);
	length = snprintf(root, PATH_MAX, "%s%s", row->root[1] ? row->root : "",
			  rest[0] && rest[1] ? rest : "");
	if (length <= 0)
		length = snprintf(root, PATH_MAX, "/");
	return length < PATH_MAX ? row : NULL;
}
