#include "cost/runtime/cpu/kernels/tune.h"

#include <algorithm>
#include <mutex>

#include "cost/runtime/cpu/stopwatch.h"

namespace regraft::cost::cpu {

namespace {

struct Memory {
  std::mutex mutex;
  std::map<std::string, std::string> best;  // way by key
};
Memory& memory() {
  static Memory m;
  return m;
}

/// Steps from `first` on, with buffers of their own.
class Trial {
 public:
  Trial(const Program& program, size_t first) {
    part_.slots = program.slots;
    part_.threads = program.threads;
    part_.steps.assign(program.steps.begin() + static_cast<std::ptrdiff_t>(first),
                       program.steps.end());
    auto used = part_.used();
    std::vector<float*> at(part_.slots.size(), nullptr);
    for (size_t k = 0; k < part_.slots.size(); ++k) {
      if (!used[k]) continue;
      buffers_.push_back(std::make_unique<Buffer>(part_.floats(static_cast<int>(k))));
      at[k] = buffers_.back()->data();
    }
    bound_ = std::make_unique<Bound>(part_, at);
  }
  double microseconds() {
    Stopwatch watch(part_.threads);
    bound_->run();
    return watch.microseconds();
  }

 private:
  Program part_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Bound> bound_;
};

/// The least of some runs; gives up early when far above `best`.
double least_time(Trial& trial, double best) {
  constexpr double kHopeless = 1.5, kBudget = 2e4;
  constexpr int kLeast = 3, kMost = 20;
  trial.microseconds();
  double least = trial.microseconds(), spent = least;
  for (int run = 1; run < kMost && (run < kLeast || spent < kBudget); ++run) {
    if (least > kHopeless * best) break;
    double s = trial.microseconds();
    spent += s;
    least = std::min(least, s);
  }
  return least;
}

}  // namespace

size_t fastest(Lowering& to, const std::string& key, const std::vector<std::string>& ways,
               const std::function<void(size_t)>& emit) {
  {
    std::lock_guard lock(memory().mutex);
    auto it = memory().best.find(key);
    auto known =
        it == memory().best.end() ? ways.end() : std::find(ways.begin(), ways.end(), it->second);
    if (known != ways.end()) return static_cast<size_t>(known - ways.begin());
  }
  size_t best = 0;
  double least = 1e15;
  auto mark = to.mark();
  for (size_t k = 0; k < ways.size(); ++k) {
    emit(k);
    Trial trial(to.program, mark.steps);
    double s = least_time(trial, least);
    if (s < least) least = s, best = k;
    to.rewind(mark);
  }
  std::lock_guard lock(memory().mutex);
  memory().best[key] = ways[best];
  return best;
}

}  // namespace regraft::cost::cpu
