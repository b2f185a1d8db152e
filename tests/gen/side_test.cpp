// Sides of pairs as programs: their values at other numbers.
#include "gen/generalise/side.h"

#include <gtest/gtest.h>

namespace regraft::gen {
namespace {

TEST(SideValues, AreThoseOfEachSideByItselfWhateverWasAskedBefore) {
  Bank bank(1);
  auto conv = [&](const std::string& attrs, TermId x, TermId w) {
    Instance in{"conv", attrs, {"abcd", "efgh"}};
    return bank.call(bank.add_label(*label_of(in)), {x, w});
  };
  const TermId x = bank.leaf({1, 2, 7, 7}, 0), k = bank.leaf({2, 2, 3, 3}, 0),
               l = bank.leaf({3, 2, 2, 2}, 0);
  const TermId top = conv("strides=1,1 pads=0,0,0,0", conv("strides=1,1 pads=1,1,1,1", x, k), l);
  const std::vector<TermId> leaves = {x, k, l};
  const Side side = side_of(bank, top, leaves);
  Rng rng(3);
  std::vector<Array<Residue>> arrays;
  for (TermId leaf : leaves) arrays.push_back(random_array(rng, bank.node(leaf).shape));
  std::vector<int64_t> given;
  for (const NumberPlace& n : side.numbers) given.push_back(n.witness);
  SideValues values(arrays, 1);
  auto expected = values.value(side, given, 1000);
  ASSERT_TRUE(expected);
  size_t others = 0, ill_formed = 0;
  for (size_t more = 0; more < given.size(); ++more)
    for (size_t less = 0; less < given.size(); ++less) {  // a pad more here and one less there
      std::vector<int64_t> numbers = given;
      ++numbers[more];
      --numbers[less];
      auto alone = SideValues(arrays, 1).value(side, numbers, 1000);
      auto again = values.value(side, numbers, 1000);
      ASSERT_EQ(alone.has_value(), again.has_value());
      if (alone) EXPECT_TRUE(alone->shape == again->shape && alone->data == again->data);
      auto differs = values.differs(*expected, side, numbers, 1000, Compare::Residues);
      if (!differs) EXPECT_FALSE(alone);
      if (alone && alone->shape == expected->shape) {
        ASSERT_TRUE(differs);
        EXPECT_EQ(*differs, alone->data != expected->data);
        others += *differs;
      }
      ill_formed += !alone;
    }
  EXPECT_GT(others, 0u);
  EXPECT_GT(ill_formed, 0u);
  EXPECT_EQ(values.differs(*expected, side, given, 1000, Compare::Residues), false);
  EXPECT_FALSE(values.differs(*expected, side, given, 10, Compare::Residues));  // too large
}

}  // namespace
}  // namespace regraft::gen
