#include "gen/minimise/followers.h"

#include <algorithm>
#include <map>

namespace regraft::gen {
namespace {

bool same_call(const Label& a, const Label& b) {
  return a.op == b.op && a.attrs.ints == b.attrs.ints &&
         std::ranges::equal(a.attrs.reals, b.attrs.reals, {}, &Real::value, &Real::value);
}

}  // namespace

Followers::Followers(const ValueGraph& graph) : graph_(graph) {
  const ShapedOps& ops = graph.plans();
  const size_t count = ops.grammar().instances.size();
  followers_.resize(count);
  std::vector<char> has_follower(count, 0);
  for (size_t k = 0; k < count; ++k) {
    const Label* then = ops.then(k);
    if (!then) continue;
    followers_[k] = then->op;
    int plain = ops.sibling(static_cast<int>(k), nullptr);
    if (plain >= 0) has_follower[static_cast<size_t>(plain)] = 1;
    for (size_t j = 0; j < count; ++j)  // the follower as a call of its own
      if (!ops.then(j) && same_call(ops.label(j), *then)) followers_[j] = then->op;
  }
  for (uint32_t g = 0; g < graph.groups.size(); ++g)
    for (Application a : graph.groups[g].applications)
      if (has_follower[static_cast<size_t>(a.instance())]) grouped_.push_back({a, g});
  std::ranges::sort(grouped_, {}, &Grouped::application);
}

/// nullopt: it has no follower, or no other call has the value below it.
std::optional<Followers::Followed> Followers::followed(Application a) const {
  auto instance = static_cast<size_t>(a.instance());
  const OpDef* follower = followers_[instance];
  if (!follower) return std::nullopt;
  if (!graph_.plans().then(instance)) return Followed{follower, a.a(), 0};
  auto plain = graph_.sibling(a, nullptr);
  if (!plain) return std::nullopt;
  if (auto c = graph_.find(*plain)) return Followed{follower, *c, 0};
  auto at = std::ranges::lower_bound(grouped_, *plain, {}, &Grouped::application);
  if (at == grouped_.end() || at->application != *plain) return std::nullopt;
  ClassId known = graph_.groups[at->group].known;
  return Followed{follower, known, known == kNoClass ? at->group : 0};
}

std::vector<uint32_t> Followers::equal(int level, ClassId known,
                                       const std::vector<Application>& applications) const {
  auto may_be = [&](Application a) { return followers_[static_cast<size_t>(a.instance())]; };
  if (std::ranges::none_of(applications, may_be)) return {};
  std::map<Followed, uint32_t> first;
  if (known != kNoClass && !graph_.is_leaf(known))
    for (Application a : graph_.nodes_below(known, level))
      if (auto f = followed(a)) first.emplace(*f, 0);
  std::vector<uint32_t> r;
  bool any = false;
  for (Application a : applications) {
    uint32_t self = static_cast<uint32_t>(r.size()) + 1;
    auto f = followed(a);
    r.push_back(f ? first.emplace(*f, self).first->second : self);
    any = any || r.back() != self;
  }
  return any ? r : std::vector<uint32_t>();
}

}  // namespace regraft::gen
