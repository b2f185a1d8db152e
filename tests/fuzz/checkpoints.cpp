#include "tests/fuzz/checkpoints.h"

#include "base/hash.h"
#include "ir/rule/text.h"
#include "rl/checkpoint.pb.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_message.h"

namespace regraft::fuzz {
namespace {

std::string file_with(std::string_view body) {
  rl::wire::CheckpointFile file;
  bool parsed = file.ParseFromString(to_bytes(rl::Checkpoint()));  // its magic and version
  CLAIM(parsed, "an empty checkpoint");
  file.set_body(std::string(body));
  file.set_digest(hash_text(file.body()));
  return file.SerializeAsString();
}

const std::vector<std::string> kWords = {"",
                                         "policy",
                                         "world-model",
                                         "network",
                                         "width",
                                         "hidden",
                                         "rounds",
                                         "iteration",
                                         "seed",
                                         "global_messages",
                                         "factorised",
                                         "training",
                                         "ops",
                                         "rules",
                                         "rule_columns",
                                         "v.size",
                                         "v.hidden",
                                         "v.capacity",
                                         "m.locations",
                                         "c.hidden",
                                         "kept.0",
                                         "kept.1",
                                         "1.5 1 0 2 1 2 1 0 0",
                                         "1 100000000",
                                         "nan 1 -1 1 -1 0",
                                         "opaque"};

}  // namespace

std::optional<rl::Checkpoint> read_checkpoint(std::string_view body) {
  if (auto raw = rl::parse_checkpoint(body, "raw"); !raw) check_message(raw.error());
  auto file = rl::parse_checkpoint(file_with(body), "file");
  if (!file) {
    check_message(file.error());
    return std::nullopt;
  }
  std::string bytes = to_bytes(*file);
  auto again = rl::parse_checkpoint(bytes, "again");
  CLAIM(again.has_value(), again.error().message);
  CLAIM(to_bytes(*again) == bytes, "equal checkpoints are equal files");
  return *std::move(file);
}

std::string body_of(const rl::Checkpoint& checkpoint) {
  rl::wire::CheckpointFile file;
  bool parsed = file.ParseFromString(to_bytes(checkpoint));
  CLAIM(parsed, "what was written");
  return file.body();
}

const rewrite::RuleIndex& some_rules() {
  static const rewrite::RuleIndex index = [] {
    std::vector<Rule> rules;
    for (const char* line :
         {"a  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn  "
          "proved:all-sizes",
          "b  (relu (relu ?a)) => (relu ?a)  for a:nn  proved:all-sizes"}) {
      auto rule = parse_rule(line);
      CLAIM(rule.has_value(), line);
      rules.push_back(*std::move(rule));
    }
    auto made = rewrite::RuleIndex::build(std::move(rules));
    CLAIM(made.has_value(), made.error().message);
    return *std::move(made);
  }();
  return index;
}

namespace {

rl::NetworkOptions tiny() {
  rl::NetworkOptions o;
  o.width = o.hidden = 2;
  o.rounds = 1;
  return o;
}

}  // namespace

rl::Network some_network() { return {tiny(), rl::describe(some_rules()).columns, 1}; }

rl::WorldModel some_world() {
  rl::WorldModelOptions o;
  o.latent.size = o.latent.hidden = 2;
  o.latent.capacity = 4;
  o.latent.network = tiny();
  o.dynamics.hidden = o.dynamics.components = o.dynamics.locations = o.dynamics.action = 2;
  o.controller.hidden = 2;
  return {o, rl::describe(some_rules()).columns, 1};
}

}  // namespace regraft::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  static regraft::rl::wire::Body body;
  return regraft::fuzz::mutate_bytes(body, data, size, most, regraft::fuzz::kWords, seed);
}
