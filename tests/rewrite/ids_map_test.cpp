#include "rewrite/match/ids_map.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "base/rng.h"

namespace regraft::rewrite {
namespace {

TEST(IdsMap, IsAMap) {
  IdsMap<std::unique_ptr<int>> all;
  std::map<std::vector<int32_t>, int> known;
  Rng rng(1);
  for (int k = 0; k < 20000; ++k) {
    std::vector<int32_t> key(rng.below(5));  // the empty one, too
    for (int32_t& id : key) id = static_cast<int32_t>(rng.below(9)) - 4;
    auto* found = all.find(key);
    auto it = known.find(key);
    ASSERT_EQ(found != nullptr, it != known.end());
    if (found) {
      EXPECT_EQ(**found, it->second);
    } else {
      EXPECT_EQ(*all.add(key, std::make_unique<int>(k)), k);
      known[key] = k;
    }
  }
  EXPECT_GT(known.size(), 3000U);
  for (const auto& [key, value] : known) EXPECT_EQ(**all.find(key), value);
}

}  // namespace
}  // namespace regraft::rewrite
