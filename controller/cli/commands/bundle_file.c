/* bundle_file.c - reads a sweep from one file. */
#include "controller/cli/commands/bundle_file.h"
#include "controller/access/statement.h"
#include "protocol/base/digest.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"
#include "protocol/blob/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int report_parse(const char *json, size_t size, const char *path,
		 struct report_rows *rows, struct error *err)
{
	owned(cJSON_Delete) cJSON *report = codec_parse(json, size, err);
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(report, "rows");
	const cJSON *row;

	if (!report)
		return error_prefix(err, "%s", path);
	if (!cJSON_IsArray(list))
		return error_set(err, EPROTO,
				 "%s: no rows are in it; expected what "
				 "'regatta "
				 "report --format json' prints",
				 path);
	rows->items = calloc((size_t)cJSON_GetArraySize(list) + 1,
			     sizeof(*rows->items));
	if (!rows->items)
		return error_nomem(err, "report");
	cJSON_ArrayForEach(row, list) {
		if (codec_from_other(&report_row_schema, row,
				     &rows->items[rows->count], err) < 0)
			return error_prefix(err, "%s: row %zu", path,
					    rows->count + 1);
		rows->count++;
	}
	return rows_gather(rows, err);
}

#define PIECE (64 << 10)

/* clang-format off */
static const struct schema bundle_file_schema = SCHEMA(bundle_file,
	FIELD(bundle_file, path),
	FIELD(bundle_file, bytes),
	FIELD(bundle_file, sha256));

const struct schema bundle_manifest_schema = SCHEMA(bundle_manifest,
	FIELD(bundle_manifest, version),
	FIELD(bundle_manifest, regatta),
	FIELD(bundle_manifest, sweep),
	FIELD(bundle_manifest, name),
	FIELD(bundle_manifest, client),
	FIELD(bundle_manifest, submitted_ms),
	FIELD_MANY(bundle_manifest, files, bundle_file_schema));
/* clang-format on */

/* What is kept of the files in it. */
enum bundle_part { PART_REPORT, PART_MANIFEST, PART_SIGNATURE, PARTS };

static const char *const part_names[PARTS] = { "report.json", "manifest.json",
					       "signature.json" };

struct bundle_reader {
	struct archive *in;
	const char *logs;
	struct buffer parts[PARTS];
	struct bundle_file *files; /* up to the manifest */
	size_t count;
	uint64_t bytes;
	char manifest[DIGEST_HEX_SIZE]; /* "": it has not come */
	bool signed_;                   /* the last one has come */
	unsigned char piece[PIECE];
};

static void bundle_reader_clear(struct bundle_reader *reader)
{
	archive_read_free(reader->in);
	for (size_t i = 0; i < PARTS; i++)
		buffer_clear(&reader->parts[i]);
	for (size_t i = 0; i < reader->count; i++)
		codec_clear(&bundle_file_schema, &reader->files[i]);
	free(reader->files);
}
OWNED_VALUE(struct bundle_reader, bundle_reader_clear)

void bundle_clear(struct bundle *bundle)
{
	codec_clear(&bundle_manifest_schema, &bundle->manifest);
	codec_clear(&reply_sign_schema, &bundle->signature);
	report_rows_clear(&bundle->rows);
}

static int bundle_broken(const struct bundle_reader *reader, struct error *err)
{
	const char *why = archive_error_string(reader->in);

	return error_set(err, EINVAL, "no bundle, or a damaged one: %s",
			 why ? why : "unexpected end");
}

static struct bundle_file *reader_add(struct bundle_reader *reader,
				      const char *path, struct error *err)
{
	struct bundle_file *file;

	if (reader->count == BUNDLE_FILES_MAX)
		return error_null(error_set(err, E2BIG,
					    "more than %d files; a bundle has "
					    "at most so many",
					    BUNDLE_FILES_MAX));
	file = LIST_ADD(reader->files, reader->count, err);
	return file && string_set(&file->path, path, err) == 0 ? file : NULL;
}

static int reader_open_log(const struct bundle_reader *reader, const char *path,
			   struct error *err)
{
	char to[PATH_MAX], folder[PATH_MAX];
	int fd;

	if (!reader->logs || strncmp(path, "logs/", 5) != 0)
		return -2;
	if (file_path(to, err, "%s/%s", reader->logs, path) < 0 ||
	    file_path(folder, err, "%.*s", (int)(strrchr(to, '/') - to), to) <
		    0 ||
	    file_make_folders(folder, 0700, err) < 0)
		return -1;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	return fd < 0 ? error_errno(err, "%.120s", path) : fd;
}

/* Check, keep and write what is in an entry. */
static int reader_take(struct bundle_reader *reader, const char *path,
		       struct buffer *keep, uint64_t *bytes,
		       char hex[DIGEST_HEX_SIZE], struct error *err)
{
	owned_fd int fd = reader_open_log(reader, path, err);
	struct digest digest;
	la_ssize_t got;

	if (fd == -1)
		return -1;
	digest_init(&digest);
	while ((got = archive_read_data(reader->in, reader->piece, PIECE)) >
	       0) {
		*bytes += (uint64_t)got;
		reader->bytes += (uint64_t)got;
		if (unpack_check(reader->in, &unpack_tar_bounds, reader->bytes,
				 err) < 0)
			return -1;
		digest_add(&digest, reader->piece, (size_t)got);
		if ((keep && buffer_append(keep, reader->piece, (size_t)got,
					   err) < 0) ||
		    (fd >= 0 && file_write_all(fd, path, reader->piece,
					       (size_t)got, err) < 0))
			return error_prefix(err, "%.120s", path);
	}
	if (got < 0)
		return bundle_broken(reader, err);
	digest_hex(&digest, hex);
	return 0;
}

static int reader_take_file(struct bundle_reader *reader, const char *path,
			    struct error *err)
{
	struct bundle_file *file = reader_add(reader, path, err);
	char hex[DIGEST_HEX_SIZE];

	if (!file || reader_take(reader, path,
				 strcmp(path, part_names[PART_REPORT])
					 ? NULL
					 : &reader->parts[PART_REPORT],
				 &file->bytes, hex, err) < 0)
		return -1;
	return string_set(&file->sha256, hex, err);
}

/* The manifest ends the list, and the signature the file. */
static int reader_take_entry(struct bundle_reader *reader,
			     struct archive_entry *entry, struct error *err)
{
	const char *path = archive_entry_pathname(entry);
	char clean[PATH_MAX], hex[DIGEST_HEX_SIZE];
	uint64_t bytes = 0;

	if (!path || !unpack_path(path, clean) || strcmp(path, clean) != 0 ||
	    !*path || archive_entry_filetype(entry) != AE_IFREG ||
	    archive_entry_hardlink(entry))
		return error_set(err, EINVAL,
				 "'%.80s' is not valid in a bundle; expected "
				 "regular files",
				 path ? path : "");
	if (reader->signed_)
		return error_set(err, EINVAL,
				 "'%.80s' comes after the signature", path);
	if (*reader->manifest) {
		reader->signed_ = true;
		return strcmp(path, part_names[PART_SIGNATURE])
			       ? error_set(err, EINVAL,
					   "'%.80s' comes after the manifest",
					   path)
			       : reader_take(reader, path,
					     &reader->parts[PART_SIGNATURE],
					     &bytes, hex, err);
	}
	if (!strcmp(path, part_names[PART_MANIFEST]))
		return reader_take(reader, path, &reader->parts[PART_MANIFEST],
				   &bytes, reader->manifest, err);
	return reader_take_file(reader, path, err);
}

static int reader_take_all(struct bundle_reader *reader, const char *path,
			   struct error *err)
{
	struct archive_entry *entry;
	int rc;

	reader->in = archive_read_new();
	if (!reader->in)
		return error_nomem(err, "bundle");
	archive_read_append_filter(reader->in, ARCHIVE_FILTER_ZSTD);
	archive_read_support_format_tar(reader->in);
	if (archive_read_open_filename(reader->in, path, PIECE) != ARCHIVE_OK)
		return bundle_broken(reader, err);
	while ((rc = archive_read_next_header(reader->in, &entry)) ==
	       ARCHIVE_OK)
		if (reader_take_entry(reader, entry, err) < 0)
			return -1;
	if (rc != ARCHIVE_EOF)
		return bundle_broken(reader, err);
	return reader->signed_ ? 0
			       : error_set(err, EINVAL,
					   "no bundle, or a cut one: it has no "
					   "manifest.json or no "
					   "signature.json at its end");
}

/* Read JSON of another version, too. */
static int bundle_decode(const struct schema *schema, const struct buffer *text,
			 const char *name, void *to, struct error *err)
{
	owned(cJSON_Delete) cJSON *json =
		codec_parse(text->data ? text->data : "", text->size, err);

	if (json && codec_from_other(schema, json, to, err) == 0)
		return 0;
	error_prefix(err, "%s", name);
	if (err && err->code == EPROTO)
		err->code = EINVAL;
	return -1;
}

static int check_manifest(const struct bundle_reader *reader,
			  const struct bundle_manifest *manifest,
			  struct error *err)
{
	if (manifest->version > BUNDLE_VERSION)
		return error_set(err, EINVAL,
				 "a bundle of version %u, by Regatta %.20s; "
				 "this one reads versions up to %d",
				 manifest->version, manifest->regatta,
				 BUNDLE_VERSION);
	for (size_t i = 0; i < reader->count; i++) {
		const struct bundle_file *is = &reader->files[i];
		const struct bundle_file *said = &manifest->files[i];

		if (i == manifest->files_count || strcmp(is->path, said->path))
			return error_set(err, EINVAL,
					 "%.80s is not in the manifest there",
					 is->path);
		if (is->bytes != said->bytes ||
		    strcmp(is->sha256, said->sha256))
			return error_set(err, EINVAL,
					 "%.80s was changed: its hash is not "
					 "that of the manifest",
					 is->path);
	}
	return reader->count == manifest->files_count
		       ? 0
		       : error_set(err, EINVAL, "%.80s is missing",
				   manifest->files[reader->count].path);
}

static int check_signature(const struct bundle_reader *reader,
			   const struct bundle *bundle, struct error *err)
{
	const struct reply_sign *signature = &bundle->signature;

	if (strcmp(signature->manifest, reader->manifest) != 0 ||
	    signature->sweep != bundle->manifest.sweep)
		return error_set(err, EINVAL,
				 "the signature is of another manifest");
	return statement_holds(signature)
		       ? 0
		       : error_set(err, EINVAL, "the signature is wrong");
}

static int bundle_take(struct bundle_reader *reader, const char *path,
		       struct bundle *bundle, struct error *err)
{
	const struct buffer *report = &reader->parts[PART_REPORT];

	if (reader_take_all(reader, path, err) < 0 ||
	    bundle_decode(&bundle_manifest_schema,
			  &reader->parts[PART_MANIFEST], "manifest.json",
			  &bundle->manifest, err) < 0 ||
	    bundle_decode(&reply_sign_schema, &reader->parts[PART_SIGNATURE],
			  "signature.json", &bundle->signature, err) < 0 ||
	    check_manifest(reader, &bundle->manifest, err) < 0 ||
	    check_signature(reader, bundle, err) < 0)
		return -1;
	return report_parse(report->data ? report->data : "", report->size,
			    "report.json", &bundle->rows, err);
}

int bundle_read(const char *path, const char *logs, struct bundle *bundle,
		struct error *err)
{
	owned(bundle_reader_clear) struct bundle_reader reader = {
		.logs = logs
	};

	*bundle = (struct bundle){ 0 };
	for (size_t i = 0; i < PARTS; i++)
		buffer_init(&reader.parts[i], BUNDLE_JSON_MAX);
	if (bundle_take(&reader, path, bundle, err) == 0)
		return 0;
	bundle_clear(bundle);
	return error_prefix(err, "%.120s", path);
}

struct report_about bundle_about(const struct bundle *bundle)
{
	const struct bundle_manifest *manifest = &bundle->manifest;

	return (struct report_about){
		.title = manifest->name,
		.sweep = manifest->sweep,
		.name = manifest->name,
		.client = manifest->client,
		.submitted_ms = manifest->submitted_ms,
	};
}

int bundle_log_path(uint64_t job, uint32_t attempt, const char *stream,
		    char path[PATH_MAX], struct error *err)
{
	if (!*stream || strchr(stream, '/') || *stream == '.')
		return error_set(err, EINVAL,
				 "'%.60s' is not valid here; expected the name "
				 "of a stream",
				 stream);
	return file_path(path, err, "logs/%" PRIu64 "/%" PRIu32 "/%s", job,
			 attempt, stream);
}
