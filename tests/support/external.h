#pragma once
// Data and devices that a test needs and the repository does not hold.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Skips the test; under continuous integration (CI=true), where everything that tests need must be
/// there, fails it.
#define SKIP_OUTSIDE_CI(reason)                                                   \
  do {                                                                            \
    if (regraft::test::under_ci()) FAIL() << (reason) << ", and CI must have it"; \
    GTEST_SKIP() << (reason);                                                     \
  } while (false)

namespace regraft::test {

inline bool under_ci() {
  const char* ci = std::getenv("CI");
  return ci && std::string_view(ci) == "true";
}

/// TASO's shipped substitutions: $REGRAFT_TASO_RULES, or the copy beside the checkout.
inline std::optional<std::string> taso_file() {
  const char* given = std::getenv("REGRAFT_TASO_RULES");
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  std::string path =
      given ? given : std::string(root ? root : ".") + "/../shared/taso/graph_subst.pb";
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace regraft::test
