/* http_names.c - the names by which clients may ask an HTTP server.
 */
#include "protocol/http/http_names.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HOST_SIZE 256

struct http_names {
	char own[HOST_SIZE];
	char *configured;
	struct gaicb asked; /* for the full name */
};

static void names_ask(struct http_names *names)
{
	static const struct addrinfo hints = { .ai_flags = AI_CANONNAME,
					       .ai_socktype = SOCK_STREAM };
	struct sigevent nothing = { .sigev_notify = SIGEV_NONE };
	struct gaicb *list[] = { &names->asked };

	names->asked.ar_name = names->own;
	names->asked.ar_request = &hints;
	if (*names->own)
		getaddrinfo_a(GAI_NOWAIT, list, 1, &nothing);
}

struct http_names *http_names_new(const char *configured)
{
	owned(http_names_free) struct http_names *names =
		calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->configured = configured ? strdup(configured) : NULL;
	if (configured && !names->configured)
		return NULL;
	gethostname(names->own, sizeof(names->own) - 1);
	names_ask(names);
	return take(names);
}

/* What is being asked at this moment belongs to the resolver's thread. */
void http_names_free(struct http_names *names)
{
	if (!names || gai_cancel(&names->asked) == EAI_NOTCANCELED)
		return;
	if (names->asked.ar_result)
		freeaddrinfo(names->asked.ar_result);
	free(names->configured);
	free(names);
}

static const char *names_full(const struct http_names *names)
{
	const struct addrinfo *found = names->asked.ar_result;

	return gai_error((struct gaicb *)&names->asked) == 0 && found &&
			       found->ai_canonname
		       ? found->ai_canonname
		       : "";
}

static bool is_name(const char *host, const char *name)
{
	return name && *name && !strcasecmp(host, name);
}

/* The host name without its domain, alone or with the configured one. */
static bool is_short_name(const struct http_names *names, const char *host)
{
	const char *domain = strchr(host, '.');
	size_t label = strcspn(host, ".");

	return label && label == strcspn(names->own, ".") &&
	       !strncasecmp(host, names->own, label) &&
	       (!domain || is_name(domain, names->configured));
}

bool http_names_have(const struct http_names *names, const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : strchr(host, ':');
	struct in6_addr address;
	char name[HOST_SIZE];

	host += *host == '[';
	snprintf(name, sizeof(name), "%.*s",
		 end ? (int)(end - host) : HOST_SIZE - 1, host);
	return inet_pton(AF_INET, name, &address) == 1 ||
	       inet_pton(AF_INET6, name, &address) == 1 ||
	       is_name(name, "localhost") || is_name(name, names->own) ||
	       is_name(name, names_full(names)) ||
	       is_name(name, names->configured) || is_short_name(names, name);
}
