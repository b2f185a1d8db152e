#include "rewrite/engine/match_set.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::rewrite {

namespace {

uint64_t hash_of(const Place& place) {
  uint64_t h = static_cast<uint64_t>(place.rule);
  for (int32_t id : place.nodes) h = combine(h, static_cast<uint64_t>(id));
  return h;
}

}  // namespace

void Change::clear() {
  fresh.clear();
  redirected.clear();
  removed.clear();
  counted.clear();
  constants.clear();
  contents.clear();
  paths = false;
}

MatchSet::MatchSet(const LiveGraph& g, Fitter& fitter, const std::vector<char>* without,
                   const Stop* stop)
    : g_(g), rules_(fitter.rules()), fitter_(fitter), without_(without), planner_(g) {
  bucket_count_ = std::bit_ceil(4 * static_cast<uint64_t>(g.id_bound()) + 64);
  auto heads = static_cast<int32_t>(bucket_count_) + 2;
  for (int32_t k = 0; k < heads; ++k) lists_.add();
  joint_head_ = heads - 2;
  constants_head_ = heads - 1;
  watches_.resize(static_cast<size_t>(heads));
  targets_.resize(static_cast<size_t>(heads), -1);
  find_all(stop);
  commit();
}

int32_t MatchSet::bucket(uint64_t content) const {
  return static_cast<int32_t>((content >> 7) & (bucket_count_ - 1));
}

int32_t MatchSet::head(int32_t id) {
  while (static_cast<int32_t>(heads_.size()) <= id) {
    heads_.push_back(lists_.add());
    watches_.emplace_back();
    targets_.push_back(-1);
  }
  return heads_[static_cast<size_t>(id)];
}

void MatchSet::find_all(const Stop* stop) {
  std::vector<int32_t> calls;
  for (int32_t id = 0; id < g_.id_bound(); ++id) {
    head(id);
    if (g_.alive(id) && g_.slot(id).kind == NodeKind::Call) calls.push_back(id);
  }
  std::sort(calls.begin(), calls.end(),
            [&](int32_t a, int32_t b) { return g_.comes_before(a, b); });
  VisitPlace visit = [&](const Place& place) { return add(place); };
  for (int32_t id : calls) {
    if (stop && stop->must_end()) {
      ++left_out_;
      return;
    }
    left_out_ += rules_.tree().match(g_, id, limits(), visit);
  }
}

/// Fewer at each place once there are many in all: any of them may have to be looked at again after
/// each move.
PlaceLimits MatchSet::limits() const {
  constexpr int64_t kMany = 20000;
  constexpr int64_t kManyForEach = 4;  // node
  int64_t many = std::max(kMany, kManyForEach * g_.id_bound());
  PlaceLimits limits;
  if (joint_listed_ > many / 2) limits = {8, 64, 1024};
  if (joint_listed_ > many) limits = {1, 8, 64};
  return limits;
}

int32_t MatchSet::new_match(const Place& place, const Fit* fit) {
  if (count_ == static_cast<int32_t>(matches_.size())) matches_.emplace_back();
  int32_t number = count_++;
  Match& m = at(number);
  m.rule = place.rule;
  m.fit = fit;
  m.nodes.assign(place.nodes.begin(), place.nodes.end());
  m.variables.assign(place.variables.begin(), place.variables.end());
  m.listed = -1;
  m.first_watch = m.watches = 0;
  m.round = 0;
  m.joint = fit->rule->rule.lhs.outputs.size() > 1;
  return number;
}

/// Would it take some of the calls that the runtime computes together, and leave others?
bool MatchSet::splits_fusion(const Place& place) const {
  auto mark = [&](int32_t id) {
    const Node* n = g_.slot(id).origin.get();
    return n && n->together >= 0 ? n : nullptr;
  };
  return std::ranges::any_of(place.nodes, [&](int32_t id) {
    const Node* n = mark(id);
    if (!n) return false;
    auto taken = std::ranges::count_if(place.nodes, [&](int32_t other) {
      const Node* m = mark(other);
      return m && m->together == n->together;
    });
    return taken < n->together_count;
  });
}

bool MatchSet::add(const Place& place) {
  if (without_ && (*without_)[static_cast<size_t>(place.rule)]) return false;
  if (splits_fusion(place)) return false;
  const Fit* fit = fitter_.fit(g_, place);
  if (!fit || has_lower_twin(place)) return false;
  int32_t number = new_match(place, fit);
  stale_stamp_.resize(std::max(stale_stamp_.size(), static_cast<size_t>(count_)), 0);
  price(number);
  return true;
}

/// Is there a place that does the same and comes first?
bool MatchSet::has_lower_twin(const Place& place) {
  for (const Symmetry& s : rules_.rules()[static_cast<size_t>(place.rule)].symmetries()) {
    twin_nodes_.clear();
    twin_variables_.clear();
    for (int32_t j : s.nodes) twin_nodes_.push_back(place.nodes[static_cast<size_t>(j)]);
    for (int32_t v : s.variables)
      twin_variables_.push_back(place.variables[static_cast<size_t>(v)]);
    auto order = std::lexicographical_compare_three_way(twin_nodes_.begin(), twin_nodes_.end(),
                                                        place.nodes.begin(), place.nodes.end());
    bool lower = order < 0 || (order == 0 && std::lexicographical_compare(
                                                 twin_variables_.begin(), twin_variables_.end(),
                                                 place.variables.begin(), place.variables.end()));
    if (lower && fitter_.fit(g_, {place.rule, twin_nodes_, twin_variables_})) return true;
  }
  return false;
}

int32_t MatchSet::find(const Place& place) {
  int32_t known = listed_at(place);
  if (known >= 0 || left_out_ == 0) return known;
  const Pattern& lhs = rules_.rules()[static_cast<size_t>(place.rule)].rule.lhs;
  int32_t root = place.nodes[static_cast<size_t>(lhs.outputs[0].node)];
  if (!g_.alive(root)) return -1;
  int32_t added = -1;
  rules_.tree().match_among(g_, root, place.nodes, [&](const Place& found) {
    bool same = found.rule == place.rule && std::ranges::equal(found.nodes, place.nodes) &&
                std::ranges::equal(found.variables, place.variables);
    if (!same || added >= 0) return false;
    int32_t next = count_;
    if (add(found)) added = next;
    return added >= 0;
  });
  return added;
}

int32_t MatchSet::listed_at(const Place& place) const {
  const Pattern& lhs = rules_.rules()[static_cast<size_t>(place.rule)].rule.lhs;
  int32_t root = place.nodes[static_cast<size_t>(lhs.outputs[0].node)];
  int32_t head = heads_[static_cast<size_t>(root)];
  for (int32_t l = lists_.next(head); l != head; l = lists_.next(l)) {
    int32_t number = watches_[static_cast<size_t>(l)].match;
    if (match(number).is_at(place)) return number;
  }
  return -1;
}

void MatchSet::price(int32_t number) {
  ++priced_;
  fresh_.push_back(number);
  Match& m = at(number);
  bool applies = planner_.make(m.place(), *m.fit);
  const Plan& plan = planner_.plan();
  watch(number, plan);
  log_.push_back({Did::Price, number, 0, 0, m.cost_change, m.growth, m.round});
  m.round = round_;
  if (applies) {
    m.cost_change = plan.cost_change;
    m.growth = plan.growth;
  }
  if (applies == (m.listed >= 0)) return;
  if (applies)
    list(number);
  else
    unlist(number);
}

int32_t MatchSet::add_watch(Watch w, int32_t head) {
  int32_t link = lists_.add();
  watches_.push_back(w);
  targets_.push_back(head);
  return link;
}

/// Replaces what the match watches by what the plan read.
void MatchSet::watch(int32_t number, const Plan& plan) {
  Match& m = at(number);
  if (m.watches > 0) unlink(number);
  int32_t first = lists_.size();
  for (const Plan::Count& c : plan.counts) {
    bool part = std::find(m.nodes.begin(), m.nodes.end(), c.node) != m.nodes.end();
    bool dies = c.delta != kAnyChange && g_.slot(c.node).uses + c.delta == 0;
    add_watch({number, c.delta, part, dies, 0}, heads_[static_cast<size_t>(c.node)]);
  }
  for (uint64_t content : plan.contents)
    add_watch({number, 0, false, false, content}, bucket(content));
  if (plan.reads_paths) add_watch({number, 0, false, false, 0}, joint_head_);
  if (plan.reads_constants) add_watch({number, 0, false, false, 0}, constants_head_);
  m.first_watch = first;
  m.watches = lists_.size() - first;
  link(number);
}

void MatchSet::link(int32_t number) {
  const Match& m = match(number);
  for (int32_t l = m.first_watch; l < m.first_watch + m.watches; ++l)
    lists_.append(targets_[static_cast<size_t>(l)], l);
  log_.push_back({Did::Link, number, m.first_watch, m.watches});
}

void MatchSet::unlink(int32_t number) {
  Match& m = at(number);
  for (int32_t l = m.first_watch; l < m.first_watch + m.watches; ++l) lists_.remove(l);
  log_.push_back({Did::Unlink, number, m.first_watch, m.watches});
  m.watches = 0;
}

void MatchSet::list(int32_t number) {
  at(number).listed = static_cast<int32_t>(listed_.size());
  listed_.push_back(number);
  joint_listed_ += at(number).joint;
  log_.push_back({Did::List, number});
}

void MatchSet::unlist(int32_t number) {
  Match& m = at(number);
  log_.push_back({Did::Unlist, number, m.listed});
  int32_t last = listed_.back();
  at(last).listed = m.listed;
  listed_[static_cast<size_t>(m.listed)] = last;
  listed_.pop_back();
  m.listed = -1;
  joint_listed_ -= m.joint;
}

void MatchSet::drop(int32_t number) {
  unlink(number);
  if (match(number).listed < 0) return;
  unlist(number);
  dropped_.push_back(number);
}

void MatchSet::drop_parts_of(int32_t id) {
  std::vector<int32_t> gone;
  for_watches(head(id), [&](const Watch& w) {
    if (w.part) gone.push_back(w.match);
  });
  for (int32_t number : gone)
    if (match(number).watches > 0) drop(number);
}

void MatchSet::mark_stale(int32_t number) {
  int32_t& stamp = stale_stamp_[static_cast<size_t>(number)];
  if (stamp == stamp_) return;
  stamp = stamp_;
  stale_.push_back(number);
}

void MatchSet::collect_stale(const Change& change) {
  auto all_of = [&](int32_t list) {
    for_watches(list, [&](const Watch& w) { mark_stale(w.match); });
  };
  for (int32_t id : change.counted) {
    int32_t uses = g_.slot(id).uses;
    for_watches(head(id), [&](const Watch& w) {
      if (w.delta == kAnyChange || (uses + w.delta == 0) != w.dies) mark_stale(w.match);
    });
  }
  for (int32_t id : change.redirected) all_of(head(id));
  for (int32_t id : change.constants) all_of(head(id));
  for (uint64_t content : change.contents)
    for_watches(bucket(content), [&](const Watch& w) {
      if (w.content == content) mark_stale(w.match);
    });
  all_of(constants_head_);
  if (change.paths) all_of(joint_head_);
}

bool MatchSet::is_found(const Place& place) const {
  auto [begin, end] = found_.equal_range(hash_of(place));
  return std::any_of(begin, end, [&](const auto& f) { return match(f.second).is_at(place); });
}

/// The matches that a fresh node is part of.
void MatchSet::find_around(const Change& change) {
  fresh_stamp_.resize(std::max(fresh_stamp_.size(), static_cast<size_t>(g_.id_bound())), 0);
  std::vector<int32_t> roots;
  for (int32_t id : change.fresh) {
    fresh_stamp_[static_cast<size_t>(id)] = stamp_;
    rules_.tree().outputs_above(g_, id, roots);
  }
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  found_.clear();
  VisitPlace visit = [&](const Place& place) {
    bool fresh = std::any_of(place.nodes.begin(), place.nodes.end(), [&](int32_t id) {
      return fresh_stamp_[static_cast<size_t>(id)] == stamp_;
    });
    if (!fresh) return false;
    bool joint = rules_.rules()[static_cast<size_t>(place.rule)].rule.lhs.outputs.size() > 1;
    if (joint && is_found(place)) return false;
    int32_t number = count_;
    bool added = add(place);
    if (joint && added) found_.emplace(hash_of(place), number);
    return added;
  };
  for (int32_t root : roots) {
    left_out_ += rules_.tree().match(g_, root, limits(), visit);
    left_out_ += rules_.tree().match_joint(g_, root, limits(), visit);
  }
}

void MatchSet::update(const Change& change) {
  ++round_;
  ++stamp_;
  dropped_.clear();
  if (g_.id_bound() > 0) head(g_.id_bound() - 1);
  for (int32_t id : change.redirected) drop_parts_of(id);
  for (int32_t id : change.removed) drop_parts_of(id);
  stale_.clear();
  fresh_.clear();
  collect_stale(change);
  for (int32_t number : stale_) price(number);
  find_around(change);
}

void MatchSet::diagnose(int32_t id, const PlaceLimits& limits, const VisitMisfit& visit) {
  std::vector<int32_t> roots;
  rules_.tree().outputs_above(g_, id, roots);
  std::ranges::sort(roots);
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  VisitNear near = [&](const Place& place, const Gap* gap) {
    if (std::ranges::find(place.nodes, id) == place.nodes.end()) return;
    Misfit why;
    if (gap)
      why = {gap->node < 0 ? Misfit::Equality : Misfit::Attribute, -1, gap->node, gap->part, {}};
    else if (splits_fusion(place))
      why.kind = Misfit::Fusion;
    else
      why = fitter_.misfit(g_, place);
    if (why.kind == Misfit::None && !planner_.make(place, *fitter_.fit(g_, place)))
      why.kind = Misfit::Effect;
    visit(place, why);
  };
  for (int32_t root : roots) rules_.tree().match_nearly(g_, root, limits, near);
}

MatchSet::Mark MatchSet::mark() const {
  return {log_.size(), heads_.size(), count_, lists_.size(), round_};
}

void MatchSet::undo(const Mark& m) {
  while (log_.size() > m.log) {
    Entry e = log_.back();
    log_.pop_back();
    Match& match = at(e.match);
    switch (e.did) {
      case Did::Link:
        for (int32_t l = e.first + e.count; l-- > e.first;) lists_.remove(l);
        match.watches = 0;
        break;
      case Did::Unlink:
        for (int32_t l = e.first + e.count; l-- > e.first;) lists_.restore(l);
        match.first_watch = e.first;
        match.watches = e.count;
        break;
      case Did::List:
        listed_.pop_back();
        joint_listed_ -= match.joint;
        match.listed = -1;
        break;
      case Did::Unlist: {
        auto place = static_cast<size_t>(e.first);
        if (place == listed_.size()) {
          listed_.push_back(e.match);
        } else {
          at(listed_[place]).listed = static_cast<int32_t>(listed_.size());
          listed_.push_back(listed_[place]);
          listed_[place] = e.match;
        }
        match.listed = e.first;
        joint_listed_ += match.joint;
        break;
      }
      case Did::Price:
        match.cost_change = e.cost;
        match.growth = e.growth;
        match.round = e.round;
        break;
    }
  }
  count_ = m.matches;
  round_ = m.round;
  heads_.resize(m.heads);
  lists_.truncate(m.watches);
  watches_.resize(static_cast<size_t>(m.watches));
  targets_.resize(static_cast<size_t>(m.watches));
}

}  // namespace regraft::rewrite
