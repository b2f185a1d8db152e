// States of trainings: what an agent goes on from.
#include "rl/environment/episodes.h"
#include "rl/files/move_text.h"
#include "rl/network/network_file.h"
#include "rl/training/learner.h"
#include "rl/world/world_model.h"
#include "tests/fuzz/checkpoints.h"
#include "tests/fuzz/fuzz.h"

namespace regraft {
namespace {

constexpr const char* kKind = "fuzz";
constexpr size_t kGraphs = 2;

rl::Learner learner() {
  rl::Learner l(fuzz::some_network().options(), rl::describe(fuzz::some_rules()),
                {kGraphs, 0.3, 0.2}, 7, 1);
  l.starts.keep(0, 2.5, {{0, {1, 2}, {{0, 0}, {1, 0}}, 0, 0}});
  return l;
}

/// What was loaded is saved and loaded again as it was.
void read(const rl::Checkpoint& file) {
  static const rl::Learner fresh = learner();
  rl::Learner l = fresh;
  Status loaded = l.load(file, kKind);
  if (!loaded) {
    fuzz::check_message(loaded.error());
  } else {
    rl::Learner again = fresh;
    rl::Checkpoint saved = l.save(kKind);
    CLAIM(again.load(saved, kKind).ok(), "loads what it saved");
    CLAIM(to_bytes(again.save(kKind)) == to_bytes(saved), "saves what it loaded");
  }
  static const rl::WorldModel fresh_world = fuzz::some_world();
  rl::WorldModel world = fresh_world;
  if (Status s = rl::load(file, world, fuzz::some_rules()); !s) fuzz::check_message(s.error());
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  rl::Checkpoint world;
  rl::store(world, some_world(), some_rules());
  return {{"learner", body_of(learner().save(kKind))}, {"world", body_of(world)}};
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (auto file = regraft::fuzz::read_checkpoint(regraft::fuzz::text_of(data, size)))
    regraft::read(*file);
  return 0;
}
