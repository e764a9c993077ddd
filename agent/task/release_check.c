/* release_check.c - compares a container with what the policy allowed, before
 * its command is released.
 */
#include "agent/task/release_check.h"
#include "agent/devices/sysfs.h"
#include "agent/docker/create_body.h"
#include "agent/policy/policy_check.h"
#include "agent/policy/policy_image.h"
#include "agent/task/foreign_mounts.h"
#include "agent/task/foreign_nodes.h"
#include "protocol/base/file.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REGATTA_FOLDER "/regatta"
#define PROCESS_TEXT_MAX 65536
#define FOLDERS_MAX 4 /* of device nodes, inside each other */

static const cJSON *request_part(const cJSON *request, const char *name)
{
	return json_get(json_get(request, "HostConfig"), name);
}

static const cJSON *release_part(const struct release_check *check,
				 const char *name)
{
	return request_part(check->request, name);
}

void release_check_prepare(const cJSON *request, struct resolved_paths *paths)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, request_part(request, "Mounts"))
		resolved_paths_open(paths,
				    json_get_text_or_empty(item, "Source"));
	cJSON_ArrayForEach(item, request_part(request, "Devices"))
		resolved_paths_open(paths,
				    json_get_text_or_empty(item, "PathOnHost"));
}

/* Mounts. */

/* A mount of the request. */
struct claim {
	const char *source, *target;
	const char *device;          /* of the file that was opened */
	char *root;                  /* in that file system */
	char *real;                  /* on the node */
	const struct mount_row *row; /* what the container has */
	bool read_only, own;
};

struct claims {
	struct claim *items;
	size_t count;
	struct mount_table host, inside;
};

static void claim_clear(struct claim *claim)
{
	free(claim->root);
	free(claim->real);
}

static void claims_clear(struct claims *claims)
{
	for (size_t i = 0; i < claims->count; i++)
		claim_clear(&claims->items[i]);
	free(claims->items);
	mount_table_clear(&claims->host);
	mount_table_clear(&claims->inside);
}
OWNED_VALUE(struct claims, claims_clear)

static bool path_is_init(const char *path)
{
	return !strncmp(path, CONTAINER_INIT_PREFIX,
			strlen(CONTAINER_INIT_PREFIX));
}

/* Regatta's own folders and programs, and nobody else's. */
static bool point_is_ours(const char *point)
{
	return policy_path_below(point, REGATTA_FOLDER) || path_is_init(point);
}

static int claim_read(const struct release_check *check,
		      const struct claims *claims, const cJSON *mount,
		      struct claim *claim, struct error *err)
{
	const struct mount_row *row = NULL;
	char root[PATH_MAX], real[PATH_MAX];
	int fd;

	*claim = (struct claim){
		.source = json_get_text_or_empty(mount, "Source"),
		.target = json_get_text_or_empty(mount, "Target"),
		.read_only = cJSON_IsTrue(json_get(mount, "ReadOnly")),
	};
	claim->own = point_is_ours(claim->target);
	fd = resolved_paths_open(check->paths, claim->source);
	if (fd >= 0)
		row = mount_table_place(&claims->host, fd, root);
	if (!row ||
	    resolved_paths_resolve(check->paths, claim->source, real) < 0)
		return error_set(err, EPERM,
				 "mounts: %.100s was not there when the policy "
				 "was asked",
				 claim->source);
	claim->device = row->device;
	claim->root = strdup(root);
	claim->real = strdup(real);
	return claim->root && claim->real ? 0 : error_nomem(err, "mounts");
}

static int claims_read(const struct release_check *check, int process,
		       struct claims *claims, struct error *err)
{
	const cJSON *mounts = release_part(check, "Mounts"), *mount;
	owned_fd int self = open("/proc/self", O_PATH | O_CLOEXEC);

	claims->items = calloc((size_t)cJSON_GetArraySize(mounts) + 1,
			       sizeof(*claims->items));
	if (!claims->items)
		return error_nomem(err, "mounts");
	if (mount_table_read(self, &claims->host, err) < 0 ||
	    mount_table_read(process, &claims->inside, err) < 0)
		return -1;
	cJSON_ArrayForEach(mount, mounts)
		if (claim_read(check, claims, mount,
			       &claims->items[claims->count++], err) < 0)
			return -1;
	return 0;
}

static bool row_is_of(const struct mount_row *row, const struct claim *claim)
{
	return !strcmp(row->device, claim->device) &&
	       !strcmp(row->root, claim->root);
}

static const struct claim *row_claim(const struct claims *claims,
				     const struct mount_row *row)
{
	for (size_t i = 0; i < claims->count; i++)
		if (claims->items[i].row == row)
			return &claims->items[i];
	return NULL;
}

/* An earlier agent gave regatta-init another path. */
static bool claim_is_at(const struct claim *claim, const char *point)
{
	return !strcmp(point, claim->target) ||
	       (path_is_init(point) && path_is_init(claim->target));
}

/* Find the claim's row: at its target, or where links of the image lead to. */
static void claim_match(const struct claims *claims, struct claim *claim,
			bool anywhere)
{
	for (size_t i = 0; i < claims->inside.count && !claim->row; i++) {
		const struct mount_row *row = &claims->inside.rows[i];

		if ((anywhere || claim_is_at(claim, row->point)) &&
		    row_is_of(row, claim) &&
		    (row->read_only || !claim->read_only) &&
		    !row_claim(claims, row))
			claim->row = row;
	}
}

/* A bind mount copies the mounts below its source. Such a copy must not count
 * as a mount of the request that went elsewhere: there have to be as many rows
 * as claims and copies.
 */
static bool has_rows(const struct claims *claims, const struct claim *claim)
{
	size_t wanted = 0, found = 0;

	for (size_t i = 0; i < claims->inside.count; i++)
		found += row_is_of(&claims->inside.rows[i], claim);
	for (size_t i = 0; i < claims->count; i++) {
		const struct claim *other = &claims->items[i];

		wanted += !strcmp(other->device, claim->device) &&
			  !strcmp(other->root, claim->root);
		for (size_t k = 0; k < claims->host.count; k++) {
			const char *point = claims->host.rows[k].point;

			wanted += row_is_of(&claims->host.rows[k], claim) &&
				  policy_path_below(point, other->real) &&
				  strcmp(point, other->real) != 0;
		}
	}
	return found >= wanted;
}

static int claims_match(struct claims *claims, struct error *err)
{
	for (size_t i = 0; i < claims->count; i++)
		claim_match(claims, &claims->items[i], false);
	for (size_t i = 0; i < claims->count; i++) {
		struct claim *claim = &claims->items[i];

		if (!claim->own)
			claim_match(claims, claim, true);
		if (!claim->row || !has_rows(claims, claim))
			return error_set(err, EPERM,
					 "mounts: %.80s is not what was "
					 "mounted at %.80s in the container: "
					 "its path was changed meanwhile, or "
					 "something else covers it",
					 claim->source, claim->target);
		if (!claim->own && !claim->row->point[1])
			return error_set(err, EPERM,
					 "mounts: %.80s was mounted over the "
					 "root of the container, by a link of "
					 "the image",
					 claim->source);
	}
	return 0;
}

/* The mount of the request that this row was copied with; NULL: none. */
static const struct claim *row_owner(const struct claims *claims,
				     const struct mount_row *row)
{
	const struct claim *claim = NULL;

	for (size_t i = 0; row && !claim && i < claims->inside.count; i++) {
		claim = row_claim(claims, row);
		row = mount_table_row(&claims->inside, row->parent);
	}
	return claim;
}

/* Is the row, below that of a claim, what the node has at this place below the
 * claim's source? path: of the node.
 */
static bool row_is_copy(const struct claims *claims,
			const struct mount_row *row, const char *path)
{
	for (size_t i = 0; i < claims->host.count; i++) {
		const struct mount_row *host = &claims->host.rows[i];

		if (!strcmp(host->point, path) &&
		    !strcmp(host->device, row->device) &&
		    !strcmp(host->root, row->root))
			return true;
	}
	return false;
}

static int check_copy(const struct release_check *check,
		      const struct claim *claim, const struct mount_row *row,
		      const char *path, struct error *err)
{
	const struct policy_resolver resolver = { resolved_paths_resolve,
						  check->paths };

	if (!claim->read_only || claim->own || row->read_only ||
	    policy_check_may_mount(check->policy, path, true, &resolver))
		return 0;
	return error_set(err, EPERM,
			 "mounts: %.80s is mounted below %.60s, and would be "
			 "writable in the container: this engine mounts only "
			 "the folder itself read-only; Docker 25 does more",
			 path, claim->source);
}

static int check_foreign(const struct release_check *check,
			 const struct claims *claims,
			 const struct mount_row *row, struct error *err)
{
	const struct foreign_mounts foreign = {
		.policy = check->policy,
		.request = check->request,
		.paths = check->paths,
		.rules = check->rules,
		.cdi_mounts = check->cdi_mounts,
		.host = &claims->host,
		.inside = &claims->inside,
	};

	return check->policy->any ? 0
				  : foreign_mounts_check(&foreign, row, err);
}

static int check_row(const struct release_check *check,
		     const struct claims *claims, const struct mount_row *row,
		     struct error *err)
{
	const struct claim *claim = row_owner(claims, row);
	char path[PATH_MAX];

	if (point_is_ours(row->point) &&
	    (!claim || !claim->own || claim->row != row))
		return error_set(err, EPERM,
				 "mounts: something is mounted at %.100s in "
				 "the container, where only Regatta's own "
				 "files may be; a volume or a link of the "
				 "image leads there",
				 row->point);
	if (!claim)
		return check_foreign(check, claims, row, err);
	if (claim->row == row)
		return 0;
	if (file_path(path, err, "%s%s", claim->real,
		      row->point + strlen(claim->row->point)) < 0)
		return -1;
	return row_is_copy(claims, row, path)
		       ? check_copy(check, claim, row, path, err)
		       : check_foreign(check, claims, row, err);
}

static int check_rows(const struct release_check *check, int process,
		      struct error *err)
{
	owned(claims_clear) struct claims claims = { 0 };

	if (claims_read(check, process, &claims, err) < 0 ||
	    claims_match(&claims, err) < 0)
		return -1;
	for (size_t i = 0; i < claims.inside.count; i++)
		if (check_row(check, &claims, &claims.inside.rows[i], err) < 0)
			return -1;
	return 0;
}

/* Device nodes. */

/* Open a path of the container, without following a link. The folder of its
 * last name is in *folder. -1 with errno.
 */
static int open_inside(int root, const char *path, struct stat *folder)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	char name[NAME_MAX + 1];

	while (at >= 0 && *(path += strspn(path, "/"))) {
		size_t size = strcspn(path, "/");
		int next = -1;

		if (size <= NAME_MAX && fstat(at, folder) == 0) {
			memcpy(name, path, size);
			name[size] = 0;
			next = openat(at, name,
				      O_PATH | O_NOFOLLOW | O_CLOEXEC);
		}
		close(at);
		at = next;
		path += size;
	}
	return at;
}

/* Is each device node in the folder `inside` the one of the folder `host`? */
static bool same_folder(int host, int inside, int depth)
{
	int copy = openat(inside, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	owned_dir DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	bool same = dir && depth < FOLDERS_MAX;

	if (copy >= 0 && !dir)
		close(copy);
	while (same && (entry = readdir(dir))) {
		struct stat a, b;

		if (entry->d_name[0] == '.')
			continue;
		same = fstatat(host, entry->d_name, &a, AT_SYMLINK_NOFOLLOW) ==
			       0 &&
		       fstatat(inside, entry->d_name, &b,
			       AT_SYMLINK_NOFOLLOW) == 0 &&
		       (a.st_mode & S_IFMT) == (b.st_mode & S_IFMT) &&
		       a.st_rdev == b.st_rdev;
		if (same && S_ISDIR(a.st_mode)) {
			owned_fd int one =
				openat(host, entry->d_name,
				       O_PATH | O_NOFOLLOW | O_CLOEXEC);
			owned_fd int other =
				openat(inside, entry->d_name,
				       O_PATH | O_NOFOLLOW | O_CLOEXEC);

			same = same_folder(one, other, depth + 1);
		}
	}
	return same;
}

static bool same_device(int host, int inside)
{
	struct stat a, b;

	if (host < 0 || inside < 0 || fstat(host, &a) < 0 ||
	    fstat(inside, &b) < 0 ||
	    (a.st_mode & S_IFMT) != (b.st_mode & S_IFMT))
		return false;
	if (S_ISDIR(a.st_mode))
		return same_folder(host, inside, 0);
	return (S_ISCHR(a.st_mode) || S_ISBLK(a.st_mode)) &&
	       a.st_rdev == b.st_rdev;
}

static int check_foreign_nodes(const struct release_check *check, int root,
			       struct error *err)
{
	const struct foreign_nodes nodes = {
		.policy = check->policy,
		.request = check->request,
		.paths = check->paths,
		.rules = check->rules,
		.cdi_nodes = check->cdi_nodes,
		.roots = check->roots,
		.devices = check->devices,
		.given = check->given,
	};

	return foreign_nodes_check(&nodes, root, err);
}

/* The engine makes the nodes in the container's own file systems; in a mount,
 * others may have made one.
 */
static int release_check_devices(const struct release_check *check, int process,
				 struct error *err)
{
	const cJSON *devices = release_part(check, "Devices"), *device;
	owned_fd int root = openat(process, "root", O_PATH | O_CLOEXEC);
	struct stat top, dev, folder = { 0 };

	if (root < 0 || fstat(root, &top) < 0)
		return error_errno(err, "root of the container");
	if (fstatat(root, "dev", &dev, AT_SYMLINK_NOFOLLOW) < 0)
		dev = top;
	cJSON_ArrayForEach(device, devices) {
		const char *host = json_get_text_or_empty(device, "PathOnHost");
		const char *path =
			json_get_text_or_empty(device, "PathInContainer");
		owned_fd int inside = open_inside(root, path, &folder);

		if (!same_device(resolved_paths_open(check->paths, host),
				 inside) ||
		    (folder.st_dev != top.st_dev &&
		     folder.st_dev != dev.st_dev))
			return error_set(err, EPERM,
					 "devices: %.80s in the container is "
					 "not the device that %.80s was when "
					 "the policy was asked",
					 path, host);
	}
	return check_foreign_nodes(check, root, err);
}

/* Rights. */

/* A number of the node as the container's user namespace has it. */
static uint64_t number_mapped(const char *map, uint64_t number)
{
	unsigned long long inside, outside, count;
	int size;

	for (; sscanf(map, "%llu %llu %llu%n", &inside, &outside, &count,
		      &size) == 3;
	     map += size)
		if (number >= outside && number - outside < count)
			return number - outside + inside;
	return number;
}

/* The n-th number of a line of the status, in the container's view. */
static bool status_number(const char *status, const char *map, const char *key,
			  size_t n, uint64_t *number)
{
	owned_free char *line = sysfs_line(status, key, ':');
	char *at = line, *end;

	for (size_t i = 0; line; i++, at = end) {
		*number = strtoull(at, &end, 10);
		if (end == at)
			break;
		if (i == n) {
			*number = number_mapped(map, *number);
			return true;
		}
	}
	return false;
}

static int release_check_user(const struct release_check *check, uint64_t uid,
			      uint64_t gid, struct error *err)
{
	const struct strings *list = &check->policy->lists[POLICY_USER];
	char user[24], both[48];

	snprintf(user, sizeof(user), "%" PRIu64, uid);
	snprintf(both, sizeof(both), "%s:%" PRIu64, user, gid);
	if (!check->user || policy_matches(list, user) ||
	    policy_matches(list, both) || strings_has(list, check->user))
		return 0;
	return policy_refuse_listed(check->policy, POLICY_USER, both, err);
}

/* Was the group asked for, so that the policy has answered? */
static bool group_is_asked(const struct release_check *check, uint64_t gid)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, release_part(check, "GroupAdd")) {
		const char *name = cJSON_GetStringValue(item);
		const struct group *group = NULL;

		if (!name)
			continue;
		if (strspn(name, ASCII_DIGITS) < strlen(name))
			group = getgrnam(name);
		if (group ? group->gr_gid == gid
			  : strtoull(name, NULL, 10) == gid &&
				    strspn(name, ASCII_DIGITS) == strlen(name))
			return true;
	}
	return false;
}

static int release_check_groups(const struct release_check *check,
				const char *status, const char *map,
				uint64_t gid, struct error *err)
{
	const struct strings *list = &check->policy->lists[POLICY_GROUPS];
	uint64_t group;
	char text[24];

	for (size_t i = 0; status_number(status, map, "Groups", i, &group);
	     i++) {
		snprintf(text, sizeof(text), "%" PRIu64, group);
		if (group == gid || group_is_asked(check, group) ||
		    policy_matches(list, text))
			continue;
		text_append(text, sizeof(text), ", by the image");
		return policy_refuse_listed(check->policy, POLICY_GROUPS, text,
					    err);
	}
	return 0;
}

/* clang-format off */
static const struct {
	const char *name;
	unsigned int number;
} capability_numbers[] = {
#define CAPABILITY(name) { #name, CAP_##name }
	CAPABILITY(AUDIT_CONTROL), CAPABILITY(AUDIT_READ),
	CAPABILITY(AUDIT_WRITE), CAPABILITY(BLOCK_SUSPEND), CAPABILITY(BPF),
	CAPABILITY(CHECKPOINT_RESTORE), CAPABILITY(CHOWN),
	CAPABILITY(DAC_OVERRIDE), CAPABILITY(DAC_READ_SEARCH),
	CAPABILITY(FOWNER), CAPABILITY(FSETID), CAPABILITY(IPC_LOCK),
	CAPABILITY(IPC_OWNER), CAPABILITY(KILL), CAPABILITY(LEASE),
	CAPABILITY(LINUX_IMMUTABLE), CAPABILITY(MAC_ADMIN),
	CAPABILITY(MAC_OVERRIDE), CAPABILITY(MKNOD), CAPABILITY(NET_ADMIN),
	CAPABILITY(NET_BIND_SERVICE), CAPABILITY(NET_BROADCAST),
	CAPABILITY(NET_RAW), CAPABILITY(PERFMON), CAPABILITY(SETFCAP),
	CAPABILITY(SETGID), CAPABILITY(SETPCAP), CAPABILITY(SETUID),
	CAPABILITY(SYSLOG), CAPABILITY(SYS_ADMIN), CAPABILITY(SYS_BOOT),
	CAPABILITY(SYS_CHROOT), CAPABILITY(SYS_MODULE), CAPABILITY(SYS_NICE),
	CAPABILITY(SYS_PACCT), CAPABILITY(SYS_PTRACE), CAPABILITY(SYS_RAWIO),
	CAPABILITY(SYS_RESOURCE), CAPABILITY(SYS_TIME),
	CAPABILITY(SYS_TTY_CONFIG), CAPABILITY(WAKE_ALARM),
#undef CAPABILITY
};
/* clang-format on */

static uint64_t capabilities_asked(const struct release_check *check)
{
	size_t count = sizeof(capability_numbers) / sizeof(*capability_numbers);
	uint64_t set = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, release_part(check, "CapAdd")) {
		const char *name = cJSON_GetStringValue(item);

		for (size_t i = 0; name && i < count; i++)
			if (!strcmp(capability_numbers[i].name, name))
				set |= UINT64_C(1)
				       << capability_numbers[i].number;
	}
	return set;
}

static int check_capabilities(const struct release_check *check,
			      const char *status, struct error *err)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff",
					    "CapBnd", "CapAmb" };
	uint64_t asked = capabilities_asked(check);

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		owned_free char *line = sysfs_line(status, sets[i], ':');
		uint64_t has = line ? strtoull(line, NULL, 16) : UINT64_MAX;

		if (has & ~asked)
			return error_set(err, EPERM,
					 "capabilities: the container has more "
					 "than the job asked for (%s "
					 "%016" PRIx64 ", asked %016" PRIx64
					 ")",
					 sets[i], has, asked);
	}
	return 0;
}

static bool security_is_asked(const struct release_check *check,
			      const char *option)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, release_part(check, "SecurityOpt"))
		if (cJSON_IsString(item) && !strcmp(item->valuestring, option))
			return true;
	return policy_matches(&check->policy->lists[POLICY_SECURITY], option);
}

static bool status_is(const char *status, const char *key, const char *value)
{
	owned_free char *line = sysfs_line(status, key, ':');

	return line && !strcmp(line, value);
}

static int check_status(const struct release_check *check, int process,
			struct error *err)
{
	owned(buffer_clear) struct buffer status =
		BUFFER_INIT(PROCESS_TEXT_MAX);
	owned(buffer_clear) struct buffer uids = BUFFER_INIT(PROCESS_TEXT_MAX);
	owned(buffer_clear) struct buffer gids = BUFFER_INIT(PROCESS_TEXT_MAX);
	uint64_t uid, gid;

	if (file_read(process, "status", &status, err) < 0 ||
	    file_read(process, "uid_map", &uids, err) < 0 ||
	    file_read(process, "gid_map", &gids, err) < 0)
		return -1;
	if (!status_number(status.data, uids.data, "Uid", 1, &uid) ||
	    !status_number(status.data, gids.data, "Gid", 1, &gid))
		return error_set(err, EPROTO, "status: not valid");
	if (release_check_user(check, uid, gid, err) < 0 ||
	    release_check_groups(check, status.data, gids.data, gid, err) < 0 ||
	    check_capabilities(check, status.data, err) < 0)
		return -1;
	if (!status_is(status.data, "NoNewPrivs", "1"))
		return error_set(err, EPERM,
				 "security: the container can gain privileges: "
				 "the engine did not set no-new-privileges");
	if (!status_is(status.data, "Seccomp", "2") &&
	    !security_is_asked(check, "seccomp=unconfined"))
		return error_set(err, EPERM,
				 "security: the engine has no seccomp profile; "
				 "security: [seccomp=unconfined] in %.60s "
				 "allows that",
				 check->policy->file);
	return 0;
}

static int check_program(const struct release_check *check, int process,
			 struct error *err)
{
	struct stat has, ours;

	if (fstatat(process, "exe", &has, 0) < 0)
		return error_errno(err, "program of process 1");
	if (stat(check->init_program, &ours) < 0)
		return error_errno(err, "%.100s", check->init_program);
	if (has.st_dev == ours.st_dev && has.st_ino == ours.st_ino)
		return 0;
	return error_set(err, EPERM,
			 "process 1 of the container is not regatta-init");
}

/* Open /proc/PID of a container's process 1. -1 with *err set. */
static int process_open(pid_t pid, struct error *err)
{
	owned(buffer_clear) struct buffer status =
		BUFFER_INIT(PROCESS_TEXT_MAX);
	owned_free char *numbers = NULL;
	owned_fd int process = -1;
	const char *last;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0 || file_read(process, "status", &status, err) < 0)
		return error_set(err, ESRCH, "%s: no such process", path);
	numbers = sysfs_line(status.data, "NSpid", ':');
	last = numbers ? strrchr(numbers, '\t') : NULL;
	if (!last || strcmp(last, "\t1") != 0)
		return error_set(err, ESRCH,
				 "%s is not process 1 of a container", path);
	return take_fd(&process);
}

int release_check_mounts(const struct release_check *check, pid_t pid,
			 struct error *err)
{
	owned_fd int process = process_open(pid, err);

	return process < 0 ? -1 : check_rows(check, process, err);
}

int release_check_run(const struct release_check *check, pid_t pid,
		      struct error *err)
{
	owned_fd int process = process_open(pid, err);

	if (process < 0 || check_rows(check, process, err) < 0 ||
	    (!check->policy->any && check_status(check, process, err) < 0) ||
	    check_program(check, process, err) < 0)
		return -1;
	return check->policy->any ? 0
				  : release_check_devices(check, process, err);
}

bool release_check_has(pid_t pid, const char *out)
{
	owned_fd int process = process_open(pid, NULL);
	owned_fd int root = -1, inside = -1;
	struct stat folder, ours, has;

	if (process < 0)
		return false;
	root = openat(process, "root", O_PATH | O_CLOEXEC);
	if (root < 0)
		return false;
	inside = open_inside(root, CONTAINER_OUT, &folder);
	return inside >= 0 && fstat(inside, &has) == 0 &&
	       stat(out, &ours) == 0 && has.st_dev == ours.st_dev &&
	       has.st_ino == ours.st_ino;
}
