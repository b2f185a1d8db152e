#include "cli/library/regraft_env.h"

#include <exception>

#include "base/host.h"
#include "base/parallel.h"
#include "cli/library/environments.h"
#include "cli/library/hosting.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"
#include "ir/algebra/poly.h"

using namespace regraft;
using namespace regraft::cli;

struct regraft_envs {
  std::unique_ptr<Environments> all;
  int status = REGRAFT_DONE;
  std::string message, description, moves;

  int end(int how, std::string said = {}) {
    status = how;
    message = std::move(said);
    while (message.ends_with('\n')) message.pop_back();
    return status;
  }
  int end(const Status& s) {
    return s ? end(REGRAFT_DONE) : end(REGRAFT_BAD_INPUT, s.error().message);
  }
};

namespace {

std::string text_of(const char* text) { return text ? text : ""; }

/// Work that waits for its turn, and whose warnings are kept. `work` ends the call.
template <class Work>
int in_turn(regraft_envs& envs, Work work) {
  std::unique_lock mine(turn());
  try {
    Captured text, said;
    {
      Hosted host(text.stream(), said.stream());
      try {
        work();
      } catch (const InternalError& e) {
        envs.end(REGRAFT_INTERNAL, "internal error: " + e.message);
      }
    }
    if (envs.status == REGRAFT_DONE) envs.end(REGRAFT_DONE, said.text());
  } catch (const std::exception& e) {
    envs.end(REGRAFT_INTERNAL, std::string("internal error: ") + e.what());
  }
  return envs.status;
}

/// Work of environments in any thread, beside others. What fails inside leaves them in no state to
/// go on with; they are not even destroyed.
template <class Work>
int at_once(regraft_envs& envs, Work work) {
  std::string why;
  try {
    return envs.end(work());
  } catch (const InternalError& e) {
    why = e.message;
  } catch (const PolyOverflow&) {
    why = "a size that is too large";
  } catch (const std::exception& e) {
    why = e.what();
  }
  (void)envs.all.release();
  return envs.end(REGRAFT_INTERNAL, "internal error: " + why);
}

int no_environments(regraft_envs* envs) {
  return envs->end(REGRAFT_BAD_INPUT,
                   "there are no environments: making them failed, or a call since");
}

}  // namespace

int regraft_env_api_version(void) { return REGRAFT_ENV_API_VERSION; }

regraft_envs* regraft_envs_make(const char* options, const regraft_buffer* models, size_t count) {
  auto* envs = new (std::nothrow) regraft_envs;
  if (!envs) return nullptr;
  find_folder();
  throw_failed_checks();
  in_turn(*envs, [&] {
    std::vector<GivenModel> given;
    for (size_t k = 0; k < count; ++k) {
      GivenModel m{text_of(models[k].name), {}};
      if (models[k].data)
        m.bytes = std::string_view(static_cast<const char*>(models[k].data), models[k].size);
      given.push_back(std::move(m));
    }
    auto made = Environments::make(text_of(options), given);
    if (made) envs->all = *std::move(made);
    envs->end(made ? Status() : Status(made.error()));
  });
  return envs;
}

int regraft_envs_status(const regraft_envs* envs) { return envs->status; }

const char* regraft_envs_message(const regraft_envs* envs) { return envs->message.c_str(); }

const char* regraft_envs_description(const regraft_envs* envs) {
  auto* own = const_cast<regraft_envs*>(envs);
  if (own->description.empty())
    own->description = envs->all ? to_text(envs->all->description(), -1) : "{}";
  return envs->description.c_str();
}

int regraft_envs_bind(regraft_envs* envs, void* const* arrays, size_t count) {
  if (!envs->all) return no_environments(envs);
  return at_once(*envs, [&] { return envs->all->bind({arrays, arrays + count}); });
}

int regraft_envs_reset(regraft_envs* envs, const char* options) {
  if (!envs->all) return no_environments(envs);
  return at_once(*envs, [&] { return envs->all->reset(text_of(options)); });
}

int regraft_envs_step(regraft_envs* envs, const int64_t* actions) {
  if (!envs->all) return no_environments(envs);
  return at_once(*envs, [&] { return envs->all->step(actions); });
}

const char* regraft_envs_moves(regraft_envs* envs, size_t environment) {
  envs->moves = "[]";
  if (envs->all)
    at_once(*envs, [&] {
      envs->moves = to_text(envs->all->moves(environment), -1);
      return Status();
    });
  return envs->moves.c_str();
}

int regraft_envs_export(regraft_envs* envs, size_t environment, const char* options) {
  if (!envs->all) return no_environments(envs);
  return in_turn(*envs, [&] {
    auto differs = envs->all->write(environment, text_of(options));
    if (!differs)
      envs->end(REGRAFT_BAD_INPUT, differs.error().message);
    else if (*differs)
      envs->end(REGRAFT_FAILED, **differs);
    else
      envs->end(REGRAFT_DONE);
  });
}

void regraft_envs_free(regraft_envs* envs) { delete envs; }
