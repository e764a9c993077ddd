/* installed.c - where the installed parts of Regatta are.
 */
#include "protocol/config/installed.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char installed_programs[PATH_MAX];
char installed_settings[PATH_MAX];

char installed_agent_yaml[PATH_MAX];
char installed_controller_yaml[PATH_MAX];
char installed_operator_yaml[PATH_MAX];
char installed_policy_yaml[PATH_MAX];
char installed_registry_json[PATH_MAX];
char installed_slurm_sh[PATH_MAX];

char installed_images[PATH_MAX];
char installed_init[PATH_MAX];

/* Without /proc, the path of a packaged program is assumed. */
static void find_programs(void)
{
	ssize_t length = readlink("/proc/self/exe", installed_programs,
				  sizeof(installed_programs) - 1);
	char *slash;

	if (length < 0)
		length = snprintf(installed_programs,
				  sizeof(installed_programs), "/usr/bin/-");
	installed_programs[length] = 0;
	slash = strrchr(installed_programs, '/');
	if (slash)
		*slash = 0;
}

/* The system's prefixes have their settings in /etc. */
static bool is_system(const char *prefix)
{
	return !*prefix || !strcmp(prefix, "/usr") ||
	       !strncmp(prefix, "/usr/", 5);
}

static void installed_join_path(char path[PATH_MAX], const char *folder,
				const char *name)
{
	snprintf(path, PATH_MAX, "%s%s", folder, name);
}

/* A constructor, as the tables of options name these texts. */
__attribute__((constructor)) static void installed_find(void)
{
	char parts[PATH_MAX], prefix[PATH_MAX] = "";
	const char *name;

	find_programs();
	installed_join_path(parts, installed_programs, "");
	name = strrchr(installed_programs, '/');
	if (name && (!strcmp(name, "/bin") || !strcmp(name, "/sbin"))) {
		snprintf(prefix, sizeof(prefix), "%.*s",
			 (int)(name - installed_programs), installed_programs);
		installed_join_path(parts, prefix, "/lib/regatta");
	}
	installed_join_path(installed_images, parts, "/images");
	installed_join_path(installed_init, parts, "/regatta-init");
	installed_join_path(installed_settings, is_system(prefix) ? "" : prefix,
			    INSTALLED_SYSTEM);
	installed_join_path(installed_agent_yaml, installed_settings,
			    "/agent.yaml");
	installed_join_path(installed_controller_yaml, installed_settings,
			    "/controller.yaml");
	installed_join_path(installed_operator_yaml, installed_settings,
			    "/operator.yaml");
	installed_join_path(installed_policy_yaml, installed_settings,
			    "/policy.yaml");
	installed_join_path(installed_registry_json, installed_settings,
			    "/registry.json");
	installed_join_path(installed_slurm_sh, installed_settings,
			    "/slurm.sh");
}
