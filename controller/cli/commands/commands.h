/* commands.h - the commands of regatta, as cli.h says what a command is.
 */
#ifndef CONTROLLER_CLI_COMMANDS_COMMANDS_H
#define CONTROLLER_CLI_COMMANDS_COMMANDS_H

#include "controller/cli/cli.h"

typedef int command_fn(struct cli *cli, struct error *err);

command_fn command_run;    /* run.c */
command_fn command_plan;   /* ../plan/plan.c */
command_fn command_submit; /* submit.c: a sweep goes to the controller */
command_fn command_cancel;
command_fn command_retry;
command_fn command_sweeps; /* look.c: what there is */
command_fn command_jobs;
command_fn command_nodes;
command_fn command_show;
command_fn command_logs;  /* logs.c */
command_fn command_image; /* image.c: images without a registry */
command_fn command_files; /* files.c: what jobs left behind */
command_fn command_fetch;
command_fn command_report; /* results.c: numbers */
command_fn command_compare;
command_fn command_sample;     /* sample.c: what a monitor tool says */
command_fn command_extract;    /* extract.c: a log's numbers */
command_fn command_verify;     /* verify.c: results against their logs */
command_fn command_mfu;        /* mfu.c: a rate held against a chip */
command_fn command_vendors;    /* vendors.c */
command_fn command_check;      /* check.c: files of settings, policies */
command_fn command_completion; /* completion.c: for shells */
command_fn command_import;     /* import.c: what others configured */
command_fn command_export;     /* export.c: and for what others read */
command_fn command_key;        /* keys.c */
command_fn command_node;       /* node.c: what operators do to nodes */
command_fn command_user;       /* user.c: who may connect */
command_fn command_join;
command_fn command_audit;
command_fn command_backup; /* backup.c */
command_fn command_gc;

#endif
