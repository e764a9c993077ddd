/* container_name.c - names of containers, and the labels that find them.
 */
#include "protocol/hardware/container.h"

#include <ctype.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define CLUSTER_MAX 60 /* bytes of the cluster's name in a container's */

void container_name(const struct task_spec *spec, const char *cluster,
		    char name[CONTAINER_NAME_MAX])
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char safe[CLUSTER_MAX + 1];
	char mark[16] = "";
	size_t size = strlen(cluster);
	bool exact = size <= CLUSTER_MAX;

	snprintf(safe, sizeof(safe), "%s", cluster);
	for (char *c = safe; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("_.-", *c))
			continue;
		*c = '-';
		exact = false;
	}
	if (!exact) {
		crypto_hash_sha256(digest, (const unsigned char *)cluster,
				   size);
		snprintf(mark, sizeof(mark), "-%02x%02x%02x%02x", digest[0],
			 digest[1], digest[2], digest[3]);
	}
	snprintf(name, CONTAINER_NAME_MAX, "regatta-%s%s-%" PRIu64 "-%u-%u",
		 safe, mark, spec->job, spec->attempt, spec->rank);
}

int container_spec_hash(const struct task_spec *spec,
			char hash[CONTAINER_HASH_SIZE], struct error *err)
{
	owned(buffer_clear) struct buffer text;
	unsigned char digest[crypto_hash_sha256_BYTES];

	buffer_init(&text, SIZE_MAX / 2);
	if (codec_encode(&task_spec_schema, spec, &text, err) < 0)
		return -1;
	crypto_hash_sha256(digest, (const unsigned char *)text.data, text.size);
	sodium_bin2hex(hash, CONTAINER_HASH_SIZE, digest, sizeof(digest));
	return 0;
}

int container_filter(const char *cluster, const char *node,
		     struct strings *labels, struct error *err)
{
	struct strings both = { 0 };

	if (strings_printf(&both, err, LABEL_CLUSTER "=%s", cluster) < 0 ||
	    strings_printf(&both, err, LABEL_NODE "=%s", node) < 0) {
		strings_clear(&both);
		return -1;
	}
	*labels = both;
	return 0;
}
