/* admission.h - which messages a server accepts from a peer.
 *
 * Each function returns false where it has refused the request, or ended the
 * session with a text that says why.
 *
 * Only for the server.
 */
#ifndef PROTOCOL_WIRE_ADMISSION_H
#define PROTOCOL_WIRE_ADMISSION_H

#include "protocol/wire/sessions.h"

/* May these frames be decoded? Checks key, rate and size. */
bool admission_frames(struct wire_peer *peer, struct frames *frames);
/* May one more message of the same frames be decoded? Checks the rate. */
bool admission_next(struct wire_peer *peer);
/* May the message be handled? Checks session, role, payload, the key's
 * processor time, and the version of a hello, which begins a session.
 */
bool admission_message(struct wire_peer *peer, const struct frames *frames,
		       enum message_type type, const void *body);
/* The frames cannot be decoded. A hello of another version is told so. */
void admission_broken(struct wire_peer *peer, struct frames *frames,
		      const struct error *err);

#endif
