#include "gen/minimise/minimise.h"

#include <algorithm>
#include <bit>

#include "base/files/bytes.h"
#include "gen/minimise/pair.h"

namespace regraft::gen {
namespace {

constexpr size_t kBatch = 2048;    // groups that are connected side by side
constexpr size_t kBatchPart = 16;  // at least this part of those that are done
constexpr size_t kLarge = 4096;    // applications of a group that is connected over all threads
constexpr size_t kBlock = 16384;   // of its applications side by side

/// The numbers above 1 of all attributes.
std::set<int64_t> numbers_of(const Bank& bank, TermId t) {
  std::set<int64_t> r;
  for (TermId s : bank.subterms(t)) {
    if (bank.node(s).is_leaf()) continue;
    for (const auto& list : bank.label(bank.node(s).label).attrs.ints)
      for (int64_t n : list)
        if (n > 1) r.insert(n);
  }
  return r;
}

/// A number of `to` may be a product of numbers of `from`, as where strides follow strides.
bool multiplies(const Bank& bank, TermId from, TermId to) {
  std::set<int64_t> factors = numbers_of(bank, from), products = numbers_of(bank, to);
  for (int64_t a : factors)
    for (int64_t b : factors)
      if (products.count(a * b)) return true;
  return false;
}

/// The rule read from right to left holds as well.
bool holds_reversed(const Generalised& g, uint64_t seed) {
  if (!is_reversible(g.rule)) return false;
  Rule rule = g.rule;
  rule.domain = {g.signature};
  Rule back = reversed(rule);
  return check(back, back.domain[0], mix(seed), kManyShapes) == Evidence::Holds;
}

}  // namespace

bool Minimiser::Item::is_large() const { return applications.size() >= kLarge; }

struct Minimiser::Links {
  std::vector<size_t> parent;
  size_t parts = 1;
  size_t renaming = 0, common = 0, derivable = 0;  ///< steps that connected two parts
  size_t rules = 0;                                ///< that were tried
  std::unordered_map<uint64_t, size_t> nodes;      ///< of applications, when they are many

  Links() = default;
  explicit Links(const Item& item)
      : parent(item.applications.size() + 1), parts(item.applications.size() + 1) {
    constexpr size_t kMany = 64;
    for (size_t k = 0; k < parent.size(); ++k) parent[k] = k;
    for (size_t k = 0; item.applications.size() > kMany && k < item.applications.size(); ++k)
      nodes.emplace(item.applications[k].bits, k + 1);
    if (item.known == kNoClass) join(0, 1);  // the most general is what others join
  }
  size_t root(size_t k) const {
    while (parent[k] != k) k = parent[k];
    return k;
  }
  bool join(size_t a, size_t b) {
    size_t x = root(a), y = root(b), first = std::min(x, y);
    for (size_t k : {a, b, x, y}) parent[k] = first;
    parts -= x != y;
    return x != y;
  }
  void join_by(size_t a, size_t b, MatchKind match) {
    bool to_known = root(a) == 0 || root(b) == 0;
    if (!join(a, b)) return;
    ++(!to_known ? derivable : match == MatchKind::Renaming ? renaming : common);
  }
  bool connected() const { return parts == 1; }
};

Minimiser::Minimiser(const ValueGraph& graph, Bank& bank, uint64_t seed, int threads, Sink found)
    : graph_(graph),
      bank_(bank),
      seed_(seed),
      threads_(threads),
      found_(std::move(found)),
      rewrites_(graph) {
  collect();
}

/// For each class the calls of its lightest term, counted as often as they occur; followers count.
std::vector<uint32_t> Minimiser::class_weights() const {
  std::vector<uint32_t> weights;
  for (ClassId c = 0; c < graph_.size(); ++c)
    weights.push_back(graph_.is_leaf(c) ? 0 : weight_of(graph_.first(c), weights));
  return weights;
}

uint32_t Minimiser::weight_of(Application a, const std::vector<uint32_t>& classes) const {
  uint32_t weight = graph_.plans().then(static_cast<size_t>(a.instance())) ? 2 : 1;
  for (ClassId c : graph_.operands(a)) weight += classes[c];
  return weight;
}

void Minimiser::add_item(int level, ClassId known, std::vector<Application> applications,
                         const std::vector<uint32_t>& weights) {
  auto rank = [&](Application a) {
    return std::tuple(weight_of(a, weights), -std::popcount(graph_.leaves(a)), a);
  };
  std::sort(applications.begin(), applications.end(),
            [&](Application a, Application b) { return rank(a) < rank(b); });
  bool fresh = known == kNoClass;
  Application second = applications[fresh ? 1 : 0];
  uint32_t weight =
      weight_of(second, weights) + (fresh ? weight_of(applications[0], weights) : weights[known]);
  int leaves = std::popcount(graph_.leaves(second));
  items_.push_back({level, weight, leaves, known, std::move(applications)});
}

void Minimiser::collect() {
  std::vector<uint32_t> weights = class_weights();
  for (ClassId c = 0; c < graph_.size(); ++c) {
    std::map<int, std::vector<Application>> by_size;
    if (graph_.level(c) == 0 && !graph_.is_leaf(c) && graph_.nodes(c).size() < 2) continue;
    for (Application a : graph_.nodes(c)) {
      bool free = graph_.level(c) == 0 && !graph_.is_leaf(c) && a == graph_.first(c);
      if (!free) by_size[graph_.operand_union(a) + 1].push_back(a);
    }
    for (auto& [level, applications] : by_size) {
      bool fresh = level == graph_.level(c);
      if (fresh && applications.size() < 2) continue;
      add_item(level, fresh ? kNoClass : c, std::move(applications), weights);
    }
  }
  for (const Group& g : graph_.groups)
    add_item(graph_.max_size(), g.known, g.applications, weights);
  std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    return std::tuple(a.level, a.weight, -a.leaves) < std::tuple(b.level, b.weight, -b.leaves);
  });
  for (const Item& item : items_)
    counts_.pairs += item.applications.size() - (item.known == kNoClass ? 1 : 0);
}

std::optional<size_t> Minimiser::node_of(const Item& item, const Links& links,
                                         const Rewritten& r) const {
  if (links.nodes.empty()) {
    for (size_t k = 0; k < item.applications.size(); ++k)
      if (item.applications[k] == r.application) return k + 1;
  } else if (auto it = links.nodes.find(r.application.bits); it != links.nodes.end()) {
    return it->second;
  }
  if (r.known != kNoClass && r.known == item.known) return 0;
  return std::nullopt;
}

/// The follower as a call of its own on a class; nullopt when the graph lacks it.
std::optional<Application> Minimiser::followed(ClassId c, const Label& then) const {
  ShapedOps& ops = graph_.plans();
  const auto& instances = ops.grammar().instances;
  const Dims* shape = &ops.info(graph_.shape(c)).dims;
  Operands operand;
  operand.push_back(c);
  for (size_t k = 0; k < instances.size(); ++k)
    if (!ops.then(k) && ops.label(k).op == then.op && instances[k].operands.size() == 1 &&
        fits(instances[k], {&shape, 1}))
      return graph_.application(static_cast<int>(k), 0, operand);
  return std::nullopt;
}

/// What rules make of a call with a follower: the follower stays, the call is rewritten, also
/// several times.
void Minimiser::unfold(Application a, int size,
                       const std::function<void(const Rewritten&)>& reach) const {
  constexpr size_t kMaxSteps = 12;
  const Label& then = *graph_.plans().then(static_cast<size_t>(a.instance()));
  auto plain = graph_.sibling(a, nullptr);
  if (!plain) return;
  auto reach_whole = [&](std::optional<Application> whole, MatchKind match) {
    if (whole) reach({graph_.find(*whole).value_or(kNoClass), *whole, match});
  };
  auto outer = [&](ClassId known, Application inner, MatchKind match) {
    if (known != kNoClass) reach_whole(followed(known, then), match);
    if (inner.bits != 0) reach_whole(graph_.sibling(inner, then.op), match);
  };
  std::vector<Application> seen = {*plain};
  if (auto c = graph_.find(seen[0])) outer(*c, seen[0], MatchKind::Renaming);
  for (size_t k = 0; k < seen.size() && k < kMaxSteps; ++k)
    rewrites_.at(seen[k], 0, size, [&](const Rewritten& r) {
      outer(r.known, r.application, r.match);
      if (r.application.bits != 0 &&
          std::find(seen.begin(), seen.end(), r.application) == seen.end())
        seen.push_back(r.application);
      return false;
    });
}

/// What rules make of an application; with Until::Known they end where it is connected.
std::vector<Minimiser::Step> Minimiser::steps(const Item& item, Application a, size_t first_rule,
                                              const Links& links, Until until) const {
  std::vector<Step> r;
  bool done = false;
  auto reach = [&](const Rewritten& w) {
    if (done || w.application == a) return;  // the same is what is to be shown
    auto to = node_of(item, links, w);
    if (!to) return;
    r.push_back({*to, w.match});
    done = until == Until::Known && links.root(*to) == 0;
  };
  if (graph_.plans().then(static_cast<size_t>(a.instance()))) unfold(a, item.level, reach);
  if (done) return r;
  rewrites_.at(a, first_rule, item.level, [&](const Rewritten& w) {
    reach(w);
    return done;
  });
  return r;
}

/// From those applications that are not connected with what is known. Large groups in blocks over
/// all threads; what is found does not depend on their number.
void Minimiser::connect_loose(const Item& item, size_t first_rule, Links& links,
                              const Stop* stop) const {
  size_t count = item.applications.size(), block = item.is_large() ? kBlock : 1;
  std::vector<size_t> loose;
  std::vector<std::vector<Step>> found;
  for (size_t first = 0; first < count && !links.connected(); first += block) {
    if (item.is_large() && stop && stop->must_end()) return;
    loose.clear();
    for (size_t k = first; k < std::min(count, first + block); ++k)
      if (links.root(k + 1) != 0) loose.push_back(k);
    found.assign(loose.size(), {});
    parallel_for(
        loose.size(), item.is_large() ? threads_ : 1,
        [&](size_t k) {
          found[k] = steps(item, item.applications[loose[k]], first_rule, links, Until::Known);
        },
        64);
    for (size_t k = 0; k < loose.size(); ++k)
      for (Step s : found[k]) links.join_by(loose[k] + 1, s.to, s.match);
  }
}

/// From what is known and what is connected with it. Some rules lead in this direction only.
void Minimiser::connect_known(const Item& item, size_t first_rule, Links& links) const {
  auto expand = [&](size_t node, Application a) {
    for (Step s : steps(item, a, first_rule, links, Until::End)) links.join_by(node, s.to, s.match);
  };
  for (size_t k = 0; k < item.applications.size() && !links.connected(); ++k)
    if (links.root(k + 1) == 0) expand(k + 1, item.applications[k]);
  if (item.known == kNoClass || graph_.is_leaf(item.known)) return;
  for (Application a : graph_.nodes_below(item.known, item.level)) {
    if (links.connected()) break;
    expand(0, a);
  }
}

void Minimiser::connect(const Item& item, size_t first_rule, Links& links, const Stop* stop) const {
  connect_loose(item, first_rule, links, stop);
  if (!item.is_large()) connect_known(item, first_rule, links);
}

/// Rules that lead from one side to the other; reversible where they lead back as well.
Minimiser::Reading Minimiser::direct(TermId lhs, TermId rhs) {
  Reading reading = Reading::False;
  if (!bank_.binds(lhs, rhs)) return reading;
  bool back = bank_.binds(rhs, lhs) && bank_.subterms(lhs).count(rhs) == 0;
  bool grows = bank_.subterms(rhs).count(lhs) > 0;
  for (Generalised& g : generalise(bank_, lhs, rhs, seed_)) {
    g.rule.both = back && !grows && holds_reversed(g, seed_);
    if (reading != Reading::Both) reading = g.rule.both ? Reading::Both : Reading::Forward;
    rewrites_.add(g.rule, {g.signature});
    if (grows)
      ++counts_.grows;
    else
      found_({std::move(g), lhs, rhs});
  }
  return reading;
}

void Minimiser::take(TermId lhs, TermId rhs) {
  Pair p = without_common_subterms(bank_, {lhs, rhs});
  if (p.lhs == p.rhs || directed_key(bank_, p.lhs, p.lhs) == directed_key(bank_, p.lhs, p.rhs)) {
    ++counts_.alias;
    return;
  }
  if (!bank_.same_value(p.lhs, p.rhs)) {  // other inputs than the enumeration's
    ++counts_.chance;
    return;
  }
  bool constant = bank_.leaves(p.lhs).empty() && bank_.leaves(p.rhs).empty();
  bool holds = false;
  if (!constant) {
    Reading forward = direct(p.lhs, p.rhs);
    holds = forward != Reading::False;
    if (forward != Reading::Both || multiplies(bank_, p.rhs, p.lhs))
      holds = direct(p.rhs, p.lhs) != Reading::False || holds;
  }
  if (constant)
    ++counts_.constants;
  else if (holds)
    ++counts_.generalised;
  else
    ++counts_.other_shapes;
  TemplatePair ground;  // prunes what follows from it, at shapes like these
  ground.lhs = p.lhs;
  ground.rhs = p.rhs;
  if (bank_.node(p.lhs).is_leaf() || !bank_.binds(p.lhs, p.rhs)) std::swap(ground.lhs, ground.rhs);
  if (bank_.binds(ground.lhs, ground.rhs))
    rewrites_.add(to_rule(bank_, ground), {leaf_signature(bank_, ground.lhs)});
}

/// What is known, or the first application, and another application.
Pair Minimiser::pair(const Item& item, size_t application) {
  Pair p;
  p.lhs = item.known != kNoClass ? graph_.extract(bank_, item.known)
                                 : graph_.extract(bank_, item.applications[0]);
  p.rhs = graph_.extract(bank_, item.applications[application]);
  CHECK(p.lhs >= 0 && p.rhs >= 0);
  return p;
}

std::vector<Pair> Minimiser::pairs_at(const std::vector<uint64_t>& numbers) {
  std::vector<Pair> r;
  uint64_t first = 0;
  auto next = numbers.begin();
  for (const Item& item : items_) {
    size_t skipped = item.known == kNoClass ? 1 : 0;
    uint64_t count = item.applications.size() - skipped;
    for (; next != numbers.end() && *next < first + count; ++next)
      r.push_back(pair(item, *next - first + skipped));
    first += count;
  }
  return r;
}

/// Connects what is left: each loose application gives a pair with what is known. False when it was
/// stopped.
bool Minimiser::settle(size_t index, Links& links, const Stop* stop) {
  const Item& item = items_[index];
  for (size_t k = 0; k < item.applications.size(); ++k) {
    if (links.rules < rewrites_.size()) connect(item, links.rules, links, stop);
    links.rules = rewrites_.size();
    if (links.connected()) break;
    if (links.root(k + 1) == 0) continue;
    if (stop && stop->must_end()) return false;
    if (judged_.empty() || judged_.back() != index) judged_.push_back(index);
    Pair p = pair(item, k);
    take(p.lhs, p.rhs);
    links.join(k + 1, 0);
  }
  return true;
}

size_t Minimiser::replay(size_t position, const std::vector<size_t>& judged, const Stop& stop,
                         Progress& progress) {
  position = std::min(position, items_.size());
  size_t next = 0;  // groups are judged in order, each once, whatever the list says
  for (size_t index : judged) {
    if (index >= position || index < next) continue;
    if (stop.must_end()) return index;
    next = index + 1;
    Links links(items_[index]);
    if (!settle(index, links, &stop)) return index;
  }
  progress.add(position);
  return position;
}

size_t Minimiser::run(size_t position, const Stop& stop, Progress& progress) {
  size_t end = std::min(items_.size(), position + std::max(kBatch, position / kBatchPart));
  std::vector<Links> links(end - position);
  if (others_) failure_ = connect_by_others(position, links);
  if (!failure_) return position;
  parallel_for(
      others_ ? 0 : end - position, threads_,
      [&](size_t k) {
        const Item& item = items_[position + k];
        links[k] = Links(item);
        if (item.is_large() || stop.must_end()) return;  // large ones over all threads, later
        connect(item, 0, links[k], nullptr);
        links[k].rules = rewrites_.size();
      },
      16);
  for (size_t k = 0; k < links.size() && !stop.must_end(); ++k) {
    if (!links[k].connected() && !settle(position, links[k], &stop)) break;
    if (stop.must_end()) break;  // perhaps in the midst of it
    counts_.renaming += links[k].renaming;
    counts_.common += links[k].common;
    counts_.derivable += links[k].derivable;
    links[k] = {};
    ++position;
    progress.add();
  }
  return position;
}

/// As connect() with all rules, of the groups from `position` on that are not large.
Status Minimiser::connect_by_others(size_t position, std::vector<Links>& links) {
  std::vector<size_t> items;
  for (size_t k = 0; k < links.size(); ++k) {
    links[k] = Links(items_[position + k]);
    if (!items_[position + k].is_large()) items.push_back(position + k);  // those later
  }
  ASSIGN_OR_RETURN(std::string answers, ask_others(items));
  ByteReader in(answers);
  for (size_t item : items) {
    Links& l = links[item - position];
    for (size_t* n : {&l.parts, &l.renaming, &l.common, &l.derivable}) *n = in.number<uint64_t>();
    auto parent = in.numbers<uint32_t>();
    l.rules = rewrites_.size();
    if (l.connected()) continue;
    bool fits = parent.size() == l.parent.size();
    for (size_t k = 0; fits && k < parent.size(); ++k) fits = parent[k] <= k;  // no circles
    if (!fits) return error("a part of minimising that is none");
    std::ranges::copy(parent, l.parent.begin());
  }
  return in.at_end() ? Status() : error("a part of minimising that is none");
}

std::string Minimiser::connected(const Item& item) const {
  Links links(item);
  connect(item, 0, links, nullptr);
  std::vector<uint32_t> parent;
  if (!links.connected()) parent.assign(links.parent.begin(), links.parent.end());
  ByteWriter out;
  for (size_t n : {links.parts, links.renaming, links.common, links.derivable})
    out.number<uint64_t>(n);
  return out.numbers(parent).finish();
}

}  // namespace regraft::gen
