#pragma once
// Which step of an optimisation breaks a user's own test.
#include <functional>
#include <string>
#include <vector>

#include "certify/certificate.h"
#include "cli/support/commands.h"
#include "io/model.h"

namespace regraft::cli {

/// Where a sequence of models turns bad: the first bad one is among first .. last. They are one
/// unless models between could not be judged.
struct Turn {
  size_t first = 0, last = 0;
};
enum class Judgement : uint8_t { Good, Bad, Unknown };
/// Number `good` is good and number `bad` > `good` is bad. Asks about as few as it can.
Result<Turn> find_turn(size_t good, size_t bad,
                       const std::function<Result<Judgement>(size_t)>& judge);

struct Bisection {
  const io::Imported& model;
  const certify::Certificate& certificate;
  bool as_initialisers;  ///< as the result is written
  const BisectFlags& flags;
  std::string out;  ///< the result's path: models that are kept lie beside it
  Verbosity verbosity = Verbosity::Normal;
};
/// What `bisect` writes beside the output: the last good model and the first bad one, or nothing.
std::vector<std::string> kept_models(const BisectFlags& flags, const std::string& out);
/// Runs the command on the model after some of its steps, each written to a temporary folder, and
/// says which step breaks it. Returns the exit code: kDone where the command passes on the result,
/// kFailed where a step was found or no step is to blame, kUndecided where the command cannot tell.
/// An Error: a model cannot be made or written, the command cannot be run, or `stop` came first.
Result<int> bisect(const Bisection& asked, const Stop& stop);

}  // namespace regraft::cli
