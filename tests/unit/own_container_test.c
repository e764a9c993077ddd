/* own_container_test.c - an agent in a container knows what its engine sees. */
#include "agent/own_container.h"

#include "tests/tap.h"

#define DIGITS                                                                 \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_id(void)
{
	char id[OWN_CONTAINER_ID_SIZE] = "";

	ok(own_container_id("1 0 8:1 / / rw - ext4 /dev/a rw\n"
			    "2 1 8:1 /var/lib/docker/containers/" DIGITS
			    "/hosts /etc/hosts rw - ext4 /dev/a rw\n",
			    id),
	   "Docker's container is found");
	is(id, DIGITS, "by its id");
	ok(own_container_id("2 1 0:9 /containers/overlay-containers/" DIGITS
			    "/userdata/hostname /etc/hostname rw - tmpfs t rw",
			    id),
	   "Podman's, too");
	ok(!own_container_id("1 0 8:1 / / rw - ext4 /dev/a rw\n"
			     "2 1 8:1 /containers/" DIGITS "0/x /x rw - a b c\n"
			     "3 1 8:1 /containers/0123 /y rw - a b c\n",
			     id),
	   "other mounts are none");
}

static void test_shares(void)
{
	static const char text[] =
		"{\"Mounts\": ["
		"{\"Source\": \"/data\", \"Destination\": \"/data\"},"
		"{\"Source\": \"/disk\", \"Destination\": \"/data/spool\"},"
		"{\"Source\": \"/data/s\", \"Destination\": \"/state\"}]}";
	cJSON *answer = cJSON_Parse(text);

	ok(own_container_shares(answer, "/data") &&
		   own_container_shares(answer, "/data/a"),
	   "a folder that is mounted at the same path is shared");
	ok(!own_container_shares(answer, "/data/spool/b"),
	   "not what another mount hides");
	ok(!own_container_shares(answer, "/state") &&
		   !own_container_shares(answer, "/data2") &&
		   !own_container_shares(answer, "/usr/bin/init") &&
		   !own_container_shares(NULL, "/state"),
	   "nor another path, nor what the image has");
	cJSON_Delete(answer);
}

int main(void)
{
	tap_begin(7);
	test_id();
	test_shares();
	return tap_done();
}
