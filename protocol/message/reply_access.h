/* reply_access.h - replies about keys, tokens, the audit log and retention.
 *
 * Times are milliseconds of the controller's wall clock, 0: not yet.
 */
#pragma once

#include "protocol/message/codec.h"

/* A key that may connect, or was revoked. */
struct key_info {
	char *name;
	char *role;
	char *public;
	char *by; /* who admitted it, or "keys file" */
	int64_t since_ms;
	int64_t revoked_ms;
	char *machine;    /* the only one it may connect from; NULL: any */
	char *network;    /* the only one it may connect from; NULL: any */
	int64_t until_ms; /* valid until then; 0: without end */
};
extern const struct schema key_info_schema;

struct reply_keys {
	uint64_t since;
	struct key_info *keys;
	size_t keys_count;
	bool more; /* ask again, with `after` as the number of rows so far */
};

struct token_info {
	char *name;
	char *role;     /* that the enrolled key gets */
	char *for_name; /* "for": name that it gets; NULL: any */
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
	bool more; /* as in reply_keys */
};

/* A request to the controller, as its audit log has it. */
struct audit_info {
	uint64_t seq;
	int64_t time_ms;
	char *who;
	char *role;
	char *address;
	char *act;      /* name of the message */
	cJSON *request; /* its fields; {}: too long to be kept */
	char *refusal;  /* why it was refused; NULL: it was carried out */
	char *chain;    /* hash of this row and of the chain before it; NULL: a
			 * version without a chain wrote the row */
};
extern const struct schema audit_info_schema;

/* A login address, good for one browser, once. */
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
	char *token; /* its name */
	int64_t until_ms;
	char *listens; /* the controller's endpoint */
};

/* Of admit and enrol: the name and the role of the key. */
struct reply_admit {
	uint64_t since;
	char *name;
	char *role;
};

struct reply_rotate {
	uint64_t since;
	char *name;
	char *role;
	int64_t old_until_ms; /* the old key is valid until then */
	int64_t until_ms;     /* and the new one; 0: without end */
};

struct reply_rotate_controller {
	uint64_t since;
	char *public;    /* the next key */
	int64_t from_ms; /* when it becomes valid */
};

struct reply_revoke {
	uint64_t since;
	uint32_t revoked; /* keys */
	bool reached;     /* false: a node that is not connected; it runs on */
};

struct reply_backup {
	uint64_t since;
	bool ready;     /* false: ask again */
	uint64_t bytes; /* of the whole backup; the payload is a part of it */
};

struct reply_gc {
	uint64_t since;
	uint64_t jobs;  /* whose output was removed */
	uint64_t bytes; /* that were removed */
	uint64_t after; /* `after` of the next request */
	bool more;      /* ask again */
};

/* A signed manifest (controller/access/statement.h). */
struct reply_sign {
	uint64_t since;
	uint64_t sweep;
	char *by;        /* who asked */
	int64_t at_ms;   /* when */
	char *manifest;  /* its SHA-256 */
	char *signer;    /* public Ed25519 key, hexadecimal */
	char *signature; /* the same */
};

extern const struct schema reply_keys_schema, reply_tokens_schema,
	reply_audit_schema, reply_web_schema, reply_token_schema,
	reply_admit_schema, reply_rotate_schema, reply_rotate_controller_schema,
	reply_revoke_schema, reply_backup_schema, reply_gc_schema,
	reply_sign_schema;
