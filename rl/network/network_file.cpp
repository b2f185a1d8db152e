#include "rl/network/network_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "rl/nn/store.h"

namespace regraft::rl {
namespace {

using Rows = nn::Matrix<float>;

/// What the rows of a parameter belong to, where that is something with a name.
struct NamedRows {
  std::string parameter, list;
  std::vector<std::string> names;
};
std::vector<NamedRows> named_rows() {
  return {{"ops", "ops", op_names()}, {"rules.0.w", "rule_columns", rule_column_names()}};
}

/// Rows in the order of the names now; unknown ones as the row of opaque nodes, or zeros.
Status arrange(Array& array, const std::vector<std::string>& names, const NamedRows& now,
               int64_t cols) {
  auto* numbers = std::get_if<std::vector<float>>(&array.numbers);
  if (!numbers || array.rows != static_cast<int64_t>(names.size()) || array.cols != cols)
    return error(
        fmt::format("'{}' does not have {} rows of {} numbers", now.parameter, names.size(), cols));
  auto columns = static_cast<size_t>(array.cols);
  std::vector<float> arranged(now.names.size() * columns, 0);
  auto other = std::find(names.begin(), names.end(), "opaque");
  for (size_t k = 0; k < now.names.size(); ++k) {
    auto row = std::find(names.begin(), names.end(), now.names[k]);
    if (row == names.end()) row = other;
    if (row == names.end()) continue;
    auto from = numbers->begin() + (row - names.begin()) * array.cols;
    std::copy_n(from, columns, arranged.begin() + static_cast<int64_t>(k * columns));
  }
  *numbers = std::move(arranged);
  array.rows = static_cast<int64_t>(now.names.size());
  return {};
}

Result<NetworkOptions> read_options(const Checkpoint& file) {
  NetworkOptions o;
  ASSIGN_OR_RETURN(uint64_t width, counter(file, "width"));
  ASSIGN_OR_RETURN(uint64_t hidden, counter(file, "hidden"));
  ASSIGN_OR_RETURN(uint64_t rounds, counter(file, "rounds"));
  ASSIGN_OR_RETURN(uint64_t global, counter(file, "global_messages"));
  ASSIGN_OR_RETURN(uint64_t factorised, counter(file, "factorised"));
  if (width < 1 || width > 4096 || hidden < 1 || hidden > 4096 || rounds > 64)
    return error("a network of sizes that make no sense");
  uint64_t least = width * width * (3 + 7 * rounds) + hidden * (hidden + 4 * width);
  if (least > static_cast<uint64_t>(nn::count(file, "network")))
    return error("a network of larger sizes than its matrices");
  o.width = static_cast<int>(width);
  o.hidden = static_cast<int>(hidden);
  o.rounds = static_cast<int>(rounds);
  o.global_messages = global != 0;
  o.factorised = factorised != 0;
  o.hide_cost = file.counters.contains("hide_cost");
  return o;
}

class NetworkPolicy final : public Policy {
 public:
  NetworkPolicy(const Network& network, const RuleTable& rules, std::string name)
      : network_(network), rules_(rules), name_(std::move(name)) {}
  Judgement judge(const Observation& o) const override {
    nn::Tape<float> tape(network_.parameters(), nullptr);
    const Observation* one = &o;
    auto out = network_.forward(tape, Batch({&one, 1}, network_.options()), rules_);
    auto list = [&](nn::Var v) {
      const Rows& m = tape.value(v);
      return std::vector<float>(m.data(), m.data() + m.size());
    };
    return {list(out.log_probs), list(out.worth), tape.scalar(out.values)};
  }
  std::string description() const override {
    return fmt::format("{}, {} numbers", name_, network_.parameters().count());
  }
  const Network* network() const override { return &network_; }

 private:
  Network network_;
  RuleTable rules_;
  std::string name_;
};

}  // namespace

Checkpoint network_file(const Network& network, const std::string& kind) {
  Checkpoint file;
  file.kind = kind;
  file.feature_hash = feature_hash();
  const NetworkOptions& o = network.options();
  file.counters["width"] = static_cast<uint64_t>(o.width);
  file.counters["hidden"] = static_cast<uint64_t>(o.hidden);
  file.counters["rounds"] = static_cast<uint64_t>(o.rounds);
  file.counters["global_messages"] = static_cast<uint64_t>(o.global_messages);
  file.counters["factorised"] = static_cast<uint64_t>(o.factorised);
  if (o.hide_cost) file.counters["hide_cost"] = 1;
  for (const NamedRows& r : named_rows()) file.lists[r.list] = r.names;
  nn::store(file, "network", network.parameters());
  return file;
}

Result<Network> read_network(const Checkpoint& file, const std::string& kind) {
  RETURN_IF_ERROR(file.expect(kind, feature_hash()));
  ASSIGN_OR_RETURN(NetworkOptions options, read_options(file));
  Network network(options, rule_column_names().size(), 0);
  Checkpoint now = file;
  for (const NamedRows& r : named_rows()) {
    auto names = now.lists.find(r.list);
    auto array = now.arrays.find("network/" + r.parameter);
    if (names == now.lists.end() || array == now.arrays.end())
      return error("there is no '" + r.list + "' in it");
    auto& parameters = network.parameters();
    int64_t cols = parameters.value(parameters.find(r.parameter)).cols();
    RETURN_IF_ERROR(arrange(array->second, names->second, r, cols));
  }
  RETURN_IF_ERROR(nn::load(now, "network", network.parameters()));
  return network;
}

std::unique_ptr<Policy> network_policy(const Network& network, const RuleTable& rules,
                                       const std::string& name) {
  return std::make_unique<NetworkPolicy>(network, rules, name);
}

}  // namespace regraft::rl
