/* installed.c - where the installed parts of Regatta lie.
 */
#include "protocol/config/installed.h"

const char installed_settings[] = REGATTA_ETC;
const char installed_data[] = REGATTA_DATA;
const char installed_library[] = REGATTA_LIB;

const char installed_agent_yaml[] = REGATTA_ETC "/agent.yaml";
const char installed_controller_yaml[] = REGATTA_ETC "/controller.yaml";
const char installed_operator_yaml[] = REGATTA_ETC "/operator.yaml";
const char installed_policy_yaml[] = REGATTA_ETC "/policy.yaml";
const char installed_registry_json[] = REGATTA_ETC "/registry.json";

const char installed_images[] = REGATTA_DATA "/images";
const char installed_init[] = REGATTA_LIB "/regatta-init";
