/* sysfs.c - reads files of /proc and /sys, or of folders in their place.
 */
#include "agent/devices/sysfs.h"
#include "protocol/base/file.h"
#include "protocol/base/printable.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool sysfs_make_path(char path[PATH_MAX], const char *root,
			    const char *fmt, va_list args)
{
	size_t used = (size_t)snprintf(path, PATH_MAX, "%s/", root);
	int n;

	if (used >= PATH_MAX)
		return false;
	n = vsnprintf(path + used, PATH_MAX - used, fmt, args);
	return n >= 0 && (size_t)n < PATH_MAX - used;
}

static bool sysfs_read_file(struct buffer *text, const char *root,
			    const char *fmt, va_list args)
{
	char path[PATH_MAX];

	buffer_clear(text);
	if (!sysfs_make_path(path, root, fmt, args) ||
	    file_read_any(path, text, NULL) < 0)
		return false;
	while (text->size && text->data[text->size - 1] == '\n')
		text->data[--text->size] = 0;
	return true;
}

bool sysfs_text(struct buffer *text, const char *root, const char *fmt, ...)
{
	va_list args;
	bool read;

	va_start(args, fmt);
	read = sysfs_read_file(text, root, fmt, args);
	va_end(args);
	return read;
}

bool sysfs_number(double *number, const char *root, const char *fmt, ...)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	va_list args;
	double value;
	char *end;
	bool read;

	va_start(args, fmt);
	read = sysfs_read_file(&text, root, fmt, args);
	va_end(args);
	value = strtod(text.data, &end);
	if (!read || end == text.data)
		return false;
	*number = value;
	return true;
}

bool sysfs_there(const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, fmt);
	fits = sysfs_make_path(path, root, fmt, args);
	va_end(args);
	return fits && access(path, F_OK) == 0;
}

char *sysfs_line(const char *text, const char *key, char separator)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *at;
		size_t size;

		line += *line == '\n';
		if (strncmp(line, key, length))
			continue;
		at = line + length;
		at += strspn(at, " \t");
		if (*at != separator)
			continue;
		at++;
		at += strspn(at, " \t\"");
		size = strcspn(at, "\n\"");
		while (size && (at[size - 1] == ' ' || at[size - 1] == '\t'))
			size--;
		return strndup(at, size);
	}
	return NULL;
}

void sysfs_add(cJSON *to, const char *name, const char *text)
{
	cJSON *item;

	if (!text || !*text)
		return;
	item = cJSON_AddStringToObject(to, name, text);
	if (item)
		printable(item->valuestring, strlen(item->valuestring));
}

void sysfs_each(const char *root, const char *folder, int max, sysfs_fn *fn,
		void *arg)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/%s", root, folder) >=
	    (int)sizeof(path))
		return;
	dir = opendir(path);
	while (dir && max > 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		max--;
		if (!fn(arg, entry->d_name))
			break;
	}
	if (dir)
		closedir(dir);
}
