/* reply_access.c - replies about keys, tokens, the audit log and retention.
 */
#include "protocol/message/reply_access.h"

/* clang-format off */
const struct schema key_info_schema = SCHEMA(key_info,
	FIELD(key_info, name),
	FIELD(key_info, role),
	FIELD(key_info, public),
	FIELD(key_info, by),
	FIELD(key_info, since_ms),
	FIELD(key_info, revoked_ms),
	FIELD_OPTIONAL(key_info, machine),
	FIELD_OPTIONAL(key_info, network),
	FIELD_OPTIONAL(key_info, until_ms));

const struct schema reply_keys_schema = SCHEMA(reply_keys,
	FIELD(reply_keys, since),
	FIELD_ROWS(reply_keys, keys, key_info_schema),
	FIELD(reply_keys, more));

const struct schema token_info_schema = SCHEMA(token_info,
	FIELD(token_info, name),
	FIELD(token_info, role),
	/* A word of C. */
	{ .name = "for", .kind = FIELD_STRING, .optional = true,
	  .offset = offsetof(struct token_info, for_name) },
	FIELD(token_info, uses),
	FIELD(token_info, until_ms),
	FIELD(token_info, by),
	FIELD(token_info, since_ms),
	FIELD(token_info, renew),
	FIELD_OPTIONAL(token_info, from));

const struct schema reply_tokens_schema = SCHEMA(reply_tokens,
	FIELD(reply_tokens, since),
	FIELD_ROWS(reply_tokens, tokens, token_info_schema),
	FIELD(reply_tokens, more));

const struct schema audit_info_schema = SCHEMA(audit_info,
	FIELD(audit_info, seq),
	FIELD(audit_info, time_ms),
	FIELD(audit_info, who),
	FIELD(audit_info, role),
	FIELD(audit_info, address),
	FIELD(audit_info, act),
	FIELD_OPTIONAL(audit_info, request),
	FIELD_OPTIONAL(audit_info, refusal),
	FIELD_OPTIONAL(audit_info, chain));

const struct schema reply_audit_schema = SCHEMA(reply_audit,
	FIELD(reply_audit, since),
	FIELD_ROWS(reply_audit, audit, audit_info_schema),
	FIELD(reply_audit, more));

const struct schema reply_web_schema = SCHEMA(reply_web,
	FIELD(reply_web, since),
	FIELD(reply_web, address));

const struct schema reply_token_schema = SCHEMA(reply_token,
	FIELD(reply_token, since),
	FIELD(reply_token, token),
	FIELD(reply_token, until_ms),
	FIELD(reply_token, listens));

const struct schema reply_admit_schema = SCHEMA(reply_admit,
	FIELD(reply_admit, since),
	FIELD(reply_admit, name),
	FIELD(reply_admit, role));

const struct schema reply_rotate_schema = SCHEMA(reply_rotate,
	FIELD(reply_rotate, since),
	FIELD(reply_rotate, name),
	FIELD(reply_rotate, role),
	FIELD(reply_rotate, old_until_ms),
	FIELD(reply_rotate, until_ms));

const struct schema reply_rotate_controller_schema = SCHEMA(reply_rotate_controller,
	FIELD(reply_rotate_controller, since),
	FIELD(reply_rotate_controller, public),
	FIELD(reply_rotate_controller, from_ms));

const struct schema reply_revoke_schema = SCHEMA(reply_revoke,
	FIELD(reply_revoke, since),
	FIELD(reply_revoke, revoked),
	FIELD(reply_revoke, reached));

const struct schema reply_backup_schema = SCHEMA(reply_backup,
	FIELD(reply_backup, since),
	FIELD(reply_backup, ready),
	FIELD_OPTIONAL(reply_backup, bytes));

const struct schema reply_gc_schema = SCHEMA(reply_gc,
	FIELD(reply_gc, since),
	FIELD(reply_gc, jobs),
	FIELD(reply_gc, bytes),
	FIELD(reply_gc, after),
	FIELD(reply_gc, more));

const struct schema reply_sign_schema = SCHEMA(reply_sign,
	FIELD(reply_sign, since),
	FIELD(reply_sign, sweep),
	FIELD(reply_sign, by),
	FIELD(reply_sign, at_ms),
	FIELD(reply_sign, manifest),
	FIELD(reply_sign, signer),
	FIELD(reply_sign, signature));
/* clang-format on */
