/* bundle_file.h - a sweep as one file, for readers without its controller.
 *
 * A tar file, compressed by zstd, of these regular files in this order:
 *
 *	sweep.yaml	the text of the sweep file
 *	report.json, report.csv, report.md, report.html
 *			report.json: the rows with their curves, and with the
 *			digests of the images in their provenance
 *	logs/JOB/ATTEMPT/STREAM
 *			output of ranks, followed files, samples
 *	files/JOB/NODE/INDEX-NAME.tar
 *			a collected path of this last name, if it was asked for
 *	manifest.json	struct bundle_manifest: what is before it
 *	signature.json	struct reply_sign: the controller's statement about the
 *			manifest (controller/access/statement.h)
 */
#pragma once

#include "controller/report/about.h"
#include "controller/report/row.h"
#include "protocol/message/reply_access.h"

#include <limits.h>

/* The rows of the JSON of a report (report.h); path is for errors. EPROTO: it
 * has none, or they are not valid. The caller clears *rows, also then.
 */
int report_parse(const char *json, size_t size, const char *path,
		 struct report_rows *rows, struct error *err);

#define BUNDLE_VERSION 1
#define BUNDLE_FILES_MAX 200000
#define BUNDLE_JSON_MAX ((size_t)256 << 20) /* bytes of one of its texts */

struct bundle_file {
	char *path;
	uint64_t bytes;
	char *sha256;
};

struct bundle_manifest {
	uint32_t version;
	char *regatta;  /* the version that wrote it */
	uint64_t sweep; /* its number, name and submitter, and when */
	char *name;
	char *client;
	int64_t submitted_ms;
	struct bundle_file *files;
	size_t files_count;
};
extern const struct schema bundle_manifest_schema;

struct bundle {
	struct bundle_manifest manifest;
	struct reply_sign signature; /* it holds */
	struct report_rows rows;
};
void bundle_clear(struct bundle *bundle);
OWNED_VALUE(struct bundle, bundle_clear)

/* Read a file of any origin: every hash, the signature and the order of the
 * files are checked before anything is returned. logs: a private, empty folder
 * that gets the files of logs/; NULL: they are only checked. EINVAL: it is no
 * such file, and the text says why; E2BIG: past a limit; ENOSPC.
 */
int bundle_read(const char *path, const char *logs, struct bundle *bundle,
		struct error *err);

/* What a report shows beside the rows; borrows from the bundle. */
struct report_about bundle_about(const struct bundle *bundle);

/* The path of a stream in the file: "logs/17/1/rank-0". EINVAL: the name of the
 * stream is not valid.
 */
int bundle_log_path(uint64_t job, uint32_t attempt, const char *stream,
		    char path[PATH_MAX], struct error *err);
