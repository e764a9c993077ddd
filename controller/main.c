/* main.c - regatta-controller: settings to configuration, then the loop.
 */
#include "controller/controller.h"
#include "controller/store/backup.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/parent_watch.h"
#include "protocol/base/program.h"
#include "protocol/config/controller.h"
#include "protocol/wire/unread.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* Kept of freed memory. A turn of the loop uses some hundred KiB, and to get
 * them anew from the kernel each time costs more than all else of a short job.
 */
#define KEPT_BYTES (16 << 20)
#define MAPPED_BYTES (1 << 20) /* from so many on, a block goes back */

struct start {
	int argc;
	char **argv;
	struct controller_settings settings;
	char endpoint[256]; /* of the previous controller_new(); "": none */
};

static int main_complete_config(const struct controller_settings *settings,
				struct controller_config *config,
				struct error *err)
{
	if (!settings->key || !settings->keys)
		return error_set(err, EINVAL,
				 "missing key or keys (expected as options or "
				 "in %s); see regatta-controller --help",
				 settings->common.config
					 ? settings->common.config
					 : controller_program.file);
	if (key_load(&config->key, settings->key, err) < 0)
		return -1;
	if (config->key.role != ROLE_CONTROLLER)
		return error_set(err, EINVAL,
				 "%s: role %s is not valid here; expected a "
				 "key of role controller",
				 settings->key, role_name(config->key.role));
	config->keys = settings->keys;
	config->listen = settings->listen;
	config->state = settings->state;
	config->images = settings->images;
	config->node_lost_ms = settings->node_lost * 1000;
	config->pods = settings->pods;
	config->web = (struct http_config){
		.address = settings->web,
		.certificate = settings->web_certificate,
		.key = settings->web_key,
		.name = settings->web_name,
		.loopback_only = true,
	};
	config->keep = (struct keep){
		.logs_bytes = settings->logs,
		.free_bytes = settings->disk_free,
		.audit_rows = settings->audit_rows,
		.audit_days = settings->audit_days,
		.sweep_days = settings->sweep_days,
	};
	return 0;
}

static void main_drain(void *arg)
{
	controller_drain(arg);
}

static void end_loop(void *arg)
{
	sd_event_exit(arg, EXIT_GOOD);
}

static int main_write_endpoint(const char *file,
			       const struct controller *controller,
			       struct error *err)
{
	const char *endpoint = controller_endpoint(controller);

	if (!file)
		return 0;
	return file_write(AT_FDCWD, file, endpoint, strlen(endpoint), 0644, 0,
			  err);
}

/* At SIGHUP: read the settings again; some take effect at once. */
static void main_reload_settings(void *arg)
{
	const struct start *start = arg;
	struct controller_settings settings;
	char names[CONFIG_NAMES_BYTES];
	owned(config_free) struct config *config = NULL;
	struct error err;

	if (config_read(&controller_program, start->argc, start->argv, environ,
			&settings, &config, &err) < 0) {
		log_error("settings are not changed: %s", err.text);
		return;
	}
	log_set_level(settings.common.verbose ? LOG_DEBUG : LOG_INFO);
	if (config_changes(&controller_program, &start->settings, &settings,
			   names))
		log_warning("changed, effective at the next start: %s", names);
	log_info("settings read again");
}

static int main_serve(struct start *start, sd_event *loop, struct error *err)
{
	const struct controller_settings *settings = &start->settings;
	struct controller_config config = { 0 };
	owned(controller_free) struct controller *controller = NULL;
	uint64_t parent_fd = settings->common.parent_fd;
	size_t files = program_files();
	int code;

	if (main_complete_config(settings, &config, err) < 0)
		return -1;
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	/* Peers know the previous port. */
	if (start->endpoint[0])
		config.listen = start->endpoint;
	controller = controller_new(loop, &config, err);
	if (!controller ||
	    main_write_endpoint(settings->endpoint_file, controller, err) < 0 ||
	    (parent_fd &&
	     parent_watch_start(loop, (int)parent_fd,
				settings->keep_jobs ? end_loop : main_drain,
				settings->keep_jobs ? (void *)loop
						    : (void *)controller,
				err) < 0) ||
	    program_on_reload(loop, main_reload_settings, start, err) < 0)
		return -1;
	log_info("listening at %s", controller_endpoint(controller));
	log_info("the limit of %zu open files allows about %zu connections",
		 files,
		 files > UNREAD_DESCRIPTORS_LEFT
			 ? files - UNREAD_DESCRIPTORS_LEFT
			 : 0);
	program_ready(loop);
	code = sd_event_loop(loop);
	if (code < 0)
		return error_set(err, -code, "event loop");
	if (code == CONTROLLER_AGAIN) {
		snprintf(start->endpoint, sizeof(start->endpoint), "%s",
			 controller_endpoint(controller));
		log_info("the controller's key changes; all clients reconnect");
		return code;
	}
	log_info("controller stops; the next one continues with jobs=%zu",
		 controller_jobs(controller));
	return code;
}

/* `backup FILE` and `restore FILE`, with the daemon's own options behind. */
static int run_backup(struct start *start, struct error *err)
{
	struct controller_settings *settings = &start->settings;
	owned(config_free) struct config *config = NULL;
	const char *word = start->argv[1], *file = start->argv[2];
	bool restore = !strcmp(word, "restore");

	if (start->argc < 3 || file[0] == '-')
		return error_set(err, EINVAL, "%s: missing argument FILE",
				 word);
	start->argv[2] = start->argv[0];
	if (config_read(&controller_program, start->argc - 2, start->argv + 2,
			environ, settings, &config, err) < 0)
		return -1;
	if (restore ? backup_restore(file, settings->state, err) < 0
		    : backup_write(settings->state, file, err) < 0)
		return error_prefix(err, "%s", word);
	log_info("%s %s: %s", settings->state, restore ? "from" : "to", file);
	return EXIT_GOOD;
}

static int main_run_program(struct start *start, struct error *err)
{
	const struct config_common *common = &start->settings.common;
	owned(config_free) struct config *config = NULL;
	int code;

	if (config_read(&controller_program, start->argc, start->argv, environ,
			&start->settings, &config, err) < 0)
		return -1;
	if (common->help) {
		config_help(&controller_program, stdout);
		return EXIT_GOOD;
	}
	if (common->version) {
		puts("regatta-controller " REGATTA_VERSION);
		return EXIT_GOOD;
	}
	if (common->verbose)
		log_set_level(LOG_DEBUG);
	do {
		sd_event *loop = program_begin(err);

		code = loop ? main_serve(start, loop, err) : -1;
		sd_event_unref(loop);
	} while (code == CONTROLLER_AGAIN);
	return code;
}

int main(int argc, char **argv)
{
	struct start start = { .argc = argc, .argv = argv };
	struct error err = { 0 };
	int code = -1;

	/* There is one thread, and the memory counters of SQLite are not read:
	 * without locks and counters a job takes a tenth less time. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sodium_init() < 0)
		error_set(&err, EIO, "libsodium cannot be started");
	else if (argc > 1 &&
		 (!strcmp(argv[1], "backup") || !strcmp(argv[1], "restore")))
		code = run_backup(&start, &err);
	else
		code = main_run_program(&start, &err);
	if (code < 0) {
		fprintf(stderr, "regatta-controller: %s\n", err.text);
		return program_exit_code(&err);
	}
	return code;
}
