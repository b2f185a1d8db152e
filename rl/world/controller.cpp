#include "rl/world/controller.h"

#include <cmath>

#include "base/check.h"
#include "rl/nn/init.h"

namespace regraft::rl {

using nn::Matrix;
using nn::Tape;
using nn::Var;

namespace {

/// Rows of the states' offers: a pair is a rule in a state, an action a place of a pair.
struct Rows {
  std::vector<int32_t> pair_state, pair_slot;
  std::vector<int32_t> action_pair, action_place, first_action{0};
  std::vector<Choice> choices;
  std::vector<float> pair_seen;  // kSeen for each: the best change, and how many places
  std::vector<float> action_change;
};
constexpr int kSeen = 2;

/// A described change so that a tenth of a percent is about 1.
float spread(float change) { return std::copysign(std::log1p(20 * std::abs(change)), change); }

Rows lay_out(std::span<const Offers* const> offers) {
  Rows o;
  for (size_t k = 0; k < offers.size(); ++k) {
    for (const Choice& c : choices(*offers[k])) {
      bool stops = static_cast<size_t>(c.slot) == offers[k]->counts.size();
      float change = stops ? 0 : spread(offers[k]->change(c));
      if (c.location == 0) {
        o.pair_state.push_back(static_cast<int32_t>(k));
        o.pair_slot.push_back(c.slot);
        float count = stops ? 0 : offers[k]->counts[static_cast<size_t>(c.slot)];
        o.pair_seen.insert(o.pair_seen.end(), {change, std::log1p(count)});
      }
      o.action_pair.push_back(static_cast<int32_t>(o.pair_state.size()) - 1);
      o.action_place.push_back(c.location);
      o.action_change.push_back(change);
      o.choices.push_back(c);
    }
    o.first_action.push_back(static_cast<int32_t>(o.choices.size()));
  }
  return o;
}

Matrix<float> rows_of(const std::vector<float>& numbers, int64_t columns) {
  return Eigen::Map<const Matrix<float>>(numbers.data(),
                                         static_cast<int64_t>(numbers.size()) / columns, columns);
}

void put(nn::Parameters<float>& p, int at, double gain, Rng& rng) {
  p.value(at) = nn::orthogonal(p.value(at).rows(), p.value(at).cols(), gain, rng).cast<float>();
}

}  // namespace

Controller::Controller(const ControllerOptions& o, uint64_t seed) : options_(o) {
  auto& p = parameters_;
  Rng rng(seed);
  body_ = nn::Mlp::make(p, rng, "c.body", {o.latent, o.hidden, o.hidden});
  rules_ = p.add("c.rules", o.capacity + 1, o.hidden);
  biases_ = p.add("c.biases", o.capacity + 1, 1);
  p.value(biases_)(o.capacity, 0) = static_cast<float>(o.stop_bias);
  place_in_ = nn::Linear::make(p, rng, "c.place", o.hidden, o.hidden, 1);
  rule_places_ = p.add("c.rule_places", o.capacity + 1, o.hidden);
  places_ = p.add("c.places", o.locations, o.hidden);
  seen_ = p.add("c.seen", kSeen, o.hidden);
  lean_ = p.add("c.lean", kSeen, 1);
  lean_place_ = p.add("c.lean_place", 1, 1);
  for (int at : {rules_, places_}) put(p, at, 0.01, rng);
  put(p, seen_, 1, rng);
  put(p, rule_places_, 1, rng);
  nn::MlpOptions small;
  small.last_gain = 0.1;
  value_ = nn::Mlp::make(p, rng, "c.value", {o.latent, o.hidden, o.hidden, 1}, small);
  adam_ = nn::Adam<float>(p);
}

Controller::Output Controller::forward(Tape<float>& tape, const Matrix<float>& z,
                                       std::span<const Offers* const> offers) const {
  CHECK(static_cast<size_t>(z.rows()) == offers.size());
  Rows o = lay_out(offers);
  auto states = z.rows();
  auto pairs = static_cast<int64_t>(o.pair_state.size());
  nn::Indices pair_state(o.pair_state), pair_slot(o.pair_slot), action_pair(o.action_pair);
  Var seen = tape.constant(z);
  Var body = body_(tape, seen);
  Var pair_seen = tape.constant(rows_of(o.pair_seen, kSeen));
  Var rule_rows = tape.gather_rows(tape.parameter(rules_), pair_slot);
  Var pair_body = tape.relu(
      tape.add(tape.gather_rows(body, pair_state), tape.matmul(pair_seen, tape.parameter(seen_))));
  Var rule_logits = tape.add(tape.row_sum(tape.mul(pair_body, rule_rows)),
                             tape.add(tape.gather_rows(tape.parameter(biases_), pair_slot),
                                      tape.matmul(pair_seen, tape.parameter(lean_))));
  Var rules = tape.segment_log_softmax(rule_logits, pair_state, states);
  Var places = tape.relu(tape.add(tape.gather_rows(place_in_(tape, tape.relu(body)), pair_state),
                                  tape.gather_rows(tape.parameter(rule_places_), pair_slot)));
  Var place_rows = tape.gather_rows(tape.parameter(places_), o.action_place);
  Var change = tape.constant(rows_of(o.action_change, 1));
  Var place_logits =
      tape.add(tape.row_sum(tape.mul(tape.gather_rows(places, action_pair), place_rows)),
               tape.matmul(change, tape.parameter(lean_place_)));
  Var place = tape.segment_log_softmax(place_logits, action_pair, pairs);
  return {tape.add(tape.gather_rows(rules, action_pair), place), std::move(o.first_action),
          std::move(o.choices), value_(tape, seen)};
}

}  // namespace regraft::rl
