/* The header is C. */
#include "cli/library/regraft.h"

int header_version(void) {
  regraft_buffer none = {0, 0, 0};
  return none.size == 0 ? REGRAFT_API_VERSION : 0;
}
