#include "rl/world/dream.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "rl/environment/episodes.h"

namespace regraft::rl {

using nn::Matrix;
using nn::Tape;

namespace {

constexpr size_t kChunk = 32;  // dreams side by side
constexpr float kTrust = 1;    // percent

/// One dream while it goes on.
struct Sleeper {
  std::vector<int32_t> rows;  // of its steps in Chunk::z
  std::vector<Sample> samples;
  std::vector<float> rewards, values;
  double bootstrap = 0;
  Balance balance;
};

/// Dreams that the dynamics model steps together.
struct Chunk {
  std::vector<Eigen::RowVectorXf> z;  // by step, in the order in which they were taken
  std::vector<Offers> offers;
  std::vector<Sleeper> sleepers;
  // Those that go on, by row:
  std::vector<size_t> awake;
  std::vector<Rng> rngs;
  Matrix<float> state;
  std::vector<Offers> offered;
  Memory memory;
};

Matrix<float> pick(const Matrix<float>& from, const std::vector<size_t>& rows) {
  Matrix<float> m(static_cast<int64_t>(rows.size()), from.cols());
  for (size_t k = 0; k < rows.size(); ++k)
    m.row(static_cast<int64_t>(k)) = from.row(static_cast<int64_t>(rows[k]));
  return m;
}
template <class T>
std::vector<T> pick(const std::vector<T>& from, const std::vector<size_t>& rows) {
  std::vector<T> all;
  for (size_t k : rows) all.push_back(from[k]);
  return all;
}

Chunk begin(const Dynamics& dynamics, std::span<const DreamStart> starts, size_t first,
            uint64_t seed) {
  Chunk c;
  auto n = static_cast<int64_t>(starts.size());
  c.state.resize(n, dynamics.options().latent);
  c.memory = dynamics.start(n);
  c.sleepers.resize(starts.size());
  for (int64_t k = 0; k < n; ++k) {
    const DreamStart& s = starts[static_cast<size_t>(k)];
    c.state.row(k) = s.z;
    c.memory.h.row(k) = s.h;
    c.memory.c.row(k) = s.c;
    c.offered.push_back(s.offers);
    c.sleepers[static_cast<size_t>(k)].balance = {s.saved, s.saved};
    c.awake.push_back(static_cast<size_t>(k));
    c.rngs.emplace_back(combine(seed, first + static_cast<size_t>(k)));
  }
  return c;
}

void keep(Chunk& c, const std::vector<size_t>& rows) {
  c.awake = pick(c.awake, rows);
  c.rngs = pick(c.rngs, rows);
  c.offered = pick(c.offered, rows);
  c.state = pick(c.state, rows);
  c.memory = {pick(c.memory.h, rows), pick(c.memory.c, rows)};
}

int32_t draw(const Controller::Output& o, const Matrix<float>& log_probs, size_t k, Rng& rng) {
  double left = rng.unit();
  int32_t last = o.first_action[k + 1] - 1;
  for (int32_t at = o.first_action[k]; at < last; ++at)
    if ((left -= std::exp(log_probs(at, 0))) < 0) return at;
  return last;
}

std::vector<const Offers*> pointers(const std::vector<Offers>& all) {
  std::vector<const Offers*> p;
  for (const Offers& c : all) p.push_back(&c);
  return p;
}

/// What the controller does in each row; written down as steps.
std::vector<Choice> act(Chunk& c, const Controller& controller, DreamOptions::Acting acting) {
  Tape<float> tape(controller.parameters(), nullptr);
  auto out = controller.forward(tape, c.state, pointers(c.offered));
  const auto &log_probs = tape.value(out.log_probs), &values = tape.value(out.values);
  std::vector<Choice> chosen;
  for (size_t k = 0; k < c.awake.size(); ++k) {
    int32_t at = acting == DreamOptions::Acting::Drawn ? draw(out, log_probs, k, c.rngs[k])
                                                       : most_wanted(out, log_probs, k);
    Sleeper& s = c.sleepers[c.awake[k]];
    s.rows.push_back(static_cast<int32_t>(c.z.size()));
    s.samples.push_back({0, at - out.first_action[k], log_probs(at, 0), 0, 0});
    s.values.push_back(values(static_cast<int64_t>(k), 0));
    c.z.emplace_back(c.state.row(static_cast<int64_t>(k)));
    c.offers.push_back(c.offered[k]);
    chosen.push_back(out.choices[static_cast<size_t>(at)]);
  }
  return chosen;
}

void advance(Chunk& c, const Dynamics& dynamics, const std::vector<Choice>& chosen, int32_t slots,
             double tau) {
  Imagined next = dynamics.step(c.state, chosen, c.memory, slots, tau, c.rngs);
  std::vector<size_t> on;
  for (size_t k = 0; k < chosen.size(); ++k) {
    Sleeper& s = c.sleepers[c.awake[k]];
    bool stops = chosen[k].slot == dynamics.options().capacity;
    float before = s.balance.saved;
    if (!stops) s.balance.pay(c.offered[k], chosen[k], next.saved[k]);
    s.rewards.push_back(s.balance.saved - before);
    if (!stops && next.ends[k] <= 0.5F) on.push_back(k);
  }
  c.state = std::move(next.z);
  c.offered = std::move(next.offers);
  keep(c, on);
}

void value_the_rest(Chunk& c, const Controller& controller) {
  if (c.awake.empty()) return;
  Tape<float> tape(controller.parameters(), nullptr);
  auto out = controller.forward(tape, c.state, pointers(c.offered));
  for (size_t k = 0; k < c.awake.size(); ++k)
    c.sleepers[c.awake[k]].bootstrap = tape.value(out.values)(static_cast<int64_t>(k), 0);
}

Dreams gather(const std::vector<Chunk>& chunks, int latent, const DreamOptions& options) {
  Dreams all;
  std::vector<const Eigen::RowVectorXf*> rows;
  for (const Chunk& c : chunks)
    for (const Sleeper& s : c.sleepers) {
      Advantages a = gae(s.rewards, s.values, s.bootstrap, options.discount, options.lambda);
      for (size_t t = 0; t < s.samples.size(); ++t) {
        Sample sample = s.samples[t];
        sample.state = static_cast<int32_t>(rows.size());
        sample.advantage = a.advantages[t];
        sample.target = a.targets[t];
        all.samples.push_back(sample);
        rows.push_back(&c.z[static_cast<size_t>(s.rows[t])]);
        all.offers.push_back(c.offers[static_cast<size_t>(s.rows[t])]);
      }
      all.gains.push_back(most_saved(s.rewards));
    }
  all.z.resize(static_cast<int64_t>(rows.size()), latent);
  for (size_t k = 0; k < rows.size(); ++k) all.z.row(static_cast<int64_t>(k)) = *rows[k];
  all.length =
      static_cast<double>(rows.size()) / static_cast<double>(std::max<size_t>(1, all.gains.size()));
  return all;
}

}  // namespace

void Balance::pay(const Offers& offers, const Choice& choice, float whole) {
  sum += saving(offers.change(choice));
  saved = std::clamp(sum, whole - kTrust, whole + kTrust);
}

int32_t most_wanted(const Controller::Output& o, const Matrix<float>& log_probs, size_t state) {
  int32_t best = -1, rule_best = -1, slot = -1;
  double wanted = -1, sum = 0;
  for (int32_t at = o.first_action[state]; at < o.first_action[state + 1]; ++at) {
    int32_t of = o.choices[static_cast<size_t>(at)].slot;
    if (of != slot) sum = 0, rule_best = at, slot = of;
    sum += std::exp(log_probs(at, 0));
    if (log_probs(at, 0) > log_probs(rule_best, 0)) rule_best = at;
    if (sum > wanted) wanted = sum, best = rule_best;
  }
  return best;
}

DreamStart start_at(const Track& track, const Memory& memory, size_t step) {
  auto at = static_cast<int64_t>(step);
  return {track.z.row(at),    memory.h.row(at),  memory.c.row(at),
          track.offers[step], track.saved[step], static_cast<int32_t>(step)};
}

Dreams dream(const Dynamics& dynamics, const Controller& controller,
             std::span<const DreamStart> starts, int32_t slots, const DreamOptions& options,
             uint64_t seed, int threads) {
  std::vector<Chunk> chunks((starts.size() + kChunk - 1) / kChunk);
  parallel_for(chunks.size(), threads, [&](size_t k) {
    auto part = starts.subspan(k * kChunk, std::min(kChunk, starts.size() - k * kChunk));
    Chunk& c = chunks[k] = begin(dynamics, part, k * kChunk, seed);
    for (int step = 0; step < options.horizon && !c.awake.empty(); ++step)
      advance(c, dynamics, act(c, controller, options.acting), slots, options.tau);
    value_the_rest(c, controller);
  });
  return gather(chunks, dynamics.options().latent, options);
}

Evaluate evaluate_dreams(const Controller& controller, const Dreams& dreams) {
  return [&](Tape<float>& tape, std::span<const int32_t> chosen) -> Evaluation {
    std::vector<const Offers*> offers;
    std::vector<size_t> rows;
    for (int32_t k : chosen) {
      rows.push_back(static_cast<size_t>(dreams.samples[static_cast<size_t>(k)].state));
      offers.push_back(&dreams.offers[rows.back()]);
    }
    auto out = controller.forward(tape, pick(dreams.z, rows), offers);
    return {out.log_probs, std::move(out.first_action), out.values};
  };
}

}  // namespace regraft::rl
