/* distribution_tree.c - decides which node gets a blob from which other
 * node.
 */
#include "controller/blobs/distribution_tree.h"

#include "protocol/blob/blob_store.h"
#include "protocol/wire/key.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct member {
	char node[KEY_NAME_SIZE];
	struct member *source; /* NULL: the controller, or none */
	char failed[DISTRIBUTION_TREE_FAILED_MAX][KEY_NAME_SIZE];
	unsigned int failed_count;
	unsigned int children; /* members that it sends to */
	unsigned int strikes;  /* members that reported it as failed */
	uint64_t length;
	bool asking; /* it is receiving the blob */
	bool orphan; /* its source is gone; it will ask again */
	TAILQ_ENTRY(member) next;
};

struct spread {
	char hash[BLOB_HASH_SIZE];
	uint64_t bytes;
	TAILQ_HEAD(, member) members;
	TAILQ_ENTRY(spread) next;
};

struct distribution_tree {
	TAILQ_HEAD(spreads, spread) spreads; /* least recently used first */
	size_t count;
};

struct distribution_tree *distribution_tree_new(struct error *err)
{
	struct distribution_tree *distribution =
		calloc(1, sizeof(*distribution));

	if (distribution)
		TAILQ_INIT(&distribution->spreads);
	else
		error_nomem(err, "blobs");
	return distribution;
}

static void spread_forget(struct distribution_tree *distribution,
			  struct spread *spread)
{
	struct member *member;

	while ((member = TAILQ_FIRST(&spread->members))) {
		TAILQ_REMOVE(&spread->members, member, next);
		free(member);
	}
	TAILQ_REMOVE(&distribution->spreads, spread, next);
	distribution->count--;
	free(spread);
}

void distribution_tree_free(struct distribution_tree *distribution)
{
	if (!distribution)
		return;
	while (!TAILQ_EMPTY(&distribution->spreads))
		spread_forget(distribution,
			      TAILQ_FIRST(&distribution->spreads));
	free(distribution);
}

static struct spread *spread_get(struct distribution_tree *distribution,
				 const char *hash, uint64_t bytes,
				 struct error *err)
{
	struct spread *spread;

	TAILQ_FOREACH(spread, &distribution->spreads, next)
		if (!strcmp(spread->hash, hash))
			break;
	if (spread) {
		TAILQ_REMOVE(&distribution->spreads, spread, next);
		TAILQ_INSERT_TAIL(&distribution->spreads, spread, next);
		return spread;
	}
	spread = calloc(1, sizeof(*spread));
	if (!spread)
		return error_null(error_nomem(err, "blobs"));
	if (distribution->count == DISTRIBUTION_TREE_BLOBS_MAX)
		spread_forget(distribution,
			      TAILQ_FIRST(&distribution->spreads));
	memcpy(spread->hash, hash, sizeof(spread->hash));
	spread->bytes = bytes;
	TAILQ_INIT(&spread->members);
	TAILQ_INSERT_TAIL(&distribution->spreads, spread, next);
	distribution->count++;
	return spread;
}

static struct member *member_named(const struct spread *spread,
				   const char *node)
{
	struct member *member;

	TAILQ_FOREACH(member, &spread->members, next)
		if (!strcmp(member->node, node))
			return member;
	return NULL;
}

static void set_source(struct member *member, struct member *source)
{
	if (member->source)
		member->source->children--;
	if (source)
		source->children++;
	member->source = source;
	member->orphan = false;
}

static void set_length(const struct spread *spread, struct member *member,
		       uint64_t length)
{
	member->length = length;
	if (length != spread->bytes)
		return;
	member->asking = false;
	set_source(member, NULL);
}

static struct member *member_of(struct spread *spread, const char *node,
				uint64_t length, struct error *err)
{
	struct member *member = member_named(spread, node);

	if (!member) {
		member = calloc(1, sizeof(*member));
		if (!member)
			return error_null(error_nomem(err, "blobs"));
		strncpy(member->node, node, sizeof(member->node) - 1);
		TAILQ_INSERT_TAIL(&spread->members, member, next);
	}
	set_length(spread, member, length);
	return member;
}

static bool has_failed(const struct member *member, const char *node)
{
	for (unsigned int i = 0; i < member->failed_count; i++)
		if (!strcmp(member->failed[i], node))
			return true;
	return false;
}

/* Does `other` receive its bytes through the node, or from no source? */
static bool fed_by(const struct member *other, const struct member *node)
{
	for (; other; other = other->source)
		if (other == node || other->orphan)
			return true;
	return false;
}

static bool may_give(const struct spread *spread,
		     const struct member *chunk_sender, const struct member *to)
{
	bool whole = chunk_sender->length == spread->bytes;

	return chunk_sender->length >= to->length &&
	       (whole || chunk_sender->asking) &&
	       chunk_sender->children < (whole ? 2 : 1) &&
	       !has_failed(to, chunk_sender->node) && !fed_by(chunk_sender, to);
}

static struct member *spread_choose_giver(const struct spread *spread,
					  const struct member *to)
{
	struct member *member, *best = NULL;

	if (to->failed_count == DISTRIBUTION_TREE_FAILED_MAX)
		return NULL;
	TAILQ_FOREACH(member, &spread->members, next)
		if (may_give(spread, member, to) &&
		    (!best || member->length > best->length))
			best = member;
	return best;
}

int distribution_tree_has(struct distribution_tree *distribution,
			  const char *hash, uint64_t bytes, const char *node,
			  uint64_t length, struct error *err)
{
	struct spread *spread = spread_get(distribution, hash, bytes, err);

	return spread && member_of(spread, node, length, err) ? 0 : -1;
}

static void remove_member(struct spread *spread, struct member *gone)
{
	struct member *member;

	TAILQ_FOREACH(member, &spread->members, next) {
		if (member->source != gone)
			continue;
		set_source(member, NULL);
		member->orphan = true;
	}
	set_source(gone, NULL);
	TAILQ_REMOVE(&spread->members, gone, next);
	free(gone);
}

/* A source failed for the member. A source that waits for bytes itself is not
 * to blame: another place behind it would wait as long. A source that has the
 * whole blob, and fails for two members, may have lost it.
 */
static void note_failure(struct spread *spread, struct member *member,
			 const char *failed)
{
	struct member *source = member_named(spread, failed);

	if (member->failed_count == DISTRIBUTION_TREE_FAILED_MAX ||
	    has_failed(member, failed) || source == member ||
	    (source && source->asking && source->length <= member->length))
		return;
	strncpy(member->failed[member->failed_count++], failed,
		KEY_NAME_SIZE - 1);
	if (source && ++source->strikes >= 2 && !source->asking)
		remove_member(spread, source);
}

int distribution_tree_source(struct distribution_tree *distribution,
			     const char *hash, uint64_t bytes, const char *node,
			     uint64_t length, const char *failed,
			     const char **source, struct error *err)
{
	struct spread *spread = spread_get(distribution, hash, bytes, err);
	struct member *member =
		spread ? member_of(spread, node, length, err) : NULL;
	struct member *best;

	if (!member)
		return -1;
	if (failed && *failed)
		note_failure(spread, member, failed);
	set_source(member, NULL); /* its old source may serve it again */
	best = spread_choose_giver(spread, member);
	set_source(member, best);
	member->asking = length < spread->bytes;
	*source = best ? best->node : NULL;
	return 0;
}

void distribution_tree_gone(struct distribution_tree *distribution,
			    const char *node)
{
	struct spread *spread;

	TAILQ_FOREACH(spread, &distribution->spreads, next) {
		struct member *member = member_named(spread, node);

		if (member)
			remove_member(spread, member);
	}
}
