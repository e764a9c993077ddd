/* access_views.c - the views of keys, tokens and the audit log.
 */
#include "controller/view/render.h"
#include "controller/view/views.h"
#include "protocol/message/reply_access.h"

static void key_put(struct view_row *row, const void *of)
{
	const struct key_info *key = of;
	bool revoked = key->revoked_ms > 0;
	bool ends = !revoked && key->until_ms;

	view_cell(row, MARK(.colour = revoked ? FAINT : PLAIN), "%s",
		  key->name);
	view_text(row, key->role);
	view_cell(row, MARK(.colour = revoked ? RED : GREEN), "%s%s",
		  revoked ? "revoked"
		  : ends  ? "valid until "
			  : "good",
		  ends ? human_clock(key->until_ms).text : "");
	view_clock(row, revoked ? key->revoked_ms : key->since_ms);
	view_text(row, key->network ? key->network : "any");
	view_text(row, key->by);
	view_text(row, key->public);
}

static void token_put(struct view_row *row, const void *of)
{
	const struct token_info *token = of;
	bool good = token->until_ms > row->at_ms && token->uses;

	view_cell(row, MARK(.colour = good ? PLAIN : FAINT), "%s", token->name);
	view_text(row, token->role);
	view_text(row, token->for_name ? token->for_name : "any");
	view_text(row, token->from ? token->from : "any");
	view_cell(row, NULL, "%u", token->uses);
	view_cell(row, MARK(.colour = good ? PLAIN : RED), "%s",
		  human_clock(token->until_ms).text);
	view_text(row, token->by);
}

static void audit_put(struct view_row *row, const void *of)
{
	const struct audit_info *audit = of;
	const char *refusal = audit->refusal ? audit->refusal : "";
	char request[VIEW_TEXT_MAX];

	view_cell(row, NULL, "%llu", (unsigned long long)audit->seq);
	view_clock(row, audit->time_ms);
	view_cell(row, NULL, "%s (%s)", audit->who, audit->role);
	view_text(row, audit->address);
	view_text(row, audit->act);
	json_words(audit->request, request, sizeof(request));
	view_text(row, request);
	view_cell(row, MARK(.colour = *refusal ? RED : PLAIN), "%s%s",
		  *refusal ? "refused: " : "done", refusal);
}

/* clang-format off */
static const struct view_column key_columns[] = {
	{ "NAME", NULL, false, 0 }, { "ROLE", NULL, false, 0 },
	{ "KEY", NULL, false, 0 }, { "SINCE", NULL, false, 4 },
	{ "FROM", NULL, false, 3 }, { "BY", NULL, false, 2 },
	{ "PUBLIC", NULL, false, 1 }, { NULL, NULL, false, 0 },
};
const struct view view_keys = {
	"keys", sizeof(struct key_info), key_columns, key_put, "no keys",
	true
};

static const struct view_column token_columns[] = {
	{ "TOKEN", NULL, false, 0 }, { "ROLE", NULL, false, 0 },
	{ "FOR", NULL, false, 0 }, { "FROM", NULL, false, 2 },
	{ "USES", NULL, true, 0 }, { "UNTIL", NULL, false, 0 },
	{ "BY", NULL, false, 1 }, { NULL, NULL, false, 0 },
};
const struct view view_tokens = {
	"tokens", sizeof(struct token_info), token_columns, token_put,
	"no tokens", true
};

static const struct view_column audit_columns[] = {
	{ "SEQ", NULL, true, 0 }, { "TIME", NULL, false, 0 },
	{ "WHO", NULL, false, 0 }, { "FROM", NULL, false, 1 },
	{ "ACT", NULL, false, 0 }, { "REQUEST", NULL, false, 2 },
	{ "OUTCOME", NULL, false, 0 }, { NULL, NULL, false, 0 },
};
const struct view view_audit = {
	"audit", sizeof(struct audit_info), audit_columns, audit_put,
	"the audit log is empty", true
};
/* clang-format on */
