#include "rl/world/dynamics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "rl/nn/gradient_sum.h"
#include "rl/nn/init.h"

namespace regraft::rl {

using nn::Matrix;
using nn::Tape;
using nn::Var;

namespace {

constexpr float kSavedWeight = 10, kMaskWeight = 5, kChangeWeight = 10;
constexpr float kSavedScale = 10;  // percent
constexpr float kChangeDelta = 0.1F;

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// How many of an offered rule's places are told apart.
int32_t places_told(float count, int32_t locations) {
  return static_cast<int32_t>(std::min(static_cast<float>(locations), count));
}
float count_told(float log_count) {
  return std::clamp(std::round(std::expm1(log_count)), 1.0F, 1000.0F);
}

}  // namespace

/// The places that occur somewhere in a batch. What a place changes is told of these alone, as few
/// rules have many places.
struct Dynamics::Places {
  std::vector<int32_t> columns;  ///< of the head
  std::vector<int64_t> first;    ///< by slot: which of them is its first place

  /// `most`: of each slot, how many.
  Places(const std::vector<int32_t>& most, int32_t locations) {
    for (size_t slot = 0; slot < most.size(); ++slot) {
      first.push_back(static_cast<int64_t>(columns.size()));
      for (int32_t place = 0; place < most[slot]; ++place)
        columns.push_back(static_cast<int32_t>(slot) * locations + place);
    }
    if (columns.empty()) columns.push_back(0);
  }
  int64_t size() const { return static_cast<int64_t>(columns.size()); }
};

namespace {

std::vector<int32_t> most_places(std::span<const Track* const> tracks, int32_t slots,
                                 int32_t locations) {
  std::vector<int32_t> most(static_cast<size_t>(slots), 0);
  for (const Track* track : tracks)
    for (size_t t = 1; t <= track->steps(); ++t)
      for (size_t k = 0; k < most.size(); ++k)
        most[k] = std::max(most[k], places_told(track->offers[t].counts[k], locations));
  return most;
}

/// Episodes side by side, padded; row t * episodes + e is step t of episode e.
struct Sequences {
  Matrix<float> z, step, saved, end, end_weight, mask, count;
  Matrix<float> change, present;  // by place of those that occur
  Matrix<float> real;             // 1, or 0 in padding
  std::vector<Choice> choices;
};

void put_step(Sequences& s, int64_t row, const Track& track, size_t t, double end_weight,
              std::span<const int64_t> first) {
  auto at = static_cast<int64_t>(t);
  bool ends = track.terminated && t + 1 == track.steps();
  s.z.row(row) = track.z.row(at);
  s.step.row(row) = track.z.row(at + 1) - track.z.row(at);
  s.saved(row, 0) = track.saved[t + 1] / kSavedScale;
  s.end(row, 0) = ends;
  s.end_weight(row, 0) = ends ? static_cast<float>(end_weight) : 1;
  s.real(row, 0) = 1;
  s.choices[static_cast<size_t>(row)] = track.choices[t];
  const Offers& next = track.offers[t + 1];
  for (int64_t k = 0; k < s.mask.cols(); ++k) {
    float n = next.counts[static_cast<size_t>(k)];
    s.mask(row, k) = n > 0;
    s.count(row, k) = std::log1p(n);
    for (int32_t place = 0; place < places_told(n, next.locations); ++place) {
      s.present(row, first[static_cast<size_t>(k)] + place) = 1;
      s.change(row, first[static_cast<size_t>(k)] + place) =
          next.change({static_cast<int32_t>(k), place});
    }
  }
}

Sequences lay_out(std::span<const Track* const> tracks, size_t length, int64_t slots,
                  int64_t places, std::span<const int64_t> first, const DynamicsOptions& o) {
  auto episodes = static_cast<int64_t>(tracks.size());
  int64_t rows = episodes * static_cast<int64_t>(length);
  auto zeros = [&](int64_t columns) { return Matrix<float>(Matrix<float>::Zero(rows, columns)); };
  Sequences s{zeros(o.latent), zeros(o.latent), zeros(1),      zeros(1), zeros(1), zeros(slots),
              zeros(slots),    zeros(places),   zeros(places), zeros(1), {}};
  s.choices.assign(static_cast<size_t>(rows), {o.capacity + 1, 0});
  for (int64_t e = 0; e < episodes; ++e)
    for (size_t t = 0; t < tracks[static_cast<size_t>(e)]->steps(); ++t)
      put_step(s, static_cast<int64_t>(t) * episodes + e, *tracks[static_cast<size_t>(e)], t,
               o.end_weight, first);
  return s;
}

/// To the vectors that steps start from; where they lead stays the same. Drawn episode by episode,
/// so that padding changes nothing.
void add_noise(Sequences& s, int64_t episodes, double noise, Rng& rng) {
  for (int64_t e = 0; e < episodes; ++e)
    for (int64_t row = e; row < s.z.rows() && s.real(row, 0) > 0; row += episodes)
      for (int64_t k = 0; k < s.z.cols(); ++k) {
        auto x = static_cast<float>(noise * nn::normal(rng));
        s.z(row, k) += x;
        s.step(row, k) -= x;
      }
}

/// As the heads tell it of a slot; `count`: log(1 + places), `change` begins with its first place.
void offer(Offers& offers, int32_t slot, float count, const float* change) {
  const float n = count_told(count);
  offers.counts[static_cast<size_t>(slot)] = static_cast<int16_t>(n);
  const int32_t told = places_told(n, offers.locations);
  for (Choice c{slot, 0}; c.location < told; ++c.location) offers.change(c) = change[c.location];
}

/// Minus the log likelihood of a yes or no, by number.
Var surprise(Tape<float>& tape, Var logits, Matrix<float> truth) {
  return tape.sub(tape.softplus(logits), tape.mul(logits, tape.constant(std::move(truth))));
}

size_t longest(std::span<const Track* const> tracks) {
  size_t most = 0;
  for (const Track* t : tracks) most = std::max(most, t->steps());
  return most;
}

size_t all_steps(std::span<const Track* const> tracks) {
  size_t sum = 0;
  for (const Track* t : tracks) sum += t->steps();
  return sum;
}

}  // namespace

Dynamics::Dynamics(const DynamicsOptions& o, uint64_t seed) : options_(o) {
  auto& p = parameters_;
  Rng rng(seed);
  rules_ = p.add("m.rules", o.capacity + 2, o.action);
  p.value(rules_) = nn::orthogonal(o.capacity + 2, o.action, 3, rng).cast<float>();
  places_ = p.add("m.places", o.locations, o.locations);
  p.value(places_).setIdentity();
  int64_t in = o.latent + o.action + o.locations, told = in + o.hidden;
  lstm_ = nn::Lstm::make(p, rng, "m.lstm", in, o.hidden);
  mixture_ = {o.components, o.latent};
  mixture_in_ = nn::Linear::make(p, rng, "m.mixture", told, mixture_.width(), 0.3);
  saved_ = nn::Mlp::make(p, rng, "m.saved", {told, o.heads, 1});
  end_ = nn::Mlp::make(p, rng, "m.end", {told, o.heads, 1});
  offers_ = nn::Linear::make(p, rng, "m.offers", told, o.heads, std::numbers::sqrt2);
  mask_ = nn::Linear::make(p, rng, "m.mask", o.heads, o.capacity, 1);
  count_ = nn::Linear::make(p, rng, "m.count", o.heads, o.capacity, 1);
  change_ = nn::Linear::make(p, rng, "m.change", o.heads, o.capacity * o.locations, 1);
  adam_ = nn::Adam<float>(p);
}

Var Dynamics::inputs(Tape<float>& tape, Var z, std::span<const Choice> choices) const {
  std::vector<int32_t> slots, places;
  for (const Choice& c : choices) {
    slots.push_back(c.slot);
    places.push_back(std::min(c.location, options_.locations - 1));
  }
  return tape.concat_columns({z, tape.gather_rows(tape.parameter(rules_), slots),
                              tape.gather_rows(tape.parameter(places_), places)});
}

Dynamics::Heads Dynamics::heads(Tape<float>& tape, Var memory, Var inputs, int32_t slots) const {
  Var told = tape.concat_columns({memory, inputs});
  Var offers = tape.relu(offers_(tape, told));
  auto first = [&](const nn::Linear& layer, int64_t columns) {
    return tape.linear(offers, tape.slice_columns(tape.parameter(layer.weight), 0, columns),
                       tape.slice_columns(tape.parameter(layer.bias), 0, columns));
  };
  return {mixture_in_(tape, told), saved_(tape, told),   end_(tape, told),
          first(mask_, slots),     first(count_, slots), offers};
}

Var Dynamics::change(Tape<float>& tape, Var offers, const Places& places) const {
  return tape.linear(offers, tape.gather_columns(tape.parameter(change_.weight), places.columns),
                     tape.gather_columns(tape.parameter(change_.bias), places.columns));
}

Memory Dynamics::start(int64_t rows) const {
  Matrix<float> zeros = Matrix<float>::Zero(rows, options_.hidden);
  return {zeros, zeros};
}

Imagined Dynamics::step(const Matrix<float>& z, std::span<const Choice> choices, Memory& memory,
                        int32_t slots, double tau, std::span<Rng> rngs) const {
  CHECK(static_cast<size_t>(z.rows()) == choices.size() && choices.size() == rngs.size());
  Tape<float> tape(parameters_, nullptr);
  Var x = inputs(tape, tape.constant(z), choices);
  auto state = lstm_(tape, x, {tape.constant(memory.h), tape.constant(memory.c)});
  Heads told = heads(tape, state.h, x, slots);
  memory = {tape.value(state.h), tape.value(state.c)};
  Imagined next{z, {}, {}, tape.value(told.mask).unaryExpr(&sigmoid), {}};
  const auto &saved = tape.value(told.saved), &end = tape.value(told.end);
  const auto &mixture = tape.value(told.mixture), &count = tape.value(told.count);
  std::vector<int32_t> most(static_cast<size_t>(slots), 0);
  for (int64_t k = 0; k < z.rows(); ++k)
    for (int32_t s = 0; s < slots; ++s)
      if (next.mask(k, s) > 0.5F)
        most[static_cast<size_t>(s)] = std::max(
            most[static_cast<size_t>(s)], places_told(count_told(count(k, s)), options_.locations));
  const Places places(most, options_.locations);
  const auto& changes = tape.value(change(tape, told.offers, places));
  for (int64_t k = 0; k < z.rows(); ++k) {
    auto at = static_cast<size_t>(k);
    next.z.row(k) += mixture_.sample<float>(mixture.row(k), tau, rngs[at]).row(0);
    next.saved.push_back(kSavedScale * saved(k, 0));
    next.ends.push_back(sigmoid(end(k, 0)));
    Offers offers(options_.capacity, options_.locations);
    for (int32_t s = 0; s < slots; ++s)
      if (next.mask(k, s) > 0.5F)
        offer(offers, s, count(k, s), changes.row(k).data() + places.first[static_cast<size_t>(s)]);
    next.offers.push_back(std::move(offers));
  }
  next.z = next.z.cwiseMax(-1).cwiseMin(1);
  return next;
}

Memory Dynamics::recall(const Track& track) const {
  auto n = static_cast<int64_t>(track.steps());
  Memory all = start(n + 1);
  Tape<float> tape(parameters_, nullptr);
  Var x = inputs(tape, tape.constant(track.z.topRows(n)), track.choices);
  auto state = lstm_.start(tape, 1);
  for (int64_t t = 0; t < n; ++t) {
    state = lstm_(tape, tape.slice_rows(x, t, 1), state);
    all.h.row(t + 1) = tape.value(state.h).row(0);
    all.c.row(t + 1) = tape.value(state.c).row(0);
  }
  return all;
}

DynamicsLosses Dynamics::loss(std::span<const Track* const> tracks, size_t length, int32_t slots,
                              size_t of, uint64_t seed, nn::Gradients<float>* into) const {
  CHECK(length >= longest(tracks) && of > 0 && length > 0);
  const Places places(most_places(tracks, slots, options_.locations), options_.locations);
  Sequences s = lay_out(tracks, length, slots, places.size(), places.first, options_);
  auto episodes = static_cast<int64_t>(tracks.size());
  Rng rng(seed);
  add_noise(s, episodes, options_.noise, rng);
  Tape<float> tape(parameters_, into);
  Var x = inputs(tape, tape.constant(s.z), s.choices);
  auto state = lstm_.start(tape, episodes);
  std::vector<Var> memories;
  for (size_t t = 0; t < length; ++t) {
    state = lstm_(tape, tape.slice_rows(x, static_cast<int64_t>(t) * episodes, episodes), state);
    memories.push_back(state.h);
  }
  Heads told = heads(tape, tape.concat_rows(memories), x, slots);
  Var real = tape.constant(s.real);
  auto mean = [&](Var terms, int64_t columns) {
    float share = 1 / static_cast<float>(of) / static_cast<float>(columns);
    return tape.scale(tape.sum(tape.mul_column(terms, real)), share);
  };
  Var latent = mean(mixture_.negative_log_likelihood(tape, told.mixture, tape.constant(s.step)),
                    options_.latent);
  Var saved = mean(tape.huber(tape.sub(told.saved, tape.constant(s.saved)), 1), 1);
  Var end = mean(tape.mul(surprise(tape, told.end, s.end), tape.constant(s.end_weight)), 1);
  Var mask = mean(surprise(tape, told.mask, s.mask), slots);
  Var count = mean(tape.huber(tape.sub(told.count, tape.constant(s.count)), 1), slots);
  Var wrong = tape.mul(tape.sub(change(tape, told.offers, places), tape.constant(s.change)),
                       tape.constant(s.present));
  Var changed = mean(tape.huber(wrong, kChangeDelta), slots);
  Var total = tape.add(tape.add(latent, tape.scale(saved, kSavedWeight)),
                       tape.add(tape.add(end, tape.scale(mask, kMaskWeight)),
                                tape.add(count, tape.scale(changed, kChangeWeight))));
  if (into) tape.backward(total);
  return {tape.scalar(latent), tape.scalar(saved), tape.scalar(end),
          tape.scalar(mask),   tape.scalar(count), tape.scalar(changed)};
}

DynamicsLosses Dynamics::train(std::span<const Track* const> tracks, int32_t slots, int updates,
                               double rate, Rng& rng, int threads, const Stop& stop) {
  CHECK(!tracks.empty() && slots > 0);
  GradientSum gradients(parameters_);
  auto size = static_cast<size_t>(options_.chunk);
  size_t chunks = std::max<size_t>(1, static_cast<size_t>(options_.minibatch) / size);
  DynamicsLosses mean;
  double share = 1 / static_cast<double>(std::max(1, updates));
  for (int update = 0; update < updates && !stop.must_end(); ++update) {
    std::vector<const Track*> chosen(chunks * size);
    for (auto& track : chosen) track = tracks[rng.below(tracks.size())];
    std::ranges::stable_sort(chosen, {}, &Track::steps);
    size_t of = all_steps(chosen);
    uint64_t seed = rng.next();
    std::vector<DynamicsLosses> losses(chunks);
    auto& sum = gradients.of(chunks, threads, [&](size_t k, nn::Gradients<float>& into) {
      auto part = std::span<const Track* const>(chosen).subspan(k * size, size);
      losses[k] = loss(part, longest(part), slots, of, seed + k, &into);
    });
    sum.clip(options_.max_norm);
    adam_.step(parameters_, sum, rate * options_.learning_rate);
    for (const DynamicsLosses& l : losses) {
      mean.latent += share * l.latent, mean.saved += share * l.saved;
      mean.end += share * l.end, mean.mask += share * l.mask, mean.count += share * l.count;
      mean.change += share * l.change;
    }
  }
  return mean;
}

}  // namespace regraft::rl
