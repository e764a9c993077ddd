/* gate.h - judges results by --require and by `require` of a sweep.
 *
 * Verdicts are lines of standard error, so that a table or a file on standard
 * output stays what it is:
 *
 *	pass         mfu >= 40%: 8 cells
 *	fail         rate >= 97% of baseline: batch.micro=4: 93.20 % ± 0.41
 *	cannot tell  cv <= 1%: batch.micro=8: a single run has none; 2 runs ...
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/report/about.h"
#include "controller/report/requirement.h"

struct gate {
	struct requirement list[REQUIREMENTS_MAX];
	size_t count;
	const char *junit;  /* the file for JUnit XML; NULL: none */
	const char *notify; /* who is told what does not pass (notify.h) */
};

/* EINVAL: one is no requirement, or --junit has none to write. */
int gate_read(struct gate *gate, const struct option_list *require,
	      const char *junit, struct error *err);

/* Judge the runs by these requirements and by those of their sweep; with the
 * baseline of *about. Prints the verdicts and writes the file. 1: all pass, or
 * there are none; 0: not; -1: an error.
 */
int gate_judge(struct cli *cli, const struct gate *gate,
	       const struct report_about *about, const struct report_rows *runs,
	       struct error *err);

/* The options of commands that judge, of a struct with these members. */
/* clang-format off */
#define OPTIONS_GATE(options) \
	{ OPTION(options, "require", 0, OPTION_LIST, require, "EXPR"), \
	  .help = "exit 1 unless each cell meets it: 'mfu >= 40%', " \
		  "'rate >= 97% of baseline', 'cv <= 1%' (repeatable)" }, \
	{ OPTION(options, "junit", 0, OPTION_TEXT, junit, "FILE"), \
	  .help = "write the verdicts as JUnit XML" }
/* clang-format on */
