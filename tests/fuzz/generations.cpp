// Checkpoints of `regraft generate`.
#include "cli/support/generate_checkpoint.h"
#include "ir/rule/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_json.h"

namespace regraft {
namespace {

const cli::GenerateRun kRun{"core", 3, 7};

void read(std::string_view text) {
  auto checkpoint = cli::parse_checkpoint(text, kRun, "file");
  if (!checkpoint) return fuzz::check_message(checkpoint.error());
  std::string written = cli::to_text(*checkpoint, kRun);
  auto again = cli::parse_checkpoint(written, kRun, "again");
  CLAIM(again.has_value(), again.error().message);
  CLAIM(cli::to_text(*again, kRun) == written, written);
}

const std::vector<std::string> kWords = {"run",    "themes", "ops",    "max_size",
                                         "seed",   "core",   "groups", "position",
                                         "judged", "rules",  "chance"};

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  gen::Checkpoint c;
  gen::Verdict found;
  found.kind = gen::Verdict::Rules;
  auto rule = parse_rule("found  (relu (relu ?x)) => (relu ?x)");
  CHECK(rule);
  found.found = {{*rule, {"nn"}, false}};
  found.ground = found.found[0];
  c.grammars = {{20, 10, {{1, {found, {}}}, {2, {}}, {7, {{}}}}}, {}};
  std::string deep(30000, '[');
  return {{"checkpoint", cli::to_text(c, kRun)},
          {"other", cli::to_text(c, {"extended", 2, 1})},
          {"deep", "{\"themes\":[],\"run\":" + deep + std::string(deep.size(), ']') + "}"}};
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  regraft::read(regraft::fuzz::text_of(data, size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return regraft::fuzz::mutate_json(data, size, most, regraft::kWords, seed);
}
