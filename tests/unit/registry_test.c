/* registry_test.c - where registries are, and who we are to them.
 */
#include "agent/images/insecure_registry.h"
#include "protocol/base/file.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/reference.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *place_of(const char *text)
{
	static char both[1100];
	char host[REFERENCE_HOST_MAX + 1], path[REFERENCE_PATH_MAX + 1];
	struct reference reference;

	if (reference_parse(text, &reference, NULL) < 0)
		return "no reference";
	reference_place(&reference, host, path);
	snprintf(both, sizeof(both), "%s %s", host, path);
	return both;
}

static void places(void)
{
	char text[300];

	is(place_of("ubuntu:22.04"), "docker.io library/ubuntu",
	   "a bare name is the Hub's");
	is(place_of("paddlepaddle/paddle"), "docker.io paddlepaddle/paddle",
	   "so is a name with an owner");
	is(place_of("nvcr.io/nvidia/pytorch:23.09-py3"),
	   "nvcr.io nvidia/pytorch", "a name with a dot has a registry");
	is(place_of("10.0.0.1:5000/x"), "10.0.0.1:5000 x", "also with a port");
	is(place_of("localhost/a/b"), "localhost a/b", "and localhost");
	/* The Hub's login must not go to another registry. */
	snprintf(text, sizeof(text), "%0250d.example:65535/x", 0);
	ok(!strncmp(place_of(text), "000", 3),
	   "and the longest host name with a port");
}

static void plain(void)
{
	owned(strings_clear) struct strings names = { 0 };
	char host[REFERENCE_HOST_MAX + 1];
	cJSON *info = cJSON_Parse(
		"{\"RegistryConfig\":{\"InsecureRegistryCIDRs\":"
		"[\"127.0.0.0/8\",\"10.1.0.0/33\",7,\"10.2.0.0/16\","
		"\"fd00::/8\"],\"Mirrors\":[\"https://a/\",\"http://m:81/"
		"\"],\"IndexConfigs\":{"
		"\"r:5000\":{\"Secure\":false},\"s\":{\"Secure\":true}}}}");

	is_int(insecure_registry_of(info, "r:5000"), INSECURE_YES,
	       "a registry that the engine says so of");
	is_int(insecure_registry_of(info, "s"), INSECURE_NO,
	       "not one that it checks");
	ok(insecure_registry_of(info, "127.0.0.1:5000") == INSECURE_YES &&
		   insecure_registry_of(info, "localhost") == INSECURE_YES,
	   "this machine's own");
	is_int(insecure_registry_of(info, "10.1.0.1"), INSECURE_NO,
	       "nothing by a broken network");
	is_int(insecure_registry_of(NULL, "r:5000"), INSECURE_NO,
	       "nothing when it says nothing");
	is_int(insecure_registry_of(info, "other:5000"), INSECURE_BY_ADDRESS,
	       "a name may lie in a network");
	ok(insecure_registry_address(info, "10.2.255.1") &&
		   !insecure_registry_address(info, "10.3.0.1") &&
		   insecure_registry_address(info, "fd00::1") &&
		   !insecure_registry_address(info, "fe00::1") &&
		   !insecure_registry_address(info, "name"),
	   "by its addresses, of both families");
	ok(insecure_registry_mirror(info, host) && !strcmp(host, "m:81"),
	   "and the Hub's mirrors may be plain, too");
	ok(insecure_registry_list(info, &names, NULL) == 0 &&
		   names.count == 5 && !strcmp(names.items[0], "r:5000") &&
		   !strcmp(names.items[1], "10.1.0.0/33") &&
		   !strcmp(names.items[4], "m:81"),
	   "all of them are listed, but the machine itself");
	cJSON_Delete(info);
}

/* Its registries.conf, as Podman 4.3 tells of it. */
static void plain_podman(void)
{
	cJSON *info = cJSON_Parse(
		"{\"RegistryConfig\":{\"InsecureRegistryCIDRs\":[],"
		"\"Mirrors\":[],\"IndexConfigs\":{"
		"\"127.0.0.1\":{\"Secure\":false},"
		"\"r:5000\":{\"Secure\":true},\"r\":{\"Secure\":false},"
		"\"*.lab\":{\"Secure\":false},\"tls.lab\":{\"Secure\":true},"
		"\"s/folder\":{\"Secure\":false}}}}");

	is_int(insecure_registry_of(info, "127.0.0.1:5000"), INSECURE_NO,
	       "to Docker a name without port is no other with one");
	cJSON_AddStringToObject(info, "BuildahVersion", "1.28.2");
	ok(insecure_registry_of(info, "127.0.0.1:5000") == INSECURE_YES &&
		   insecure_registry_of(info, "127.0.0.10:5000") == INSECURE_NO,
	   "to Podman it is");
	ok(insecure_registry_of(info, "r:5000") == INSECURE_NO &&
		   insecure_registry_of(info, "r:5001") == INSECURE_YES,
	   "unless there is more to say of the port");
	ok(insecure_registry_of(info, "a.lab:5000") == INSECURE_YES &&
		   insecure_registry_of(info, "tls.lab") == INSECURE_NO &&
		   insecure_registry_of(info, "lab") == INSECURE_NO &&
		   insecure_registry_of(info, "b.alab") == INSECURE_NO,
	   "and a domain is what is below it");
	is_int(insecure_registry_of(info, "s"), INSECURE_NO,
	       "what is said of a folder is not said of its registry");
	cJSON_Delete(info);
}

/* Credentials. */

struct told {
	int count;
	struct error err;
	char *header;
	char name[32], password[32];
};

static void told_done(void *arg, const struct error *err,
		      const struct credential *credential)
{
	struct told *told = arg;

	told->count++;
	if (err) {
		told->err = *err;
		return;
	}
	told->header = credential_header(credential, "r:1");
	snprintf(told->name, sizeof(told->name), "%s",
		 credential->username ? credential->username : "");
	snprintf(told->password, sizeof(told->password), "%s",
		 credential->password ? credential->password : "");
}

/* text: what the file is to hold, or NULL: it is as it is. */
static void ask(sd_event *loop, const char *path, const char *text,
		const char *registry, struct told *told)
{
	struct credential_wait *wait;

	if (text)
		file_write(AT_FDCWD, path, text, strlen(text), 0600, 0, NULL);

	secret_free(told->header);
	*told = (struct told){ 0 };
	wait = credential_ask(loop, path, registry, told_done, told,
			      &told->err);
	while (wait && !told->count)
		sd_event_run(loop, UINT64_MAX);
}

static void credentials(void)
{
	static const char text[] =
		"{\"auths\":{\"https://r:1/v2/\":{\"auth\":\"dTpwOnc=\"},"
		"\"t\":{\"identitytoken\":\"T\"},\"bad\":{\"auth\":\"!\"},"
		"\"https://index.docker.io/v1/\":{\"username\":\"h\","
		"\"password\":\"p\"}}}";
	char path[] = "/tmp/registry_test.XXXXXX";
	struct told told = { 0 };
	sd_event *loop = NULL;
	int fd = mkstemp(path);

	sd_event_new(&loop);
	ask(loop, path, text, "r:1", &told);
	ok(!strcmp(told.name, "u") && !strcmp(told.password, "p:w"),
	   "name and password of a registry, by its URL");
	ok(told.header && !strncmp(told.header, "X-Registry-Auth: ", 17),
	   "for the engine, too");
	ask(loop, path, text, "t", &told);
	ok(told.header && !told.name[0], "an identity token is the engine's");
	ask(loop, path, text, "docker.io", &told);
	is(told.name, "h", "the Hub's old name");
	ask(loop, path, text, "other", &told);
	ok(told.count && !told.header && !told.err.code,
	   "a registry that it does not name is nobody's");
	ask(loop, path, text, "bad", &told);
	ok(told.err.code == EPROTO, "broken base64: %s", told.err.text);
	ask(loop, path, "{\"auths\":", "r:1", &told);
	ok(told.err.code == EPROTO && !strstr(told.err.text, "auths"),
	   "what is no JSON is not quoted: %s", told.err.text);
	chmod(path, 0604);
	ask(loop, path, NULL, "r:1", &told);
	ok(told.err.code == EACCES && strstr(told.err.text, "chmod 600"),
	   "not from one that others may read: %s", told.err.text);
	unlink(path);
	ask(loop, path, NULL, "r:1", &told);
	is_int(told.err.code, ENOENT, "nor from one that is not there");
	ask(loop, NULL, NULL, "r:1", &told);
	ok(told.count && !told.header, "without any, nobody");
	ask(loop, NULL, NULL, "r:1", &told);
	close(fd);
	sd_event_unref(loop);
}

/* All that a file knows, for a build. */
static void registries(void)
{
	static const char text[] =
		"{\"auths\":{\"https://r:1/v2/\":{},\"t\":{},\"r:1\":{},"
		"\"a b\":{},\"\":{},\"https://index.docker.io/v1/\":{}},"
		"\"credHelpers\":{\"h.io\":\"x\",\"t\":\"y\"}}";
	owned(strings_clear) struct strings list = { 0 };
	char path[] = "/tmp/registry_test.XXXXXX";
	struct error err = { 0 };
	int fd = mkstemp(path);

	strings_add(&list, "t", NULL);
	file_write(AT_FDCWD, path, text, strlen(text), 0600, 0, NULL);
	is_int(credential_registries(path, &list, &err), 0, "a file is read");
	ok(list.count == 4 && !strcmp(list.items[1], "r:1") &&
		   !strcmp(list.items[2], "docker.io") &&
		   !strcmp(list.items[3], "h.io"),
	   "each registry counts once, and what is none does not");
	unlink(path);
	ok(credential_registries(path, &list, &err) < 0 && err.code == ENOENT,
	   "a file that is not there: %s", err.text);
	close(fd);
}

int main(void)
{
	tap_begin(60);
	places();
	plain();
	plain_podman();
	credentials();
	registries();
	return tap_done();
}
