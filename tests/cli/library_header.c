/* The headers are C. */
#include "cli/library/regraft.h"
#include "cli/library/regraft_env.h"

int header_version(void) {
  regraft_buffer none = {0, 0, 0};
  return none.size == 0 ? REGRAFT_API_VERSION : 0;
}

int env_header_version(void) {
  regraft_envs_free(0);
  return REGRAFT_ENV_API_VERSION;
}
