/* role.h - the roles of a key's owner: agent, operator, viewer.
 *
 * What each may do is in one table, message_kinds[] of message.h.
 */
#pragma once

/* Bits, so that a message's table can say who may send it. */
enum role {
	ROLE_NONE = 0,
	ROLE_AGENT = 1,      /* a node */
	ROLE_OPERATOR = 2,   /* a person who may change things */
	ROLE_VIEWER = 4,     /* a person who may look */
	ROLE_CONTROLLER = 8, /* the server itself */
	ROLE_JOINER = 16,    /* whoever holds a token, to enrol a key */
};
