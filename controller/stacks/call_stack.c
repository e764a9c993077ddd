/* call_stack.c - reads call stacks that tools print. */
#include "controller/stacks/call_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1024

struct frame {
	const char *function, *file;
	unsigned int line;
};

/* Files of installed packages and of Python itself. */
static bool is_library(const char *file)
{
	static const char *const parts[] = { "site-packages/", "dist-packages/",
					     "/lib/python",    "/lib64/python",
					     "<frozen",        "torch/",
					     "paddle/",        NULL };

	for (const char *const *part = parts; *part; part++)
		if (strstr(file, *part))
			return true;
	return false;
}

/* faulthandler: File "/w/train.py", line 57 in load_batch */
static bool read_faulthandler(char *text, struct frame *frame)
{
	char *end, *in;

	if (strncmp(text, "File \"", 6) != 0)
		return false;
	end = strstr(text + 6, "\", line ");
	in = end ? strstr(end, " in ") : NULL;
	if (!in)
		return false;
	*end = 0;
	frame->file = text + 6;
	frame->line = (unsigned int)strtoul(end + 8, NULL, 10);
	frame->function = in + 4;
	return true;
}

/* py-spy: load_batch (train.py:57) */
static bool read_py_spy(char *text, struct frame *frame)
{
	char *open = strstr(text, " ("), *colon = strrchr(text, ':');
	char *end;

	if (!open || !colon || colon < open ||
	    strcspn(text, " ") != (size_t)(open - text))
		return false;
	frame->line = (unsigned int)strtoul(colon + 1, &end, 10);
	if (end == colon + 1 || strcmp(end, ")") != 0)
		return false;
	*open = *colon = 0;
	frame->function = text;
	frame->file = open + 2;
	return true;
}

/* gdb: #3  0x00007f in ncclGroupEnd () from /lib/libnccl.so.2 */
static bool read_gdb(char *text, struct frame *frame)
{
	char *name = strstr(text, " in ");

	if (*text != '#')
		return false;
	name = name ? name + 4 : text + strcspn(text, " ");
	name += strspn(name, " ");
	name[strcspn(name, " (")] = 0;
	*frame = (struct frame){ name, "", 0 };
	return *name && *name != '?';
}

static void frame_copy_text(char to[64], const char *from)
{
	snprintf(to, 64, "%.63s", from);
}

static const char *last_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static void call_stack_add_frame(struct call_stack *frames,
				 const struct frame *frame)
{
	frames->fails |= !strcmp(last_name(frame->file), "traceback.py") ||
			 !strcmp(last_name(frame->file), "linecache.py");
	if (!*frames->inner) {
		frame_copy_text(frames->inner, frame->function);
		frame_copy_text(frames->file, last_name(frame->file));
		frames->line = frame->line;
	}
	if (!*frames->user && *frame->file && !is_library(frame->file)) {
		frame_copy_text(frames->user, frame->function);
		frame_copy_text(frames->user_file, last_name(frame->file));
		frames->user_line = frame->line;
	}
}

static void begin_thread(struct call_stack *frames, const char *text)
{
	if (frames->main) {
		frames->ended = true;
		return;
	}
	*frames = (struct call_stack){ 0 };
	frames->main = !strncmp(text, "Current", 7) ||
		       strstr(text, "MainThread") ||
		       !strncmp(text, "Thread 1 (", 10);
}

bool call_stack_take(struct call_stack *frames, const char *line, size_t size)
{
	char copied[LINE_MAX_BYTES], *text = copied;
	struct frame frame;

	snprintf(copied, sizeof(copied), "%.*s", (int)size, line);
	text += strspn(text, " \t");
	text[strcspn(text, "\r\n")] = 0;
	if (!strncmp(text, "Thread ", 7) ||
	    !strncmp(text, "Current thread ", 15)) {
		begin_thread(frames, text);
		return true;
	}
	if (!read_faulthandler(text, &frame) && !read_gdb(text, &frame) &&
	    !read_py_spy(text, &frame))
		return false;
	if (!frames->ended)
		call_stack_add_frame(frames, &frame);
	return true;
}

void call_stack_where(const struct call_stack *frames,
		      char where[CALL_STACK_SIZE])
{
	bool same = !strcmp(frames->inner, frames->user) &&
		    frames->line == frames->user_line;

	*where = 0;
	if (*frames->user && same)
		snprintf(where, CALL_STACK_SIZE, "%.60s %.60s:%u", frames->user,
			 frames->user_file, frames->user_line);
	else if (*frames->user)
		snprintf(where, CALL_STACK_SIZE, "%.40s < %.40s %.50s:%u",
			 frames->inner, frames->user, frames->user_file,
			 frames->user_line);
	else if (*frames->file)
		snprintf(where, CALL_STACK_SIZE, "%.60s %.60s:%u",
			 frames->inner, frames->file, frames->line);
	else if (*frames->inner)
		snprintf(where, CALL_STACK_SIZE, "%.60s", frames->inner);
}
