/* registry_test.c - what registries say, and who we are to them.
 */
#include "agent/registry/approach.h"
#include "agent/registry/pull.h"
#include "agent/registry/registry.h"
#include "protocol/base/file.h"
#include "protocol/registry/credential.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGEST "sha256:" HEX

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
	is(place_of("ubuntu:22.04"), "docker.io library/ubuntu",
	   "a bare name is the Hub's");
	is(place_of("paddlepaddle/paddle"), "docker.io paddlepaddle/paddle",
	   "so is a name with an owner");
	is(place_of("nvcr.io/nvidia/pytorch:23.09-py3"),
	   "nvcr.io nvidia/pytorch", "a name with a dot has a registry");
	is(place_of("10.0.0.1:5000/x"), "10.0.0.1:5000 x", "also with a port");
	is(place_of("localhost/a/b"), "localhost a/b", "and localhost");
}

static int parse(const char *text, struct registry_image *image, char *variant,
		 struct error *err)
{
	memset(image, 0, sizeof(*image));
	return registry_parse(text, strlen(text), "arm64", image, variant, err);
}

static void manifests(void)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"layers\":{}}",
		"{\"layers\":[{}]}",
		"{\"layers\":[{\"digest\":\"" DIGEST "\"}]}",
		"{\"layers\":[{\"digest\":\"" DIGEST "\",\"size\":-1}]}",
		"{\"layers\":[{\"digest\":\"" DIGEST "\",\"size\":1e300}]}",
		"{\"layers\":[{\"digest\":\"sha256:../../x\",\"size\":1}]}",
		"{\"manifests\":[]}",
		"{\"manifests\":[{\"digest\":\"x\",\"platform\":"
		"{\"architecture\":\"arm64\",\"os\":\"linux\"}}]}",
		"{\"manifests\":[{\"digest\":\"" DIGEST "\",\"platform\":"
		"{\"architecture\":\"arm64\",\"os\":\"windows\"}}]}",
	};
	static struct registry_image image;
	char variant[72] = "-";
	struct error err = { 0 };

	is_int(parse("{\"layers\":[{\"digest\":\"" DIGEST "\",\"size\":5},"
		     "{\"digest\":\"" DIGEST "\",\"size\":7}]}",
		     &image, variant, &err),
	       0, "a manifest of two layers");
	ok(image.count == 2 && image.bytes == 12 && !*variant &&
		   !strcmp(image.layers[1].digest, DIGEST),
	   "says which, and how large");
	is_int(parse("{\"manifests\":[{\"digest\":\"x\",\"platform\":{"
		     "\"architecture\":\"amd64\",\"os\":\"linux\"}},"
		     "{\"digest\":\"" DIGEST "\",\"platform\":{"
		     "\"architecture\":\"arm64\",\"os\":\"linux\"}}]}",
		     &image, variant, &err),
	       0, "an index");
	is(variant, DIGEST, "leads to the variant for the machine");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(parse(bad[i], &image, variant, &err) < 0 && err.text[0],
		   "%.40s is refused: %s", bad[i], err.text);
}

static void many_layers(void)
{
	static struct registry_image image;
	char variant[72];
	struct buffer text;
	struct error err = { 0 };

	buffer_init(&text, 1 << 20);
	buffer_text(&text, "{\"layers\":[", NULL);
	for (int i = 0; i <= REGISTRY_LAYERS_MAX; i++)
		buffer_printf(&text, NULL,
			      "%s{\"digest\":\"" DIGEST "\",\"size\":1}",
			      i ? "," : "");
	buffer_text(&text, "]}", NULL);
	ok(parse(text.data, &image, variant, &err) < 0 && err.code == E2BIG,
	   "more layers than an image has are refused: %s", err.text);
	buffer_clear(&text);
}

static const char *challenge(const char *header, const char *name)
{
	static char value[64];

	return repository_challenge(header, name, value, sizeof(value))
		       ? value
		       : "(none)";
}

static void challenges(void)
{
	static const char header[] = "Bearer realm=\"https://a/t?x=1,2\", "
				     "service=\"registry\",scope=pull";

	is(challenge(header, "realm"), "https://a/t?x=1,2",
	   "a realm, with a comma in it");
	is(challenge(header, "service"), "registry", "a service");
	is(challenge(header, "scope"), "pull", "a word without quotes");
	is(challenge(header, "error"), "(none)", "what is not there");
	is(challenge("Bearer x=\"realm=y\"", "realm"), "(none)",
	   "what stands in another value is none");
	is(challenge("Bearer realm=\"a", "realm"), "a", "an open quote");
	is(challenge("Bearer realm=\"a\x01\"", "realm"), "(none)",
	   "control characters are none");
	is(challenge("Bearer", "realm"), "(none)", "no parameter at all");
}

static void plain(void)
{
	char host[REFERENCE_HOST_MAX + 1];
	cJSON *info = cJSON_Parse(
		"{\"RegistryConfig\":{\"InsecureRegistryCIDRs\":"
		"[\"127.0.0.0/8\",\"10.1.0.0/33\",7,\"10.2.0.0/16\","
		"\"fd00::/8\"],\"Mirrors\":[\"https://a/\",\"http://m:81/"
		"\"],\"IndexConfigs\":{"
		"\"r:5000\":{\"Secure\":false},\"s\":{\"Secure\":true}}}}");

	is_int(plain_of(info, "r:5000"), PLAIN_YES,
	       "a registry that the engine says so of");
	is_int(plain_of(info, "s"), PLAIN_NO, "not one that it checks");
	ok(plain_of(info, "127.0.0.1:5000") == PLAIN_YES &&
		   plain_of(info, "localhost") == PLAIN_YES,
	   "this machine's own");
	is_int(plain_of(info, "10.1.0.1"), PLAIN_NO,
	       "nothing by a broken network");
	is_int(plain_of(NULL, "r:5000"), PLAIN_NO,
	       "nothing when it says nothing");
	is_int(plain_of(info, "other:5000"), PLAIN_BY_ADDRESS,
	       "a name may lie in a network");
	ok(plain_address(info, "10.2.255.1") &&
		   !plain_address(info, "10.3.0.1") &&
		   plain_address(info, "fd00::1") &&
		   !plain_address(info, "fe00::1") &&
		   !plain_address(info, "name"),
	   "by its addresses, of both families");
	ok(plain_mirror(info, host) && !strcmp(host, "m:81"),
	   "and the Hub's mirrors may be plain, too");
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

	is_int(plain_of(info, "127.0.0.1:5000"), PLAIN_NO,
	       "to Docker a name without port is no other with one");
	cJSON_AddStringToObject(info, "BuildahVersion", "1.28.2");
	ok(plain_of(info, "127.0.0.1:5000") == PLAIN_YES &&
		   plain_of(info, "127.0.0.10:5000") == PLAIN_NO,
	   "to Podman it is");
	ok(plain_of(info, "r:5000") == PLAIN_NO &&
		   plain_of(info, "r:5001") == PLAIN_YES,
	   "unless there is more to say of the port");
	ok(plain_of(info, "a.lab:5000") == PLAIN_YES &&
		   plain_of(info, "tls.lab") == PLAIN_NO &&
		   plain_of(info, "lab") == PLAIN_NO &&
		   plain_of(info, "b.alab") == PLAIN_NO,
	   "and a domain is what is below it");
	is_int(plain_of(info, "s"), PLAIN_NO,
	       "what is said of a folder is not said of its registry");
	cJSON_Delete(info);
}

static void rooms(void)
{
	struct error err = { 0 };

	ok(pull_room_check(50, 100, "/d", &err) == 0, "what fits, fits");
	ok(pull_room_check(51, 100, "/d", &err) < 0 && err.code == ENOSPC,
	   "what does not is told: %s", err.text);
}

/* Credentials. */

struct told {
	int count;
	struct error err;
	char *header, *basic;
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
	told->basic = credential_basic(credential);
}

/* text: what the file is to hold, or NULL: it is as it is. */
static void ask(sd_event *loop, const char *path, const char *text,
		const char *registry, struct told *told)
{
	struct credential_wait *wait;

	if (text)
		file_write(AT_FDCWD, path, text, strlen(text), 0600, 0, NULL);

	secret_free(told->header);
	secret_free(told->basic);
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
	is(told.basic, "Authorization: Basic dTpwOnc=",
	   "name and password of a registry, by its URL");
	ok(told.header && !strncmp(told.header, "X-Registry-Auth: ", 17),
	   "for the engine, too");
	ask(loop, path, text, "t", &told);
	ok(told.header && !told.basic, "an identity token is the engine's");
	ask(loop, path, text, "docker.io", &told);
	is(told.basic, "Authorization: Basic aDpw", "the Hub's old name");
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

int main(void)
{
	tap_begin(60);
	places();
	manifests();
	many_layers();
	challenges();
	plain();
	plain_podman();
	rooms();
	credentials();
	return tap_done();
}
