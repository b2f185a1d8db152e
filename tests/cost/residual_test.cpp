#include "cost/residual/residual.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "cost/residual/process.h"
#include "tests/cost/graphs.h"

namespace regraft::cost {
namespace {

using Traits = std::vector<Trait>;

constexpr size_t kGraphs = 80;
constexpr uint64_t kKernels = 10;
constexpr double kNoise = 0.003;

double error_of(uint64_t kernel) { return kernel % 2 ? 0.8 : -0.6; }

/// Graphs of a few kernels each, every second of which takes much longer than its price says, and
/// the others much shorter.
struct Pool {
  std::vector<Traits> traits;
  std::vector<double> ratios;  // of the true times to the first's

  explicit Pool(uint64_t seed) {
    Rng rng(seed);
    std::vector<double> times;
    for (size_t graph = 0; graph < kGraphs; ++graph) {
      double price = 0, time = 0;
      Traits t{{TraitGroup::Price, 0, 0}};
      for (uint64_t kernel = 0; kernel < kKernels; ++kernel) {
        const double one = 10 * static_cast<double>(rng.below(4));
        if (one > 0) t.push_back({TraitGroup::Measured, kernel, one});
        price += one;
        time += one * (1 + error_of(kernel));
      }
      t[0].microseconds = price + 100;
      times.push_back(time + 100);
      traits.push_back(std::move(t));
    }
    for (double time : times) ratios.push_back(time / times[0]);
  }
  size_t fastest() const {
    return static_cast<size_t>(std::min_element(ratios.begin(), ratios.end()) - ratios.begin());
  }
};

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    ma += a[k] / static_cast<double>(a.size());
    mb += b[k] / static_cast<double>(a.size());
  }
  for (size_t k = 0; k < a.size(); ++k) {
    ab += (a[k] - ma) * (b[k] - mb);
    aa += (a[k] - ma) * (a[k] - ma);
    bb += (b[k] - mb) * (b[k] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(GaussianProcess, AveragesPriorAndMeasurementsByTheirVariances) {
  GaussianProcess p(Eigen::VectorXd::Zero(2), {{Eigen::MatrixXd::Identity(2, 2), 1.0}});
  p.observe(0, 3, 1);
  EXPECT_NEAR(p.mean()(0), 1.5, 1e-12);  // half of it noise
  EXPECT_NEAR(p.covariance()(0, 0), 0.5, 1e-12);
  EXPECT_EQ(p.mean()(1), 0);
  EXPECT_EQ(p.covariance()(1, 1), 1);
}

TEST(GaussianProcess, KnowsWhatIsAlikeAndHowFarItsPartsGo) {
  Eigen::MatrixXd alike = Eigen::MatrixXd::Ones(6, 6);
  GaussianProcess p(Eigen::VectorXd::Zero(6), {{alike, 0.1}});
  for (int k = 0; k < 5; ++k) p.observe(k, 2, 0.01);
  EXPECT_NEAR(p.mean()(5), 2, 0.01);
  EXPECT_GT(p.deviations()[0], 0.1);  // 20 times what was expected
}

TEST(Residual, LearnsWhichKernelsArePricedWrongly) {
  Pool pool(1);
  Residual r(pool.traits);
  const double before = correlation(r.means(), pool.ratios);
  Rng rng(2);
  for (size_t graph = 1; graph <= 24; ++graph)
    r.observe(graph, pool.ratios[graph] + kNoise * (rng.unit() - 0.5), kNoise);
  EXPECT_LT(before, 0.9);
  EXPECT_GT(correlation(r.means(), pool.ratios), 0.98);
  int inside = 0;
  for (size_t graph = 25; graph < kGraphs; ++graph)
    inside += std::abs(r.means()[graph] - pool.ratios[graph]) < 3 * r.deviations()[graph];
  EXPECT_GE(inside, 50);  // of 55
}

TEST(Residual, MeasuresWhatMayBeFastest) {
  for (uint64_t seed : {3, 4, 5}) {
    Pool pool(seed);
    Residual r(pool.traits);
    int measurements = 0;
    while (auto next = r.next(kNoise, 0.001)) {
      ASSERT_LT(++measurements, 60);
      r.observe(*next, pool.ratios[*next], kNoise);
    }
    EXPECT_NEAR(pool.ratios[r.best()], pool.ratios[pool.fastest()], 0.01);
  }
}

TEST(Residual, BeginsWithTheLeastPriceAndLeavesOutWhatCannotRun) {
  Pool pool(6);
  Residual r(pool.traits);
  const std::vector<double> means = r.means();
  const auto least = std::min_element(means.begin(), means.end()) - means.begin();
  auto next = r.next(kNoise, 0);
  ASSERT_TRUE(next.has_value());
  ASSERT_GT(*next, 0U);
  EXPECT_EQ(*next, static_cast<size_t>(least));
  r.exclude(*next);
  auto other = r.next(kNoise, 0);
  ASSERT_TRUE(other.has_value());
  EXPECT_NE(*other, *next);
}

TEST(Residual, AsksForNothingWhereGraphsAreAlike) {
  Traits same{{TraitGroup::Price, 0, 50}, {TraitGroup::Measured, 7, 50}};
  std::vector<Traits> pool(4, same);
  Residual r(pool);
  for (size_t graph : {1, 2, 3}) {
    EXPECT_TRUE(r.next(kNoise, 0.02).has_value());
    r.observe(graph, 1, kNoise);
  }
  EXPECT_FALSE(r.next(kNoise, 0.02).has_value());
}

TEST(Traits, AddUpToThePriceAndSeeWhatFollowsWhat) {
  Profile profile;
  profile.key = {"onnxruntime", "1.2.3", "a processor", "", 1};
  Profiled model(profile);
  auto traits = [&](const std::string& text) {
    Graph g = graph_of(text);
    return traits_of(g, model.plan(g), model);
  };
  auto sum = [](const Traits& all, TraitGroup group) {
    double total = 0;
    for (const Trait& t : all) total += t.group == group ? t.microseconds : 0;
    return total;
  };
  const std::string head = "%0 = input : float32[64,128]\n";
  Traits two = traits(head +
                      "%1 = softmax %0 : float32[64,128]\n%2 = transpose %1 perm=1,0 : "
                      "float32[128,64]\noutputs %2\n");
  EXPECT_GT(sum(two, TraitGroup::Price), 0);
  EXPECT_NEAR(sum(two, TraitGroup::Price), sum(two, TraitGroup::Estimated), 1e-9);
  EXPECT_NEAR(sum(two, TraitGroup::Price), sum(two, TraitGroup::Kind), 1e-9);
  EXPECT_GT(sum(two, TraitGroup::Handover), 0);
  EXPECT_EQ(sum(two, TraitGroup::Measured), 0);
  Traits one = traits(head + "%1 = softmax %0 : float32[64,128]\noutputs %1\n");
  EXPECT_EQ(sum(one, TraitGroup::Handover), 0);
  EXPECT_LT(sum(one, TraitGroup::Launches), sum(two, TraitGroup::Launches));
}

}  // namespace
}  // namespace regraft::cost
