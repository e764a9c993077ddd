/* sample_keys.c - monitor output of "key: value" lines in indented sections.
 */
#include "protocol/hardware/sample_internal.h"

#include <ctype.h>
#include <string.h>

#define DEPTH_MAX 16
#define PATH_SIZE 512

struct section {
	size_t indent;
	size_t size; /* of the path up to here */
};

struct keys {
	struct run *run;
	struct row *row;  /* the device being read; NULL: none yet */
	struct row group; /* values for the devices that follow */
	struct section sections[DEPTH_MAX];
	size_t depth;
	char path[PATH_SIZE];
};

/* The place of the ':' between key and value: before a blank or the end, or
 * after a key without digits, so that a PCI address stays whole. SIZE_MAX:
 * there is none.
 */
static size_t colon(struct sample_text text)
{
	size_t near = SIZE_MAX;
	bool digit = false;

	for (size_t i = 0; i < text.size; i++) {
		digit = digit || isdigit((unsigned char)text.data[i]);
		if (text.data[i] != ':')
			continue;
		if (i + 1 == text.size || text.data[i + 1] == ' ' ||
		    text.data[i + 1] == '\t')
			return i;
		if (near == SIZE_MAX && !digit)
			near = i;
	}
	return near;
}

/* Go up to the section that a line of this indent is in; its path's size. */
static size_t enclosing(struct keys *keys, size_t indent)
{
	while (keys->depth && keys->sections[keys->depth - 1].indent >= indent)
		keys->depth--;
	return keys->depth ? keys->sections[keys->depth - 1].size : 0;
}

/* The path of a name inside a section of `used` bytes; 0: too long. */
static size_t keys_append_path(struct keys *keys, size_t used,
			       struct sample_text name)
{
	name = text_trim(name, " \t");
	if (used + name.size + 1 >= PATH_SIZE)
		return 0;
	if (used)
		keys->path[used++] = '/';
	memcpy(keys->path + used, name.data, name.size);
	return used + name.size;
}

static int sample_key_line(struct keys *keys, const struct line *line,
			   struct error *err)
{
	struct sample_text name = line->text, value;
	size_t at = colon(line->text), size;

	if (at < name.size)
		name.size = at;
	size = keys_append_path(keys, enclosing(keys, line->indent), name);
	if (!size)
		return 0;
	if (at < line->text.size && at + 1 < line->text.size) {
		value = (struct sample_text){ line->text.data + at + 1,
					      line->text.size - at - 1 };
		return row_put_key(keys->run,
				   keys->row ? keys->row : &keys->run->all,
				   (struct sample_text){ keys->path, size },
				   value, err);
	}
	if (keys->depth < DEPTH_MAX)
		keys->sections[keys->depth++] =
			(struct section){ line->indent, size };
	return 0;
}

/* Where each line names its device, continue the row of that device. */
static void resume_row(struct keys *keys)
{
	struct run *run = keys->run;
	const char *device = keys->row->sample.device;

	for (size_t i = 0; *device && i + 1 < run->count; i++)
		if (!strcmp(run->rows[i].sample.device, device)) {
			keys->row = &run->rows[i];
			run->count--;
			return;
		}
}

/* 1: the line begins a device, or holds values for the devices after it. */
static int keys_read_device(struct keys *keys, const struct line *line,
			    struct error *err)
{
	const struct layout *layout = keys->run->layout;
	struct line key = { 0 };
	size_t index;
	int rc = run_match_any(keys->run, &layout->group, line->text,
			       EXPRESSION_START, &index, err);

	if (rc < 0)
		return -1;
	if (rc) {
		memset(&keys->group, 0, sizeof(keys->group));
		row_put_groups(keys->run, &keys->group,
			       layout->group.list[index]);
		return 1;
	}
	rc = run_match_any(keys->run, &layout->device, line->text,
			   EXPRESSION_START, &index, err);
	if (rc <= 0)
		return rc;
	run_row_end(keys->run);
	keys->depth = 0;
	keys->row = run_row(keys->run, &keys->group, err);
	if (!keys->row)
		return -1;
	row_put_groups(keys->run, keys->row, layout->device.list[index]);
	if (expression_caught_name(layout->device.list[index], "_key",
				   &key.text.data, &key.text.size)) {
		resume_row(keys);
		return sample_key_line(keys, &key, err) == 0 ? 1 : -1;
	}
	/* It may be a key of the device, too. */
	return colon(line->text) == SIZE_MAX ||
			       sample_key_line(keys, line, err) == 0
		       ? 1
		       : -1;
}

int keys_read(struct run *run, struct error *err)
{
	owned_free struct keys *keys = calloc(1, sizeof(*keys));
	struct line line;
	size_t at = 0;

	if (!keys)
		return error_nomem(err, "samples");
	keys->run = run;
	while (line_next(run->lines, run->lines_size, &at, &line)) {
		int rc;

		if (!line.text.size)
			continue;
		rc = keys_read_device(keys, &line, err);
		if (rc < 0 || (!rc && sample_key_line(keys, &line, err) < 0))
			return -1;
	}
	run_row_end(run);
	return 0;
}
