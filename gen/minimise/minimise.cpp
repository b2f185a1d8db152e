#include "gen/minimise/minimise.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "gen/minimise/links.h"

namespace regraft::gen {
namespace {

constexpr size_t kBatch = 2048;       // groups that are connected side by side
constexpr size_t kBatchPart = 16;     // at least this part of those that are done
constexpr size_t kLarge = 4096;       // applications of a group that is connected over all threads
constexpr size_t kBlock = 16384;      // of its applications side by side
constexpr size_t kAhead = 8;          // groups that may be judged ahead, for each thread
constexpr size_t kAheadOfOthers = 3;  // and for each helper, all of which end before any is taken
constexpr size_t kMostAhead = 512;
constexpr size_t kChosen = 8;  // from how many times as many they are chosen
constexpr int kSmall = 2;      // calls of terms whose shapes rules name

}  // namespace

bool Minimiser::Item::is_large() const { return applications.size() >= kLarge; }

Minimiser::Minimiser(const ValueGraph& graph, Bank& bank, uint64_t seed, int threads, Sink found)
    : graph_(graph),
      bank_(bank),
      variables_(bank),
      seed_(seed),
      threads_(threads),
      found_(std::move(found)),
      rewrites_(graph),
      followers_(graph) {
  collect();
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

Rewrites::Places Minimiser::places(const Stop& stop) {
  Rewrites::Places r;
  rewrites_.tell(&r);
  for (const Item& item : items_) {
    if (item.level > kSmall || item.is_large()) continue;
    if (stop.must_end()) break;
    Links links(item, {});
    connect(item, 0, links, nullptr);
  }
  rewrites_.tell(nullptr);
  return r;
}

std::vector<uint32_t> Minimiser::equal_followers(const Item& item) const {
  return followers_.equal(item.level, item.known, item.applications);
}

Minimiser::Links Minimiser::links_of(const Item& item) const {
  return Links(item, equal_followers(item));
}

void Minimiser::connect(const Item& item, size_t first_rule, Links& links, const Stop* stop) const {
  connect_loose(item, first_rule, links, stop);
  if (!item.is_large()) connect_known(item, first_rule, links);
}

void Minimiser::take(const Verdict& verdict) {
  for (const Finding& f : verdict.found) {
    rewrites_.add(f.rule, {f.signature});
    if (f.grows)
      ++counts_.grows;
    else
      found_(f);
  }
  switch (verdict.kind) {
    case Verdict::Alias:
      ++counts_.alias;
      break;
    case Verdict::Chance:
      ++counts_.chance;
      break;
    case Verdict::Constants:
      ++counts_.constants;
      break;
    case Verdict::OtherShapes:
      ++counts_.other_shapes;
      break;
    case Verdict::Rules:
      ++counts_.generalised;
      break;
  }
  if (verdict.ground) rewrites_.add(verdict.ground->rule, {verdict.ground->signature});
}

/// What is known, or the first application, and another application.
Pair Minimiser::pair(Bank& bank, const Item& item, size_t application) const {
  Pair p;
  p.lhs = item.known != kNoClass ? graph_.extract(bank, item.known)
                                 : graph_.extract(bank, item.applications[0]);
  p.rhs = graph_.extract(bank, item.applications[application]);
  CHECK(p.lhs >= 0 && p.rhs >= 0);
  return p;
}

/// In a bank of its own: the order in which terms are made shows in their operands' order.
Verdict Minimiser::verdict(const Item& item, size_t application) const {
  Bank bank = variables_;
  return judge(bank, pair(bank, item, application), seed_);
}

std::vector<Pair> Minimiser::pairs_at(const std::vector<uint64_t>& numbers) {
  std::vector<Pair> r;
  uint64_t first = 0;
  auto next = numbers.begin();
  for (const Item& item : items_) {
    size_t skipped = item.known == kNoClass ? 1 : 0;
    uint64_t count = item.applications.size() - skipped;
    for (; next != numbers.end() && *next < first + count; ++next)
      r.push_back(pair(bank_, item, *next - first + skipped));
    first += count;
  }
  return r;
}

/// Connects what is left: each loose application gives a pair with what is known.
Minimiser::Settled Minimiser::settle(size_t index, Links& links, Ahead& ahead, const Stop* stop,
                                     Unjudged unjudged) {
  const Item& item = items_[index];
  for (size_t k = 0; k < item.applications.size(); ++k) {
    if (links.rules < rewrites_.size()) connect(item, links.rules, links, stop);
    links.rules = rewrites_.size();
    if (links.connected()) break;
    if (links.root(k + 1) == 0) continue;
    if (stop && stop->must_end()) return Settled::Stopped;
    if (judged_.empty() || judged_.back().group != index) judged_.push_back({index, {}});
    std::vector<Verdict>& verdicts = judged_.back().verdicts;
    if (verdicts.size() < ahead.first.size())
      verdicts.push_back(ahead.first[verdicts.size()]);
    else if (auto known = std::exchange(ahead.verdict, std::nullopt);
             known && ahead.application == k)
      verdicts.push_back(*std::move(known));
    else if (unjudged == Unjudged::Judge)
      verdicts.push_back(verdicts_ ? verdicts_->take({index, k}) : verdict(item, k));
    else
      return Settled::NotYet;
    take(verdicts.back());
    links.join(k + 1, 0);
  }
  return Settled::Yes;
}

size_t Minimiser::replay(size_t position, const std::vector<JudgedGroup>& judged, const Stop& stop,
                         Progress& progress) {
  position = std::min(position, items_.size());
  size_t next = 0;  // groups are judged in order, each once, whatever the list says
  for (const auto& [index, verdicts] : judged) {
    if (index >= position || index < next) continue;
    if (stop.must_end()) return index;
    next = index + 1;
    Links links = links_of(items_[index]);
    Ahead ahead{0, std::nullopt, verdicts};
    if (settle(index, links, ahead, &stop, Unjudged::Judge) != Settled::Yes) return index;
  }
  progress.add(position);
  return position;
}

/// The operators of a term of an application, whatever their attributes.
uint64_t Minimiser::template_of(Application a) const {
  auto instance = static_cast<size_t>(a.instance());
  const ShapedOps& ops = graph_.plans();
  uint64_t h = hash_text(ops.label(instance).op->name);
  if (const Label* then = ops.then(instance)) h = combine(h, hash_text(then->op->name));
  for (ClassId c : graph_.operands(a))
    h = combine(h, graph_.is_leaf(c) ? 1 : template_of(graph_.first(c)));
  return h;
}

/// Two templates: of what is known and of an application.
std::pair<uint64_t, uint64_t> Minimiser::templates_of(const Item& item, size_t application) const {
  uint64_t left = 1;
  if (item.known == kNoClass)
    left = template_of(item.applications[0]);
  else if (!graph_.is_leaf(item.known))
    left = template_of(graph_.first(item.known));
  return {left, template_of(item.applications[application])};
}

/// Of loose groups those whose first loose applications look different, and these applications:
/// what looks the same is often connected by what the first of them gives. Those that are being
/// judged are left out.
std::vector<size_t> Minimiser::unlike(size_t position, const std::vector<Links>& links,
                                      const std::vector<size_t>& loose, size_t most,
                                      std::vector<Ahead>& ahead) const {
  std::vector<size_t> chosen;
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (size_t j : loose) {
    if (links[j].connected() || ahead[j].verdict || chosen.size() == most) continue;
    const size_t first = ahead[j].application = links[j].first_loose();
    if (!seen.insert(templates_of(items_[position + j], first)).second) continue;
    if (!verdicts_ || !verdicts_->is_begun({position + j, first})) chosen.push_back(j);
  }
  return chosen;
}

/// Connects the next groups from k on with the rules of late; where the group at k stays loose, it
/// and others of them that look different are judged ahead: by threads in the background, or by
/// others, if there are any. What is found in the end depends neither on this nor on the number of
/// threads.
Status Minimiser::look_ahead(size_t position, std::vector<Links>& links, size_t k,
                             std::vector<Ahead>& ahead) const {
  const size_t most = judged_ahead();
  std::vector<size_t> loose;
  for (size_t j = k; j < links.size() && loose.size() < kChosen * most; ++j)
    if (!links[j].connected() && !items_[position + j].is_large()) loose.push_back(j);
  parallel_for(loose.size(), threads_, [&](size_t j) {
    Links& l = links[loose[j]];
    if (l.rules < rewrites_.size()) connect(items_[position + loose[j]], l.rules, l, nullptr);
    l.rules = rewrites_.size();
  });
  if (links[k].connected()) return {};
  std::vector<size_t> chosen = unlike(position, links, loose, most, ahead);
  if (others_) return judge_by_others(position, chosen, ahead);
  std::vector<PairOf> pairs;
  for (size_t j : chosen) pairs.push_back({position + j, ahead[j].application});
  verdicts_->propose(std::move(pairs));
  return {};
}

/// How many groups.
size_t Minimiser::judged_ahead() const {
  const size_t most =
      others_ ? kAheadOfOthers * others_->helpers.width() : kAhead * static_cast<size_t>(threads_);
  return std::clamp(most, kAheadOfOthers, kMostAhead);
}

/// The group at k.
Minimiser::Settled Minimiser::settle_next(size_t position, std::vector<Links>& links, size_t k,
                                          std::vector<Ahead>& ahead, const Stop& stop) {
  const bool alone = (!verdicts_ && !others_) || items_[position + k].is_large();
  while (!links[k].connected()) {
    if (!alone && !ahead[k].verdict) failure_ = look_ahead(position, links, k, ahead);
    if (!failure_ || stop.must_end()) return Settled::Stopped;
    auto settled = settle(position + k, links[k], ahead[k], &stop,
                          others_ && !alone ? Unjudged::Leave : Unjudged::Judge);
    if (settled != Settled::NotYet) return settled;
  }
  return Settled::Yes;
}

size_t Minimiser::run(size_t position, const Stop& stop, Progress& progress) {
  size_t end = std::min(items_.size(), position + std::max(kBatch, position / kBatchPart));
  std::vector<Links> links(end - position);
  std::vector<Ahead> ahead(links.size());
  if (others_) failure_ = connect_by_others(position, links);
  if (!failure_) return position;
  if (threads_ > 1 && !others_ && !verdicts_)
    verdicts_ = std::make_unique<VerdictsAhead>(
        threads_ - 1, [this](const PairOf& p) { return verdict(items_[p.group], p.application); });
  parallel_for(
      others_ ? 0 : end - position, threads_,
      [&](size_t k) {
        const Item& item = items_[position + k];
        links[k] = links_of(item);
        if (item.is_large() || stop.must_end()) return;  // large ones over all threads, later
        connect(item, 0, links[k], nullptr);
        links[k].rules = rewrites_.size();
      },
      16);
  const size_t first = position;
  for (size_t k = 0; k < links.size() && !stop.must_end(); ++k) {
    if (settle_next(first, links, k, ahead, stop) == Settled::Stopped) break;
    if (stop.must_end()) break;  // perhaps in the midst of it
    counts_.followers += links[k].followers;
    counts_.renaming += links[k].renaming;
    counts_.common += links[k].common;
    counts_.derivable += links[k].derivable;
    links[k] = {};
    if (verdicts_) verdicts_->forget_up_to(position);
    ++position;
    progress.add();
  }
  if (position == items_.size())
    verdicts_.reset();
  else if (verdicts_)
    verdicts_->propose({});
  return position;
}

}  // namespace regraft::gen
