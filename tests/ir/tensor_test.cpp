#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/rng.h"
#include "ir/algebra/tensor.h"
#include "ir/graph/content.h"

namespace regraft {
namespace {

std::vector<double> round_trip(DType t, const std::vector<double>& v) {
  return *make_constant(t, {static_cast<int64_t>(v.size())}, v)->reals();
}

uint16_t code_of(DType t, double x) {
  auto bytes = *make_constant(t, {1}, {x})->bytes();
  uint16_t code;
  std::memcpy(&code, bytes.data(), 2);
  return code;
}

TEST(DType, NamesRoundTrip) {
  for (int k = -3; k < 40; ++k) {
    auto t = static_cast<DType>(k);
    ASSERT_EQ(dtype_of(to_string(t)), t) << to_string(t);
  }
  EXPECT_EQ(to_string(DType::F32), "float32");
  EXPECT_EQ(dtype_of("type1"), std::nullopt);  // that is float32
  EXPECT_EQ(dtype_of("float"), std::nullopt);
  EXPECT_EQ(dtype_of("type99999999999"), std::nullopt);
  EXPECT_EQ(size_of(DType::C128), 16u);
  EXPECT_EQ(size_of(static_cast<DType>(23)), 0u);
}

TEST(SmallFloats, EveryCodeRoundTrips) {
  for (DType t : {DType::F16, DType::BF16})
    for (int code = 0; code < 65536; ++code) {
      std::vector<std::byte> bytes(2);
      auto c = static_cast<uint16_t>(code);
      std::memcpy(bytes.data(), &c, 2);
      double x = (*Constant(t, {1}, bytes).reals())[0];
      int quiet = t == DType::F16 ? 0x7e00 : 0x7fc0;
      ASSERT_EQ(code_of(t, x), std::isnan(x) ? quiet | (code & 0x8000) : c) << code;
    }
}

/// Doubles close to the middle between two codes, which a float cannot tell from it.
TEST(SmallFloats, OneRounding) {
  for (DType t : {DType::F16, DType::BF16})
    for (uint16_t code = 0; code < (t == DType::F16 ? 0x7bff : 0x7f7f); ++code) {
      std::vector<uint16_t> codes{code, static_cast<uint16_t>(code + 1)};
      std::vector<std::byte> bytes(4);
      std::memcpy(bytes.data(), codes.data(), 4);
      auto both = *Constant(t, {2}, bytes).reals();
      double middle = (both[0] + both[1]) / 2;
      ASSERT_EQ(code_of(t, middle), codes[code % 2]) << code;
      ASSERT_EQ(code_of(t, std::nextafter(middle, both[0])), codes[0]) << code;
      ASSERT_EQ(code_of(t, -std::nextafter(middle, both[1])), codes[1] | 0x8000) << code;
    }
}

TEST(SmallFloats, KnownCodes) {
  EXPECT_EQ(code_of(DType::F16, 1.0), 0x3c00);
  EXPECT_EQ(code_of(DType::F16, -2.0), 0xc000);
  EXPECT_EQ(code_of(DType::F16, 65504.0), 0x7bff);
  EXPECT_EQ(code_of(DType::F16, 65519.0), 0x7bff);
  EXPECT_EQ(code_of(DType::F16, 65520.0), 0x7c00);  // ties to even: infinity
  EXPECT_EQ(code_of(DType::F16, 0x1p-24), 0x0001);
  EXPECT_EQ(code_of(DType::F16, 0x1p-25), 0x0000);
  EXPECT_EQ(code_of(DType::F16, 0x1.8p-25), 0x0001);
  EXPECT_EQ(code_of(DType::F16, 1e-300), 0x0000);
  EXPECT_EQ(code_of(DType::F16, 1e300), 0x7c00);
  EXPECT_EQ(code_of(DType::F16, -std::numeric_limits<double>::infinity()), 0xfc00);
  EXPECT_EQ(code_of(DType::BF16, 1.0), 0x3f80);
  EXPECT_EQ(code_of(DType::BF16, 1.00390625), 0x3f80);  // a tie, down to even
  EXPECT_EQ(code_of(DType::BF16, 1.01171875), 0x3f82);  // a tie, up to even
  EXPECT_EQ(code_of(DType::BF16, std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(round_trip(DType::F16, {std::nan("")})[0]));
  EXPECT_TRUE(std::signbit(round_trip(DType::BF16, {-0.0})[0]));
}

TEST(SmallFloats, RoundToNearest) {
  Rng rng(3);
  for (int k = 0; k < 20000; ++k) {
    double x = std::ldexp(rng.unit() * 2 - 1, static_cast<int>(rng.between(-20, 14)));
    double y = round_trip(DType::F16, {x})[0];
    double ulp = std::max(std::ldexp(1, std::ilogb(x) - 10), 0x1p-24);
    ASSERT_LE(std::fabs(x - y), ulp / 2) << x;
  }
}

TEST(Constant, ConvertsElements) {
  EXPECT_EQ(*Constant::of_ints({2}, {-5, 7})->integers(), (std::vector<int64_t>{-5, 7}));
  EXPECT_EQ(*Constant::of_ints({2}, {-5, 7})->reals(), (std::vector<double>{-5, 7}));
  EXPECT_EQ(*Constant::of_floats({1, 2}, {0.5f, -1})->reals(), (std::vector<double>{0.5, -1}));
  EXPECT_FALSE(Constant::of_floats({1}, {1})->integers());
  EXPECT_FALSE(Constant(DType::C64, {1}, std::vector<std::byte>(8)).reals());
  std::vector<std::byte> bytes = {std::byte{255}, std::byte{1}};
  EXPECT_EQ(*Constant(DType::I8, {2}, bytes).integers(), (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(*Constant(DType::U8, {2}, bytes).integers(), (std::vector<int64_t>{255, 1}));
  EXPECT_EQ(round_trip(DType::F64, {1.0 / 3})[0], 1.0 / 3);
  EXPECT_EQ(round_trip(DType::F32, {1.0 / 3})[0], static_cast<double>(1.0f / 3));
}

TEST(Constant, HashesContentTypeAndShape) {
  Rng rng(4);
  std::vector<float> v(1001);
  for (float& x : v) x = static_cast<float>(rng.unit());
  Hash128 h = Constant::of_floats({1001}, v)->hash();
  EXPECT_EQ(Constant::of_floats({1001}, v)->hash(), h);
  EXPECT_NE(Constant::of_floats({1, 1001}, v)->hash(), h);
  for (size_t k : {size_t{0}, size_t{7}, size_t{500}, size_t{1000}}) {
    auto w = v;
    w[k] += 1;
    EXPECT_NE(Constant::of_floats({1001}, w)->hash(), h) << k;
  }
  auto swapped = v;
  std::swap(swapped[0], swapped[8]);  // the same lane
  EXPECT_NE(Constant::of_floats({1001}, swapped)->hash(), h);
  std::vector<std::byte> zeros(8);
  EXPECT_NE(Constant(DType::F32, {2}, zeros).hash(), Constant(DType::I32, {2}, zeros).hash());
}

TEST(Constant, DataThatLiesElsewhereIsReadAndChecked) {
  int reads = 0;
  auto read = [&](const Constant::Visit& visit) -> Status {
    ++reads;
    std::vector<std::byte> half(4);
    visit(half);
    visit(half);
    return {};
  };
  Constant good(DType::F32, {2}, read), wrong(DType::F32, {3}, read);
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(good.reals()->size(), 2u);
  EXPECT_EQ(reads, 1);
  EXPECT_FALSE(wrong.reals());
  Constant in_memory(DType::F32, {2}, std::vector<std::byte>(8));
  EXPECT_EQ(good.hash(), in_memory.hash());
  EXPECT_EQ(reads, 3);
  EXPECT_EQ(good.hash(), in_memory.hash());
  EXPECT_EQ(reads, 3);  // once and for all
}

TEST(Constant, IsEqualWhenAllBytesAre) {
  auto reading = [](std::vector<float> v) {
    return [v = std::move(v)](const Constant::Visit& visit) -> Status {
      for (const float& x : v) visit(std::as_bytes(std::span(&x, 1)));
      return {};
    };
  };
  std::vector<float> v = {1, 2, 3, 4}, w = {1, 2, 3, 5};
  auto a = Constant::of_floats({4}, v), b = Constant::of_floats({4}, w);
  Constant far_a(DType::F32, {4}, reading(v)), far_b(DType::F32, {4}, reading(w));
  auto fail = [](const Constant::Visit&) { return Status(error("gone")); };
  Constant lost(DType::F32, {4}, fail), lost_too(DType::F32, {4}, fail);
  EXPECT_TRUE(same(*a, *a));
  EXPECT_TRUE(same(*a, *Constant::of_floats({4}, v)));
  EXPECT_TRUE(same(*a, far_a));
  EXPECT_TRUE(same(far_a, *a));
  EXPECT_TRUE(same(far_a, Constant(DType::F32, {4}, reading(v))));
  EXPECT_FALSE(same(*a, *b));
  EXPECT_FALSE(same(*a, far_b));
  EXPECT_FALSE(same(far_a, far_b));
  EXPECT_FALSE(same(*a, *Constant::of_floats({2, 2}, v)));
  EXPECT_FALSE(same(*a, Constant(DType::I32, {4}, reading(v))));
  EXPECT_FALSE(same(lost, lost_too));
  EXPECT_FALSE(digest_of(lost));
  EXPECT_EQ(*digest_of(*a), *digest_of(far_a));
  EXPECT_NE(*digest_of(*a), *digest_of(far_b));
}

TEST(TensorType, ComparesAndPrints) {
  SymbolPool pool;
  TensorType t{DType::F32, Shape{Poly::symbol(pool.named("N")), 3}};
  EXPECT_EQ(to_string(t), "float32[N,3]");
  EXPECT_EQ(to_string(TensorType{DType::F16, std::nullopt}), "float16[...]");
  EXPECT_TRUE(same(t, t));
  EXPECT_FALSE(same(t, {DType::F32, Shape{3, 3}}));
  EXPECT_FALSE(same(t, {DType::F32, std::nullopt}));
  EXPECT_EQ(numeric(*t.shape), std::nullopt);
  EXPECT_EQ(numeric(Shape{2, 3}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(to_string(element_count(*t.shape)), "3*N");
}

}  // namespace
}  // namespace regraft
