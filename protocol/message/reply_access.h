/* reply_access.h - replies about keys, tokens, the audit log and retention.
 *
 * Times are milliseconds of the controller's wall clock, 0: not yet.
 */
#ifndef PROTOCOL_MESSAGE_REPLY_ACCESS_H
#define PROTOCOL_MESSAGE_REPLY_ACCESS_H

#include "protocol/message/codec.h"

/* Who may connect, or might. */
struct key_info {
	char *name;
	char *role;
	char *public;
	char *by; /* who let it in, or "keys file" */
	int64_t since_ms;
	int64_t revoked_ms;
	char *machine;    /* the only one that it may come from; NULL: any */
	char *network;    /* the same */
	int64_t until_ms; /* it holds until then; 0: without end */
};
extern const struct schema key_info_schema;

struct reply_keys {
	uint64_t since;
	struct key_info *keys;
	size_t keys_count;
	bool more; /* ask again, after so many */
};

struct token_info {
	char *name;
	char *role;     /* what it makes of who enrols */
	char *for_name; /* "for": whom; NULL: anybody */
	uint32_t uses;  /* that are left */
	int64_t until_ms;
	char *by;
	int64_t since_ms;
	bool renew; /* the present key of that name is revoked then */
	char *from; /* network that it may be used from; NULL: any */
};
extern const struct schema token_info_schema;

struct reply_tokens {
	uint64_t since;
	struct token_info *tokens;
	size_t tokens_count;
	bool more; /* ask again, after so many */
};

/* What somebody asked the controller to do. */
struct audit_info {
	uint64_t seq;
	int64_t time_ms;
	char *who;
	char *role;
	char *address;
	char *act;      /* name of the message */
	cJSON *request; /* its fields; {}: too long to be kept */
	char *refusal;  /* why it was refused; NULL: it was done */
	char *chain;    /* hash of the row and of the chain before it; NULL: it
			 * was written by a version without a chain */
};
extern const struct schema audit_info_schema;

/* It lets one browser in, once. */
struct reply_web {
	uint64_t since;
	char *address; /* "http://127.0.0.1:7118/login?ticket=..." */
};

struct reply_audit {
	uint64_t since;
	struct audit_info *audit; /* by seq */
	size_t audit_count;
	bool more;
};

struct reply_token {
	uint64_t since;
	char *token; /* how it is called */
	int64_t until_ms;
	char *listens; /* the endpoint where the controller does */
};

/* As what the key may connect from now on: of admit and of enrol. */
struct reply_admit {
	uint64_t since;
	char *name;
	char *role;
};

struct reply_rotate {
	uint64_t since;
	char *name;
	char *role;
	int64_t old_until_ms; /* the key before is good until then */
	int64_t until_ms;     /* and the new one; 0: without end */
};

struct reply_rotate_controller {
	uint64_t since;
	char *public;    /* the next key */
	int64_t from_ms; /* when it counts */
};

struct reply_revoke {
	uint64_t since;
	uint32_t revoked; /* keys */
	bool reached;     /* false: a node that could not be told to end */
};

struct reply_backup {
	uint64_t since;
	bool ready;     /* else ask again */
	uint64_t bytes; /* of all; those from the offset on are the payload */
};

struct reply_gc {
	uint64_t since;
	uint64_t jobs;  /* whose output was removed */
	uint64_t bytes; /* that are gone */
	uint64_t after; /* go on from there */
	bool more;
};

extern const struct schema reply_keys_schema, reply_tokens_schema,
	reply_audit_schema, reply_web_schema, reply_token_schema,
	reply_admit_schema, reply_rotate_schema, reply_rotate_controller_schema,
	reply_revoke_schema, reply_backup_schema, reply_gc_schema;

#endif
