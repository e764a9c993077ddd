/* stacks.c - groups the ranks of a job by their call stacks. */
#include "controller/stacks/stacks.h"
#include "protocol/base/list.h"
#include "protocol/message/evidence.h"
#include "protocol/message/json_get.h"

#include <inttypes.h>
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

#define BUSY_PERCENT 20 /* of a processor: the process computes */
#define GROUPS_SHOWN 3
#define FATAL "Fatal Python error: "

/* A rank's process. */
struct standing {
	char *node;
	struct evidence seen;
	char where[CALL_STACK_SIZE];
	bool printed; /* `where` is from the program's own output */
	bool awaits;  /* it waits for others */
	bool fails;   /* since others were ended to print theirs: it tells
			 nothing */
};

struct group {
	size_t first, count; /* of standings: the first one, and how many */
};

struct stacks {
	struct standing *list;
	size_t count;
	struct group *groups; /* largest first */
	size_t group_count;
	uint64_t written;
};

struct stacks *stacks_new(struct error *err)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		error_nomem(err, "stacks");
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->count; i++) {
		free(stacks->list[i].node);
		evidence_clear(&stacks->list[i].seen);
	}
	free(stacks->list);
	free(stacks->groups);
	free(stacks);
}

size_t stacks_count(const struct stacks *stacks)
{
	return stacks->count;
}

uint64_t stacks_written(const struct stacks *stacks)
{
	return stacks->written;
}

/* Reading. */

static bool stacks_text_has_word(const char *text, const char *const *words)
{
	for (; text && *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

/* Describe the process by its state in the kernel. */
static void describe_kernel(struct standing *standing)
{
	static const char *const sleeps[] = { "sleep", NULL };
	static const char *const network[] = {
		"poll",        "select", "sk_wait", "wait_woken", "recv",
		"unix_stream", "tcp",    "skb",     "accept",     NULL
	};
	static const char *const locks[] = { "futex", NULL };
	const struct evidence *seen = &standing->seen;
	const char *waits = seen->waits ? seen->waits : "";
	const char *what = "waits";

	if ((seen->state && *seen->state == 'R') ||
	    seen->busy_percent >= BUSY_PERCENT) {
		snprintf(standing->where, sizeof(standing->where), "computing");
		return;
	}
	if (seen->state && *seen->state == 'T')
		what = "halted";
	else if (stacks_text_has_word(waits, sleeps))
		what = "sleeping";
	else if (stacks_text_has_word(waits, network))
		what = "waiting for the network";
	else if (stacks_text_has_word(waits, locks))
		what = "waiting for a lock";
	else if (seen->state && *seen->state == 'D')
		what = "stuck in the kernel";
	standing->awaits = stacks_text_has_word(waits, network) ||
			   stacks_text_has_word(waits, locks);
	snprintf(standing->where, sizeof(standing->where), "%s%s%.60s%s", what,
		 *waits ? " (" : "", waits, *waits ? ")" : "");
}

/* Calls in which a rank waits for the others. */
static void set_frames(struct standing *standing,
		       const struct call_stack *frames)
{
	static const char *const calls[] = {
		"reduce",      "gather",    "broadcast", "barrier",
		"all_to_all",  "alltoall",  "scatter",   "recv",
		"synchronize", "_wait",     "wait_",     "backward",
		"rendezvous",  "monitored", "nccl",      "gloo",
		"hccl",        "mccl",      NULL
	};
	char where[CALL_STACK_SIZE];

	bool awaits = stacks_text_has_word(frames->inner, calls) ||
		      !strcmp(frames->inner, "wait") ||
		      !strcmp(frames->inner, "send");

	call_stack_where(frames, where);
	if (!*where)
		return;
	if (*frames->file || *frames->user) {
		snprintf(standing->where, sizeof(standing->where), "%s", where);
		standing->awaits = awaits;
		return;
	}
	/* Without a source file the state in the kernel says more. */
	snprintf(standing->where + strlen(standing->where),
		 sizeof(standing->where) - strlen(standing->where),
		 ", in %.60s", where);
	standing->awaits |= awaits;
}

static int standing_add(struct stacks *stacks, const char *node,
			struct evidence *seen)
{
	struct standing *standing;

	if (stacks->count == STACKS_RANKS_MAX)
		return 0;
	standing = LIST_ADD(stacks->list, stacks->count, NULL);
	if (!standing)
		return -1;
	standing->node = strdup(node);
	if (!standing->node) {
		stacks->count--;
		return -1;
	}
	standing->seen = *seen;
	*seen = (struct evidence){ 0 };
	describe_kernel(standing);
	return 0;
}

/* Set the stack that a tool printed for a process. */
static void stacks_set_frames(struct stacks *stacks, const char *node,
			      const struct evidence *seen)
{
	struct call_stack frames = { 0 };

	for (size_t i = 0; i < seen->stack.count; i++)
		call_stack_take(&frames, seen->stack.items[i],
				strlen(seen->stack.items[i]));
	for (size_t i = 0; i < stacks->count; i++)
		if (stacks->list[i].seen.pid == seen->pid &&
		    !strcmp(stacks->list[i].node, node))
			set_frames(&stacks->list[i], &frames);
}

static int stacks_take_line(struct stacks *stacks, const char *node,
			    uint64_t round, const char *line, size_t size)
{
	owned(evidence_clear) struct evidence seen = { 0 };

	if (evidence_read(line, size, &seen, NULL) < 0 || seen.round != round)
		return 0;
	if (seen.tool)
		stacks_set_frames(stacks, node, &seen);
	else if (seen.pid)
		stacks->written += seen.written_bytes;
	return seen.leads && !seen.tool ? standing_add(stacks, node, &seen) : 0;
}

static const char *stacks_next_line(const char **at, const char *end,
				    size_t *size)
{
	const char *line = *at;
	const char *newline =
		line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;

	if (!newline)
		return NULL;
	*size = (size_t)(newline - line);
	*at = newline + 1;
	return line;
}

/* The last complete round; 0: there is none. */
static uint64_t last_round(const char *text, size_t size)
{
	const char *at = text, *line;
	uint64_t round = 0;
	size_t length;

	while ((line = stacks_next_line(&at, text + size, &length))) {
		owned(evidence_clear) struct evidence seen = { 0 };

		if (evidence_read(line, length, &seen, NULL) == 0 && seen.end)
			round = seen.round;
	}
	return round;
}

bool stacks_ended(const char *text, size_t size, uint64_t round)
{
	return round && last_round(text, size) == round;
}

int stacks_take(struct stacks *stacks, const char *node, uint64_t round,
		const char *text, size_t size, struct error *err)
{
	const char *at = text, *line;
	size_t length;

	if (!round)
		round = last_round(text, size);
	while ((line = stacks_next_line(&at, text + size, &length)))
		if (stacks_take_line(stacks, node, round, line, length) < 0)
			return error_nomem(err, "stacks");
	return 0;
}

/* The process of this rank on the node; -1: the first one there without a
 * printed stack.
 */
static struct standing *next_standing(struct stacks *stacks, const char *node,
				      int64_t rank)
{
	for (size_t i = 0; i < stacks->count; i++) {
		struct standing *standing = &stacks->list[i];

		if (!standing->printed && !strcmp(standing->node, node) &&
		    (rank < 0 || standing->seen.rank == rank))
			return standing;
	}
	return NULL;
}

static void set_printed(struct stacks *stacks, const char *node, int64_t rank,
			const struct call_stack *frames)
{
	struct standing *standing = next_standing(stacks, node, rank);

	if (!standing)
		return;
	set_frames(standing, frames);
	standing->printed = true;
	standing->fails = frames->fails;
}

/* Does the line belong to a dump of Python's faulthandler? */
static bool dump_goes_on(const char *line, size_t size)
{
	static const char *const heads[] = { "Thread 0x", "Current thread 0x",
					     "Stack (most recent",
					     "Garbage-collecting", "<" };

	if (!size || *line == ' ')
		return true;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (size >= strlen(heads[i]) &&
		    !memcmp(line, heads[i], strlen(heads[i])))
			return true;
	return false;
}

/* Give each dump of the text to a process of the node; take: or count them. */
static size_t dumps_read(struct stacks *stacks, const char *node, int64_t rank,
			 const char *text, size_t size, bool take)
{
	const char *at = text, *line;
	struct call_stack frames = { 0 };
	bool inside = false;
	size_t length, count = 0;

	while ((line = stacks_next_line(&at, text + size, &length))) {
		bool fatal = memmem(line, length, FATAL, strlen(FATAL));

		if (inside && (fatal || !dump_goes_on(line, length))) {
			if (take)
				set_printed(stacks, node, rank, &frames);
			inside = false;
		}
		if (fatal) {
			frames = (struct call_stack){ 0 };
			inside = true;
			count++;
		} else if (inside) {
			call_stack_take(&frames, line, length);
		}
	}
	if (inside && take)
		set_printed(stacks, node, rank, &frames);
	return count;
}

void stacks_take_output(struct stacks *stacks, const char *node, int64_t rank,
			const char *text, size_t size)
{
	size_t processes = 0;

	for (size_t i = 0; i < stacks->count; i++)
		processes += !strcmp(stacks->list[i].node, node);
	if (rank >= 0 ||
	    dumps_read(stacks, node, rank, text, size, false) == processes)
		dumps_read(stacks, node, rank, text, size, true);
}

/* Grouping. */

static int by_size(const void *a, const void *b)
{
	const struct group *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->first > other->first) - (one->first < other->first);
}

static int by_rank(const void *a, const void *b)
{
	const struct standing *one = a, *other = b;

	return (one->seen.rank > other->seen.rank) -
	       (one->seen.rank < other->seen.rank);
}

static bool alike(const struct standing *a, const struct standing *b)
{
	return !strcmp(a->where, b->where);
}

static int make_groups(struct stacks *stacks)
{
	free(stacks->groups);
	stacks->group_count = 0;
	stacks->groups = calloc(stacks->count + 1, sizeof(*stacks->groups));
	if (!stacks->groups)
		return -1;
	if (stacks->count)
		qsort(stacks->list, stacks->count, sizeof(*stacks->list),
		      by_rank);
	for (size_t i = 0; i < stacks->count; i++) {
		size_t g = 0;

		if (stacks->list[i].fails)
			continue;
		while (g < stacks->group_count &&
		       !alike(&stacks->list[i],
			      &stacks->list[stacks->groups[g].first]))
			g++;
		if (g == stacks->group_count)
			stacks->groups[stacks->group_count++].first = i;
		stacks->groups[g].count++;
	}
	qsort(stacks->groups, stacks->group_count, sizeof(*stacks->groups),
	      by_size);
	return 0;
}

static const struct standing *head(const struct stacks *stacks, size_t group)
{
	return &stacks->list[stacks->groups[group].first];
}

/* The group that the others wait for. If some groups wait for others: the
 * smallest that does not. Else the smallest one, if one group has most ranks.
 * -1: none.
 */
static ssize_t find_odd(const struct stacks *stacks)
{
	size_t last = stacks->group_count - 1;
	bool awaiting = false;

	if (stacks->group_count < 2)
		return -1;
	for (size_t g = 0; g <= last; g++)
		awaiting |= head(stacks, g)->awaits;
	for (size_t g = last + 1; awaiting && g-- > 0;)
		if (!head(stacks, g)->awaits)
			return (ssize_t)g;
	return stacks->groups[0].count * 2 > stacks->count ? (ssize_t)last : -1;
}

static void add_others(const struct stacks *stacks, ssize_t odd,
		       char text[STACKS_TEXT_SIZE])
{
	size_t shown = 0;

	for (size_t g = 0; g < stacks->group_count && shown < GROUPS_SHOWN;
	     g++) {
		size_t used = strlen(text), count = stacks->groups[g].count;

		if ((ssize_t)g == odd)
			continue;
		snprintf(text + used, STACKS_TEXT_SIZE - used,
			 "%s%zu rank%s %s", shown || odd >= 0 ? "; " : ": ",
			 count, count > 1 ? "s:" : ":", head(stacks, g)->where);
		shown++;
	}
}

int stacks_verdict(struct stacks *stacks, char text[STACKS_TEXT_SIZE],
		   const char **node, int64_t *rank, struct error *err)
{
	const struct standing *who;
	ssize_t odd;

	*node = NULL;
	*rank = -1;
	if (make_groups(stacks) < 0)
		return error_nomem(err, "stacks");
	if (!stacks->count) {
		snprintf(text, STACKS_TEXT_SIZE,
			 "no process of a rank was found");
		return 0;
	}
	odd = find_odd(stacks);
	if (odd < 0) {
		snprintf(text, STACKS_TEXT_SIZE, "no rank differs");
		add_others(stacks, odd, text);
		return 0;
	}
	who = head(stacks, (size_t)odd);
	*node = who->node;
	*rank = who->seen.rank;
	snprintf(text, STACKS_TEXT_SIZE, "%.60s: rank %" PRId64 " %s",
		 who->node, who->seen.rank, who->where);
	if (stacks->groups[odd].count > 1)
		snprintf(text + strlen(text), STACKS_TEXT_SIZE - strlen(text),
			 " (and %zu more)", stacks->groups[odd].count - 1);
	add_others(stacks, odd, text);
	return 0;
}

/* JSON. */

static cJSON *group_json(const struct stacks *stacks, size_t group)
{
	cJSON *item = cJSON_CreateObject();
	cJSON *ranks, *nodes;
	const char *node = NULL;

	cJSON_AddStringToObject(item, "where", head(stacks, group)->where);
	ranks = cJSON_AddArrayToObject(item, "ranks");
	nodes = cJSON_AddArrayToObject(item, "nodes");
	for (size_t i = 0; i < stacks->count; i++) {
		const struct standing *standing = &stacks->list[i];

		if (!alike(standing, head(stacks, group)))
			continue;
		cJSON_AddItemToArray(ranks,
				     cJSON_CreateNumber(
					     (double)standing->seen.rank));
		if (!node || strcmp(node, standing->node) != 0)
			cJSON_AddItemToArray(nodes, cJSON_CreateString(
							    standing->node));
		node = standing->node;
	}
	return item;
}

static cJSON *rank_json(const struct standing *standing)
{
	cJSON *item = codec_object(&evidence_schema, &standing->seen, NULL);

	cJSON_DeleteItemFromObjectCaseSensitive(item, "leads");
	if (!json_get(item, "rank"))
		cJSON_AddNumberToObject(item, "rank",
					(double)standing->seen.rank);
	cJSON_AddStringToObject(item, "node", standing->node);
	cJSON_AddStringToObject(item, "where", standing->where);
	return item;
}

cJSON *stacks_json(struct stacks *stacks)
{
	char text[STACKS_TEXT_SIZE];
	cJSON *all, *groups, *ranks;
	const char *node;
	int64_t rank;

	if (stacks_verdict(stacks, text, &node, &rank, NULL) < 0)
		return NULL;
	all = cJSON_CreateObject();
	groups = cJSON_AddArrayToObject(all, "groups");
	for (size_t g = 0; g < stacks->group_count; g++)
		cJSON_AddItemToArray(groups, group_json(stacks, g));
	ranks = cJSON_AddArrayToObject(all, "ranks");
	for (size_t i = 0; i < stacks->count; i++)
		cJSON_AddItemToArray(ranks, rank_json(&stacks->list[i]));
	cJSON_AddStringToObject(all, "verdict", text);
	cJSON_AddItemToObject(all, "node",
			      node ? cJSON_CreateString(node)
				   : cJSON_CreateNull());
	cJSON_AddItemToObject(all, "rank",
			      node ? cJSON_CreateNumber((double)rank)
				   : cJSON_CreateNull());
	return all;
}
