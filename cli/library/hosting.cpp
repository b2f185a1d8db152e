#include "cli/library/hosting.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "cli/support/commands.h"

namespace regraft::cli {

std::timed_mutex& turn() {
  static std::timed_mutex mutex;
  return mutex;
}

Captured::Captured() : stream_(::open_memstream(&text_, &size_)) { CHECK(stream_); }

Captured::~Captured() {
  std::fclose(stream_);
  std::free(text_);
}

std::string Captured::text() {
  std::fflush(stream_);
  return {text_, size_};
}

void find_folder() {
  static const bool once = [] {
    Dl_info place{};
    if (dladdr(reinterpret_cast<void*>(&find_folder), &place) != 0 && place.dli_fname) {
      std::error_code ignored;
      auto file = std::filesystem::canonical(place.dli_fname, ignored);
      if (!ignored) set_program_folder(file.parent_path().string());
    }
    return true;
  }();
  (void)once;
}

}  // namespace regraft::cli
