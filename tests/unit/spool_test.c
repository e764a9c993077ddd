/* spool_test.c - the folder of a task: made once, read with care, removed.
 */
#include "agent/spool/spool.h"

#include "agent/init/init.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char state[64];

static const struct task_id first = { 12, 1, 0 };

static const char *path_of(const char *inside)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/spool/%s", state, inside);
	return path;
}

static void put(const char *inside, const char *text)
{
	if (file_write(AT_FDCWD, path_of(inside), text, strlen(text), 0644, 0,
		       NULL) < 0)
		ok(false, "cannot write %s", inside);
}

static bool there(const char *inside)
{
	return faccessat(AT_FDCWD, path_of(inside), F_OK,
			 AT_SYMLINK_NOFOLLOW) == 0;
}

static int mode_of(const char *inside)
{
	struct stat st = { 0 };

	stat(path_of(inside), &st);
	return (int)(st.st_mode & 07777);
}

static struct task_spec spec_of(const struct task_id *id)
{
	return (struct task_spec){
		.job = id->job,
		.attempt = id->attempt,
		.rank = id->rank,
		.nodes = 1,
		.world_size = 1,
		.processes_per_node = 1,
		.container = { .image = (char *)"registry:5000/x:1" },
	};
}

static struct spool *open_spool(void)
{
	struct error err = { 0 };
	struct spool *spool = spool_new(state, &err);

	if (!spool)
		printf("# %s\n", err.text);
	return spool;
}

static void one_agent(void)
{
	owned(spool_free) struct spool *spool = open_spool();
	struct error err = { 0 };

	ok(spool, "a spool is made where there is none");
	is_int(mode_of(""), 0700, "for its owner only");
	ok(!spool_new(state, &err), "a second agent is refused");
	is_int(err.code, EBUSY, "because the first one is there");
	ok(strstr(err.text, state), "in words: %s", err.text);
	spool_free(take(spool));
	spool = open_spool();
	ok(spool, "after it, the next agent may");
}

static void making(void)
{
	owned(spool_free) struct spool *spool = open_spool();
	struct task_spec spec = spec_of(&first), got = { 0 };
	struct error err = { 0 };
	char path[PATH_MAX];
	mode_t mask = umask(0077);

	is_int(spool_create(spool, &spec, &err), 0, "a task's folder is made");
	umask(mask);
	is_int(mode_of("12.1.0"), 0700, "private");
	is_int(mode_of("12.1.0/out"), 0777,
	       "but for what the container writes, whatever the umask");
	is_int(mode_of("12.1.0/in"), 0755, "and reads");
	is_int(mode_of("12.1.0/task.json"), 0600, "its spec is not among that");
	is_int(spool_read_spec(spool, &first, &got, &err), 0,
	       "the spec is read back");
	is(got.container.image, "registry:5000/x:1", "as it was");
	codec_clear(&task_spec_schema, &got);
	spec.container.image = (char *)"other";
	is_int(spool_create(spool, &spec, &err), 0, "making it again is fine");
	spool_read_spec(spool, &first, &got, &err);
	is(got.container.image, "registry:5000/x:1", "and changes nothing");
	codec_clear(&task_spec_schema, &got);
	spool_path(spool, &first, SPOOL_IN, path);
	is(path, path_of("12.1.0/in"), "the way in has an absolute path");
	spool_path(spool, &first, SPOOL_OUT, path);
	is(path, path_of("12.1.0/out"), "and the way out");
}

static void start_file(void)
{
	owned(spool_free) struct spool *spool = open_spool();
	owned(buffer_clear) struct buffer got = BUFFER_INIT(INIT_START_MAX);
	struct error err = { 0 };

	is_int(spool_write(spool, &first, SPOOL_IN, "start", "a=1\0b=2", 8,
			   &err),
	       0, "the start file is written");
	file_read(AT_FDCWD, path_of("12.1.0/in/start"), &got, NULL);
	ok(got.size == 8 && !memcmp(got.data, "a=1\0b=2", 8), "byte for byte");
	is_int(mode_of("12.1.0/in/start"), 0444, "for any user of the image");
	is_int(spool_write(spool, &first, SPOOL_IN, "start", "c", 1, &err), 0,
	       "it may be written again");
}

static void specs_that_are_none(void)
{
	owned(spool_free) struct spool *spool = open_spool();
	struct task_id id = { 13, 1, 0 };
	struct task_spec got = { .job = 99 };
	struct error err = { 0 };

	is_int(spool_read_spec(spool, &id, &got, &err), -1, "no folder");
	is_int(err.code, ENOENT, "is not there");
	file_make_folders(path_of("13.1.0/out"), 0700, NULL);
	is_int(spool_read_spec(spool, &id, &got, &err), -1,
	       "a folder without a spec");
	is_int(err.code, ENOENT, "was never a task");
	put("13.1.0/task.json", "{\"job\": 13,");
	is_int(spool_read_spec(spool, &id, &got, &err), -1, "half a spec");
	is_int(err.code, EPROTO, "is refused: %s", err.text);
	put("13.1.0/task.json",
	    "{\"job\":12,\"attempt\":1,\"rank\":0,\"nodes\":1,\"world_size\":1,"
	    "\"processes_per_node\":1,\"container\":{\"image\":\"x\"}}");
	is_int(spool_read_spec(spool, &id, &got, &err), -1,
	       "the spec of another task");
	is_int(err.code, EPROTO, "is refused: %s", err.text);
	is_int((long long)got.job, 99, "and nothing is written to the caller");
	is_int(spool_remove(spool, &id, &err), 0, "it can be removed");
	ok(!there("13.1.0"), "with all that is in it");
}

/* A process that locks the file `started`, as regatta-init does. */
static pid_t locker_begin(int command)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int said[2], fd;
	char ready;
	pid_t pid;

	if (pipe(said) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		fd = open(path_of("14.1.0/out/started"), O_RDWR | O_CREAT,
			  0644);
		if (fcntl(fd, command, &lock) < 0 || write(said[1], "", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(said[1]);
	if (read(said[0], &ready, 1) != 1)
		abort();
	close(said[0]);
	return pid;
}

static void locker_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Who has the lock is regatta-init, until a command may have it. */
static void holders(struct spool *spool)
{
	static const struct task_id id = { 14, 1, 0 };
	struct task_spec spec = spec_of(&id);
	pid_t pid, other;

	if (spool_create(spool, &spec, NULL) < 0)
		abort();
	is_int(spool_holder(spool, &id), 0, "nobody lives");
	pid = locker_begin(F_SETLK);
	is_int(spool_holder(spool, &id), pid, "regatta-init does");
	put("14.1.0/in/start", "");
	is_int(spool_holder(spool, &id), 0,
	       "of a command that is released a lock says nothing");
	is_int(spool_note_init(spool, &id, pid, NULL), 0,
	       "an agent has looked at it before");
	is_int(spool_holder(spool, &id), pid, "then it is known");
	unlink(path_of("14.1.0/out/started"));
	other = locker_begin(F_SETLK);
	is_int(spool_holder(spool, &id), pid, "whoever has such a lock");
	locker_end(pid);
	is_int(spool_holder(spool, &id), 0, "and known to have ended");
	locker_end(other);
	other = locker_begin(F_OFD_SETLK);
	is_int(spool_holder(spool, &id), 0, "though a lock has no process");
	locker_end(other);
	put("14.1.0/host/init", "1 1");
	is_int(spool_holder(spool, &id), 0,
	       "a process that got its number is another");
	is_int(spool_remove(spool, &id, NULL), 0, "it can be removed");
}

/* The folder out/ is full of what strangers made. */
static void hostile_records(struct spool *spool)
{
	owned(exit_record_clear) struct exit_record record = { 0 };
	owned_free char *large = malloc(EXIT_RECORD_MAX + 2);
	struct error err = { 0 };
	char text[512];

	is_int(spool_has(spool, &first, SPOOL_OUT, "started"), false,
	       "nothing has begun");
	is_int(spool_read_exit(spool, &first, &record, &err), -1, "or ended");
	is_int(err.code, ENOENT, "there is no record");
	put("12.1.0/out/started", "");
	is_int(spool_has(spool, &first, SPOOL_OUT, "started"), true,
	       "regatta-init began");

	put("outside", "secret");
	ok(symlink("../../outside", path_of("12.1.0/out/exit.json")) == 0,
	   "a link is made");
	is_int(spool_read_exit(spool, &first, &record, &err), -1,
	       "a record that is a link");
	is_int(err.code, ELOOP, "is refused");
	unlink(path_of("12.1.0/out/exit.json"));
	mkfifo(path_of("12.1.0/out/exit.json"), 0600);
	is_int(spool_read_exit(spool, &first, &record, &err), -1,
	       "a FIFO in its place");
	is_int(err.code, EINVAL, "is refused at once");
	unlink(path_of("12.1.0/out/exit.json"));
	memset(large, ' ', EXIT_RECORD_MAX + 1);
	large[EXIT_RECORD_MAX + 1] = 0;
	put("12.1.0/out/exit.json", large);
	is_int(spool_read_exit(spool, &first, &record, &err), -1,
	       "a record too large");
	is_int(err.code, E2BIG, "is refused");
	snprintf(text, sizeof(text),
		 "{\"version\":1,\"exit_code\":3,\"signal\":0,\"started_ms\":1,"
		 "\"ended_ms\":2,\"oom_kills\":0,\"memory_peak_bytes\":0}");
	put("12.1.0/out/exit.json", text);
	is_int(spool_read_exit(spool, &first, &record, &err), 0,
	       "one that is a record is read");
	is_int(record.exit_code, 3, "with its code");
}

static void hostile_streams(struct spool *spool)
{
	struct error err = { 0 };
	char text[512];
	int fd;

	is_int(spool_open_stream(spool, &first, SPOOL_OUT, "rank-0", &err), -1,
	       "a stream that is not there yet");
	is_int(err.code, ENOENT, "is not there");
	ok(symlink("../../outside", path_of("12.1.0/out/rank-0.log")) == 0,
	   "a link is made");
	is_int(spool_open_stream(spool, &first, SPOOL_OUT, "rank-0", &err), -1,
	       "a stream that is a link");
	is_int(err.code, ELOOP, "is refused");
	unlink(path_of("12.1.0/out/rank-0.log"));
	mkfifo(path_of("12.1.0/out/rank-0.log"), 0600);
	is_int(spool_open_stream(spool, &first, SPOOL_OUT, "rank-0", &err), -1,
	       "one that is a FIFO");
	is_int(err.code, EINVAL, "is refused at once");
	unlink(path_of("12.1.0/out/rank-0.log"));
	put("12.1.0/out/rank-0.log", "words");
	fd = spool_open_stream(spool, &first, SPOOL_OUT, "rank-0", &err);
	ok(fd >= 0 && read(fd, text, sizeof(text)) == 5, "a file is opened");
	if (fd >= 0)
		close(fd);
}

static void own_streams(struct spool *spool)
{
	struct error err = { 0 };
	char text[512];
	int fd;

	fd = spool_append_stream(spool, &first, "samples-0", &err);
	ok(fd >= 0 && write(fd, "one", 3) == 3 && close(fd) == 0,
	   "the agent makes a stream of its own");
	fd = spool_append_stream(spool, &first, "samples-0", &err);
	ok(fd >= 0 && write(fd, "two", 3) == 3 && close(fd) == 0,
	   "and goes on at its end");
	ok(!there("12.1.0/out/samples-0.log"), "which no container sees");
	fd = spool_open_stream(spool, &first, SPOOL_HOST, "samples-0", &err);
	ok(fd >= 0 && read(fd, text, sizeof(text)) == 6 &&
		   !memcmp(text, "onetwo", 6),
	   "it is read as others are");
	if (fd >= 0)
		close(fd);
}

static void removal(struct spool *spool)
{
	struct error err = { 0 };
	char name[40];
	FILE *file;

	ok(symlink("/", path_of("12.1.0/out/away")) == 0, "a link is made");
	is_int(spool_remove(spool, &first, &err), 0, "it is removed");
	ok(!there("12.1.0") && !there("../trash/12.1.0-0"),
	   "with whatever it has");
	for (int round = 0; round < 2; round++) {
		if (mkdir(path_of("12.1.0"), 0700) < 0 ||
		    mkdir(path_of("12.1.0/work"), 0700) < 0)
			abort();
		for (int i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "12.1.0/work/%d", i);
			if (mkdir(path_of(name), 0700) < 0)
				abort();
		}
		is_int(spool_remove(spool, &first, &err), 1,
		       "what has many files is left to others");
		ok(!there("12.1.0") &&
			   there(round ? "../trash/12.1.0-1/work/99"
				       : "../trash/12.1.0-0/work/99"),
		   "in the trash, whole, beside another one of its name");
	}
	if (mkdir(path_of("12.1.0"), 0700) < 0 ||
	    !(file = fopen(path_of("12.1.0/large"), "w")) ||
	    posix_fallocate(fileno(file), 0, 32 << 20) || fclose(file))
		abort();
	is_int(spool_remove(spool, &first, &err), 1, "and what is large");
	is_int(spool_remove(spool, &first, &err), 0,
	       "what is not there can be removed");
}

static void hostile_output(void)
{
	owned(spool_free) struct spool *spool = open_spool();

	holders(spool);
	hostile_records(spool);
	hostile_streams(spool);
	own_streams(spool);
	removal(spool);
}

struct names {
	char text[256];
	struct spool *spool;
};

static void note(void *arg, const struct task_id *id)
{
	struct names *names = arg;
	size_t n = strlen(names->text);

	/* In no order; so each is a bit that is set. */
	snprintf(names->text + n, sizeof(names->text) - n, "%s%llu.%u.%u",
		 n ? " " : "", (unsigned long long)id->job, id->attempt,
		 id->rank);
	spool_remove(names->spool, id, NULL);
}

static void what_is_left(void)
{
	static const char *const strangers[] = {
		"1.2",
		"1.2.3.4",
		"01.1.1",
		"-1.1.1",
		" 1.1.1",
		"1.1.1x",
		"1.4294967296.0",
		"18446744073709551616.1.1",
		"words",
		"+1.1.1",
	};
	owned(spool_free) struct spool *spool = open_spool();
	struct names names = { .spool = spool };
	struct error err = { 0 };
	size_t left = 0;

	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
		file_make_folders(path_of(strangers[i]), 0700, NULL);
	put("file", "x");
	file_make_folders(path_of("18446744073709551615.4294967295.4294967295"),
			  0700, NULL);
	is_int(spool_each(spool, note, &names, &err), 0, "folders are listed");
	is(names.text, "18446744073709551615.4294967295.4294967295",
	   "those of tasks only, up to the largest ids");
	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
		left += there(strangers[i]);
	is_int((long long)left + there("file"), 0,
	       "what is no such folder is removed");
	names.text[0] = 0;
	for (uint32_t rank = 0; rank < 3; rank++) {
		struct task_id id = { 5, 2, rank };
		struct task_spec spec = spec_of(&id);

		spool_create(spool, &spec, NULL);
	}
	is_int(spool_each(spool, note, &names, &err), 0,
	       "the callback may remove what it is given");
	ok(strstr(names.text, "5.2.0") && strstr(names.text, "5.2.1") &&
		   strstr(names.text, "5.2.2") && strlen(names.text) == 17,
	   "each comes once: %s", names.text);
	ok(!there("5.2.0") && !there("5.2.1") && !there("5.2.2"),
	   "and is gone then");
}

static void usage(void)
{
	owned(spool_free) struct spool *spool = open_spool();
	static char block[1 << 20];
	const struct task_id id = { 30, 1, 0 };
	struct task_spec spec = spec_of(&id);
	struct spool_usage empty, used;
	char name[64 + SPOOL_DEPTH_MAX * 4] = "30.1.0/out";

	spool_create(spool, &spec, NULL);
	spool_measure(spool, &id, 100, &empty);
	ok(!empty.names && !empty.bytes, "a fresh folder has nothing");
	memset(block, 'x', sizeof(block));
	file_write(AT_FDCWD, path_of("30.1.0/out/big"), block, sizeof(block),
		   0644, 0, NULL);
	put("30.1.0/out/small", "x");
	if (symlink("/", path_of("30.1.0/out/root")) < 0 ||
	    truncate(path_of("30.1.0/out/small"), INT64_C(1) << 40) < 0)
		ok(false, "no link");
	spool_measure(spool, &id, 100, &used);
	ok(used.names == 3 && used.bytes >= sizeof(block) &&
		   used.bytes < 2 * sizeof(block),
	   "what is written counts, a hole and what a link leads to do not");
	mkdir(path_of("30.1.0/work"), 0755);
	put("30.1.0/work/tree", "x");
	spool_measure(spool, &id, 100, &used);
	is_int((long long)used.names, 3, "other folders do not count here");
	spool_measure(spool, &id, 1, &used);
	is_int((long long)used.names, 2, "no more names are counted");
	for (int i = 0; i <= SPOOL_DEPTH_MAX; i++) {
		strncat(name, "/d", 3);
		mkdir(path_of(name), 0755);
	}
	spool_measure(spool, &id, 100, &used);
	is_int((long long)used.names, 101, "a deep tree is too many names");
	spool_remove(spool, &id, NULL);
}

/* regatta-init's record, and one that a command put in its place. */
static void reserved_record(void)
{
	owned(spool_free) struct spool *spool = open_spool();
	const struct task_id id = { 31, 1, 0 };
	struct task_spec spec = spec_of(&id);
	struct exit_record record;
	struct error err = { 0 };
	char from[PATH_MAX], other[PATH_MAX];

	spool_create(spool, &spec, NULL);
	put("31.1.0/out/exit.json", "{}");
	ok(spool_record_is_ours(spool, &id), "none reserved: any will do");
	unlink(path_of("31.1.0/out/exit.json"));
	is_int(spool_reserve_record(spool, &id, &err), 0, "one is reserved");
	is_int(mode_of("31.1.0/out/exit.json.new"), 0666, "for any user");
	is_int(spool_reserve_record(spool, &id, &err), 0, "again: nothing");
	ok(!spool_has(spool, &id, SPOOL_OUT, "exit.json"),
	   "that is no record yet");
	snprintf(from, sizeof(from), "%s", path_of("31.1.0/out/exit.json.new"));
	put("31.1.0/out/other", "{}");
	snprintf(other, sizeof(other), "%s", path_of("31.1.0/out/other"));
	if (rename(other, path_of("31.1.0/out/exit.json")) < 0)
		ok(false, "cannot rename");
	ok(!spool_record_is_ours(spool, &id) &&
		   spool_read_exit(spool, &id, &record, &err) < 0,
	   "another file in its place is none");
	is(err.text, "another file is in its place", "in words");
	is_int(err.code, EPROTO, "as damage");
	if (rename(from, path_of("31.1.0/out/exit.json")) < 0)
		ok(false, "cannot rename");
	ok(spool_record_is_ours(spool, &id), "the one that was reserved is");
	spool_remove(spool, &id, NULL);
}

static void identity(void)
{
	struct task_id a = { 1, 2, 3 };
	struct task_spec spec = spec_of(&a);
	struct task_id b = task_spec_id(&spec);

	ok(task_id_equal(&a, &b), "a spec names its task");
	ok(!task_id_equal(&a, &(struct task_id){ 2, 2, 3 }) &&
		   !task_id_equal(&a, &(struct task_id){ 1, 1, 3 }) &&
		   !task_id_equal(&a, &(struct task_id){ 1, 2, 4 }),
	   "job, attempt and rank all count");
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(60);
	snprintf(state, sizeof(state), "/tmp/regatta-spool-XXXXXX");
	if (!mkdtemp(state))
		return 1;
	one_agent();
	making();
	start_file();
	specs_that_are_none();
	hostile_output();
	what_is_left();
	usage();
	reserved_record();
	identity();
	is_int(file_remove_tree(AT_FDCWD, state, &err), 0,
	       "the folder of the test is removed");
	return tap_done();
}
