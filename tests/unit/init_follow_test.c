/* init_follow_test.c - what regatta-init copies of followed files, and what it
 * keeps of all output.
 *
 * Commands pause until regatta-init has copied what they wrote, so nothing here
 * depends on how fast a machine is.
 */
#include "agent/init/init.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/init_box.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Functions of the scripts: O is the folder of the streams, W that of the
 * files; until COMMAND...: wait for it.
 */
#define PRELUDE                                                                \
	"O=$LAB/out; W=$LAB/w; mkdir -p $W; "                                  \
	"until_() { until \"$@\"; do sleep 0.01; done; }; "                    \
	"size() { [ \"$(stat -c %s $O/node-3.$1.log 2>/dev/null)\" = $2 ]; "   \
	"}; "

/* Run the script with these patterns, each below the box's folder, one a line.
 */
static int run(struct box *box, const char *more, const char *patterns,
	       const char *script)
{
	char head[2048] = "node=3\n", text[4000];
	size_t used = strlen(head);

	used += (size_t)snprintf(head + used, sizeof(head) - used, "%s", more);
	while (*patterns) {
		size_t length = strcspn(patterns, "\n");

		used += (size_t)snprintf(head + used, sizeof(head) - used,
					 "follow=%s/%.*s\n", box->root,
					 (int)length, patterns);
		patterns += length + (patterns[length] == '\n');
	}
	setenv("LAB", box->root, 1);
	snprintf(text, sizeof(text), "%s%s", PRELUDE, script);
	box_script(box, head, text);
	return box_run(box);
}

static void read_out(struct box *box, const char *name, struct buffer *text)
{
	char path[200];

	snprintf(path, sizeof(path), "out/%s", name);
	buffer_init(text, 64 << 20);
	file_read_any(box_path(box, path), text, NULL);
}

__attribute__((format(printf, 4, 5))) static void out_is(struct box *box,
							 const char *name,
							 const char *want,
							 const char *fmt, ...)
{
	owned(buffer_clear) struct buffer text;
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	read_out(box, name, &text);
	is(text.data, want, "%s", what);
}

static bool there(struct box *box, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "out/%s", name);
	return access(box_path(box, path), F_OK) == 0;
}

/* The streams' names are those of the working folder, here the box's. */
static void in_lab(struct box *box)
{
	box_init(box);
	if (chdir(box->root) < 0)
		ok(false, "cannot enter %s", box->root);
}

static void out_of(struct box *box, int home)
{
	if (fchdir(home) < 0)
		ok(false, "cannot go back");
	box_clear(box);
}

static void test_appearing(int home)
{
	owned(buffer_clear) struct buffer index;
	char want[600];
	struct box box;
	size_t lines = 0;

	in_lab(&box);
	is_int(run(&box, "", "w/*/Rank?.log\nw/plain",
		   "sleep 0.6; mkdir $W/late; echo one >$W/late/Rank0.log; "
		   "until_ size w-late-rank0.log 4; "
		   "echo two >>$W/late/Rank0.log; mkdir $W/.dot; "
		   "echo x >$W/.dot/Rank1.log; mkdir $W/d $W/d/Rank2.log; "
		   "mkfifo $W/d/Rank3.log; echo last >$W/plain"),
	       0, "a command writes files in folders that come later");
	out_is(&box, "node-3.w-late-rank0.log.log", "one\ntwo\n",
	       "what is added while it runs is copied");
	out_is(&box, "node-3.w-plain.log", "last\n",
	       "a file made at the very end is too");
	snprintf(want, sizeof(want),
		 "\"path\": \"%s/w/late/Rank0.log\", \"part\": 1}\n", box.root);
	read_out(&box, "node-3.log", &index);
	for (size_t i = 0; i < index.size; i++)
		lines += index.data[i] == '\n';
	ok(strstr(index.data, want) != NULL, "the index has its path");
	is_int((long long)lines, 2,
	       "dot folders, folders and FIFOs are not followed");
	ok(!box_note(&box), "nothing is missing");
	out_of(&box, home);
}

static void test_parts(int home)
{
	struct box box;

	in_lab(&box);
	is_int(run(&box, "", "w/log",
		   "exec 3>$W/log; echo one >&3; until_ size w-log 4; "
		   "mv $W/log $W/old; echo two >&3; echo new >$W/log; "
		   "until_ size w-log-2 4; echo three >&3; "
		   ": >$W/log; until_ [ -e $O/node-3.w-log-3.log ]; "
		   "echo again >>$W/log"),
	       0, "a file is renamed, replaced and cut");
	out_is(&box, "node-3.w-log.log", "one\ntwo\nthree\n",
	       "a renamed file is read to its end");
	out_is(&box, "node-3.w-log-2.log", "new\n",
	       "the one in its place is the second part");
	out_is(&box, "node-3.w-log-3.log", "again\n",
	       "what follows a cut is the third");
	out_of(&box, home);
}

/* Files that an earlier command left, before the container runs. */
static void test_earlier(int home)
{
	owned(buffer_clear) struct buffer index;
	struct box box;
	size_t lines = 0;

	in_lab(&box);
	setenv("LAB", box.root, 1);
	is_int(system("mkdir $LAB/w; for f in stale touched grows anew same "
		      "short; do echo old loss 9.0 >$LAB/w/$f; done"),
	       0, "files are there before the command");
	is_int(run(&box, "", "w/*\nw/g*",
		   "touch $W/touched; echo new >>$W/grows; "
		   "echo longer than what was there >$W/anew; "
		   "echo new loss 8.0 >$W/same; echo x >$W/short; "
		   "until_ [ -s $O/node-3.w-grows.log ]; "
		   "echo y >>$W/short; : >$W/grows; "
		   "until_ [ -e $O/node-3.w-grows-2.log ]; "
		   "echo again >>$W/grows; echo old loss 9.0 >$LAB/new; "
		   "mv $LAB/new $W/stale"),
	       0, "some are written on, anew, replaced, or left alone");
	out_is(&box, "node-3.w-grows.log", "new\n",
	       "of one that is written on, what is added is copied");
	out_is(&box, "node-3.w-grows-2.log", "again\n",
	       "and when it is cut, all that follows");
	out_is(&box, "node-3.w-anew.log", "longer than what was there\n",
	       "one that is written anew is copied whole");
	out_is(&box, "node-3.w-same.log", "new loss 8.0\n",
	       "also with the same size");
	out_is(&box, "node-3.w-short.log", "x\ny\n", "or shorter");
	ok(!there(&box, "node-3.w-touched.log"),
	   "one that is only touched is no stream");
	out_is(&box, "node-3.w-stale.log", "old loss 9.0\n",
	       "another file in the place of one is new");
	read_out(&box, "node-3.log", &index);
	for (size_t i = 0; i < index.size; i++)
		lines += index.data[i] == '\n';
	is_int((long long)lines, 6, "and nothing else is a stream");
	ok(!box_note(&box), "nothing is missing");
	out_of(&box, home);
}

static void test_names(int home)
{
	struct box box;
	char text[300];

	in_lab(&box);
	is_int(run(&box, "", "w/*",
		   "l=$(printf %0200d 7); echo 1 >$W/$l; "
		   "echo 2 >\"$W/A b\"; until_ size w-a-b 2; "
		   "echo 3 >\"$W/a-b\"; echo 4 >\"$W/$(printf 'x\\ny')\""),
	       0, "files have odd names");
	snprintf(text, sizeof(text), "node-3.%.*s7.log", 51,
		 "000000000000000000000000000000000000000000000000000000");
	out_is(&box, text, "1\n", "of a long one the end is kept");
	out_is(&box, "node-3.w-a-b.log", "2\n", "others become -");
	out_is(&box, "node-3.w-a-b-2.log", "3\n",
	       "a name that is taken is counted");
	out_is(&box, "node-3.w-x-y.log", "4\n", "a newline is one of them");
	out_of(&box, home);
}

static void test_many(int home)
{
	struct box box;

	in_lab(&box);
	is_int(run(&box, "", "w/f*",
		   "i=0; while [ $i -lt 140 ]; do echo $i >$W/f$i; "
		   "i=$((i+1)); done"),
	       0, "more files than can be followed");
	ok(box_note(&box) && strstr(box_note(&box), "more files match than "
						    "the 128"),
	   "which is said: %s", box_note(&box) ? box_note(&box) : "");
	{
		owned(buffer_clear) struct buffer index;
		size_t lines = 0;

		read_out(&box, "node-3.log", &index);
		for (size_t i = 0; i < index.size; i++)
			lines += index.data[i] == '\n';
		is_int((long long)lines, INIT_FOLLOW_MAX, "128 are");
	}
	out_of(&box, home);
}

static void test_own_streams(int home)
{
	struct box box;

	in_lab(&box);
	is_int(run(&box, "log_limit=100000\n", "w/a\nout/node-3.*",
		   "echo a >$W/a; until_ size w-a 2; sleep 1"),
	       0, "a pattern that matches the streams themselves");
	ok(!there(&box, "node-3.out-node-3.w-a.log.log"),
	   "does not make them go in circles");
	out_of(&box, home);
}

static void test_fast(int home)
{
	owned(buffer_clear) struct buffer text;
	bool same = true;
	struct box box;

	in_lab(&box);
	is_int(run(&box, "", "w/big", "yes 0123456 | head -c 32000000 >$W/big"),
	       0, "32 MB are written at once");
	read_out(&box, "node-3.w-big.log", &text);
	is_int((long long)text.size, 32000000, "all of them are copied");
	for (size_t i = 0; i < text.size; i++)
		same &= text.data[i] == "0123456\n"[i % 8];
	ok(same, "byte for byte");
	out_of(&box, home);
}

/* The number behind these words, or 0. */
static unsigned long long bytes_after(const char *note, const char *words)
{
	const char *at = note ? strstr(note, words) : NULL;

	return at ? strtoull(at + strlen(words), NULL, 10) : 0;
}

static void test_limit(int home)
{
	owned(buffer_clear) struct buffer rank, file;
	unsigned long long lost;
	struct box box;

	in_lab(&box);
	is_int(run(&box, "log_limit=100000\n", "w/file",
		   "head -c 30000 /dev/zero >$W/file; "
		   "until_ size w-file 30000; "
		   "head -c 60000 /dev/zero | tr '\\0' a; sleep 0.7; "
		   "head -c 60000 /dev/zero | tr '\\0' b; "
		   "until_ grep -q kept $O/node-3.log; "
		   "head -c 3000000 /dev/zero | tr '\\0' c; "
		   "cut_() { [ $(stat -c %s $O/rank-0.log) -le 70000 ]; }; "
		   "until_ cut_; "
		   "head -c 50000 /dev/zero >>$W/file; exit 0"),
	       0, "a command that exceeds its limit goes on undisturbed");
	read_out(&box, "rank-0.log", &rank);
	read_out(&box, "node-3.w-file.log", &file);
	is_int((long long)file.size, 30000, "the file keeps what it had");
	is_int((long long)rank.size, 70000, "the output fills the rest");
	ok(rank.size == 70000 && rank.data[59999] == 'a' &&
		   rank.data[69999] == 'b',
	   "with its beginning");
	is_int(box_number_of(&box, 0, "log_bytes"), 70000,
	       "which is its size in the record");
	/* What is written while the file is cut is not counted. */
	lost = bytes_after(box_note(&box), "the limit of 100000 bytes is not "
					   "kept: at least ");
	ok(lost > 3000000 && lost <= 3100000,
	   "the record says what is not kept: %s",
	   box_note(&box) ? box_note(&box) : "");
	{
		owned(buffer_clear) struct buffer index;

		read_out(&box, "node-3.log", &index);
		ok(strstr(index.data,
			  "{\"stream\": \"rank-0\", \"kept\": 70000}\n") !=
			   NULL,
		   "and the index where the output ends");
	}
	out_of(&box, home);

	in_lab(&box);
	is_int(run(&box, "log_limit=1000\n", "",
		   "truncate -s 4000000000000 $O/rank-0.log"),
	       0, "a command makes its output 4 TB long");
	buffer_clear(&rank);
	read_out(&box, "rank-0.log", &rank);
	is_int((long long)rank.size, 1000, "it is kept to the limit");
	ok(there(&box, "exit.json") && !there(&box, "node-3.w-file.log"),
	   "and nothing else is made");
	out_of(&box, home);
}

static void test_cut_output(int home)
{
	struct box box;

	in_lab(&box);
	is_int(run(&box, "", "",
		   "echo long line; sleep 0.7; echo x >/dev/stderr; "
		   "echo more"),
	       0, "> /dev/stderr cuts the output of a command");
	out_is(&box, "rank-0.log", "x\nmore\n", "which is there as it is now");
	ok(box_note(&box) && strstr(box_note(&box), "truncated its own output"),
	   "the record says so: %s", box_note(&box) ? box_note(&box) : "");
	ok(!there(&box, "node-3.log"), "there is no index without a reason");
	out_of(&box, home);
}

/* Beside the folders of PATH; each once, sorted. */
static void test_packages(void)
{
	static const char *const folders[] = {
		"env/lib/python3.11/site-packages/torch-2.1.0+x1.dist-info",
		"env/lib/python3.11/site-packages/My_Tool-1.2-py3.11.egg-info",
		"env/lib/python3.11/site-packages/plain.egg-info",
		"env/lib/python3.11/site-packages/two\nlines-1.dist-info",
		"env/lib/python3/dist-packages/torch-2.1.0+x1.dist-info",
		"env/bin",
	};
	owned(buffer_clear) struct buffer text, index;
	char head[200];
	struct box box;

	box_init(&box);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		file_make_folders(box_path(&box, folders[i]), 0755, NULL);
	snprintf(head, sizeof(head), "env=PATH=%s/env/bin\n", box.root);
	box_script(&box, head, "exit 0");
	is_int(box_run(&box), 0, "a command with a PATH of its own");
	read_out(&box, "node-0.python-packages.log", &text);
	ok(strstr(text.data, "My_Tool 1.2-py3.11\ntorch 2.1.0+x1\n") &&
		   !strstr(text.data, "plain") && !strstr(text.data, "two"),
	   "has a list of its packages");
	read_out(&box, "node-0.log", &index);
	ok(strstr(index.data, "\"node-0.python-packages\"") != NULL,
	   "which is announced");
	box_clear(&box);
}

int main(void)
{
	owned_fd int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	owned_free char *program = NULL;

	tap_begin(120);
	if (!box_ready_to_go())
		return 1;
	/* The tests change the folder. */
	program = realpath(box_program(), NULL);
	setenv("REGATTA_INIT", program, 1);
	test_appearing(home);
	test_parts(home);
	test_earlier(home);
	test_names(home);
	test_many(home);
	test_own_streams(home);
	test_fast(home);
	test_limit(home);
	test_cut_output(home);
	test_packages();
	return tap_done();
}
