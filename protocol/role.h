/* role.h - what a key's owner may be: agent, operator or viewer.
 */
#ifndef PROTOCOL_ROLE_H
#define PROTOCOL_ROLE_H

/* Bits, so that a message's table can say who may send it. */
enum role {
	ROLE_NONE = 0,
	ROLE_AGENT = 1,      /* a node */
	ROLE_OPERATOR = 2,   /* a person who may change things */
	ROLE_VIEWER = 4,     /* a person who may look */
	ROLE_CONTROLLER = 8, /* the server itself */
};

#endif
