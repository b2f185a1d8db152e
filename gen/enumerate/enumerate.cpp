#include "gen/enumerate/enumerate.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "base/rng.h"
#include "gen/enumerate/enumerator.h"
#include "gen/enumerate/modular.h"

namespace regraft::gen {
namespace {

constexpr size_t kTask = 64;  // classes that a worker takes at a time

}  // namespace

Result<Enumeration> Enumerator::run() {
  RETURN_IF_ERROR(add_leaves());
  RETURN_IF_ERROR(add_free());
  Progress progress("enumerate " + std::string(plans_.grammar().name), "classes", 0,
                    options_.verbosity);
  for (int level = 1; level <= options_.max_size && result_.ended == Ended::Complete; ++level) {
    if (level < options_.max_size || !options_.helpers) {
      run_level(level, progress);
      continue;
    }
    Status done = run_last_by_others();
    if (!done && !stop_.must_end()) return done.error();
    if (!done) result_.ended = Ended::Stopped;
  }
  index_nodes();
  auto distinct = static_cast<double>(result_.counts.classes += graph_->size());
  result_.counts.error_bound = distinct * distinct / 2 * std::ldexp(1.0, options_.max_size + 1) /
                               static_cast<double>(Residue::kPrime);
  return std::move(result_);
}

Status Enumerator::run_below_last() {
  RETURN_IF_ERROR(add_leaves());
  RETURN_IF_ERROR(add_free());
  Progress progress("", "", 0, Verbosity::Quiet);
  for (int level = 1; level < options_.max_size && result_.ended == Ended::Complete; ++level)
    run_level(level, progress);
  index_nodes();
  index_ = std::make_unique<ClassIndex>(*graph_, options_.max_size - 1);
  first_tuple_ = graph_->tuples_.size();
  return {};
}

/// Constants, and parts of larger terms.
Status Enumerator::add_free() {
  std::map<std::string_view, ClassId> named;
  ClassId next = 0;
  for (const LeafKind& kind : plans_.grammar().leaves) {
    named[kind.name] = next;
    next += static_cast<ClassId>(kind.count);
  }
  for (size_t k = 0; k < plans_.grammar().instances.size(); ++k) {
    const Instance& in = plans_.grammar().instances[k];
    if (in.scope != Scope::Free && in.scope != Scope::Given) continue;
    Operands operands;
    for (std::string_view operand : in.operands) {
      auto at = named.find(kind_of(operand).value_or(""));
      if (at == named.end() || operands.count == 2)
        return error("given " + std::string(in.op) + ": operand " + std::string(operand));
      operands.push_back(at->second);
    }
    auto known = add_free_class(static_cast<int>(k), operands);
    if (known && !in.name.empty()) named[in.name] = *known;
  }
  return {};
}

/// The class of what costs no call; nullopt when it has no value.
std::optional<ClassId> Enumerator::add_free_class(int instance, const Operands& operands) {
  std::vector<ShapeId> shapes;
  std::vector<View> views;
  uint64_t bits = 0;
  for (ClassId c : operands) {
    shapes.push_back(graph_->shape(c));
    bits |= graph_->leaves(c);
  }
  for (ClassId c : operands)
    views.push_back(store_.view(c, plans_.info(graph_->shape(c)).weights.size()));
  for (const ShapedOp* p : plans_.complete(shapes)) {
    if (p->instance != instance) continue;
    Values values;
    Field algebra(mix(options_.seed));
    Kernel::Scratch scratch;
    if (!p->kernels[0]->evaluate(views, plans_.trials(), store_.channels, algebra, scratch, values))
      return std::nullopt;
    const ShapeInfo& info = plans_.info(p->outputs[0]);
    uint64_t key = info.key(dot_p(info.weights, values.v));
    auto known = std::find(graph_->keys_.begin(), graph_->keys_.end(), key);
    if (known != graph_->keys_.end()) return static_cast<ClassId>(known - graph_->keys_.begin());
    ClassId a = operands.count > 0 ? operands.ids[0] : kNoClass;
    ClassId b = operands.count > 1 ? operands.ids[1] : kNoClass;
    graph_->shapes_.push_back(p->outputs[0]);
    graph_->levels_.push_back(0);
    graph_->leaves_.push_back(bits);
    graph_->first_.push_back(Application::of(instance, 0, a, b));
    graph_->supports_.push_back({Support{}});
    graph_->keys_.push_back(key);
    auto id = static_cast<ClassId>(graph_->size() - 1);
    graph_->nodes_.emplace_back(id, graph_->first_.back());
    size_t at = store_.v.size();
    store_.add(values.v.size());
    std::copy(values.v.begin(), values.v.end(), store_.v.begin() + static_cast<ptrdiff_t>(at));
    std::copy(values.r.begin(), values.r.end(), store_.r.begin() + static_cast<ptrdiff_t>(at));
    std::copy(values.w.begin(), values.w.end(),
              store_.w.begin() + static_cast<ptrdiff_t>(values.w.empty() ? 0 : at));
    return id;
  }
  return std::nullopt;
}

std::vector<Sink> Enumerator::apply_level(int level, Progress& progress) {
  ClassIndex index(*graph_, level - 1);
  auto threads = static_cast<size_t>(std::max(1, options_.threads));
  std::vector<Sink> sinks(threads);
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> bytes{0};
  std::atomic<bool> full{false};
  auto work = [&](size_t t) {
    Worker worker(*graph_, store_, index, level, options_.seed, sinks[t]);
    if (t == 0 && level == 1) worker.nullary();
    uint64_t reported = 0;
    while (!stop_.must_end() && !full) {
      size_t first = next.fetch_add(kTask);
      if (first >= graph_->size()) break;
      size_t last = std::min(first + kTask, graph_->size());
      for (size_t c = first; c < last; ++c) worker.from(static_cast<ClassId>(c));
      uint64_t now = sinks[t].bytes();
      uint64_t all = bytes += now - reported;
      reported = now;
      full = full || (options_.max_bytes > 0 && graph_->bytes() + all > options_.max_bytes);
      progress.add(last - first);
    }
  };
  parallel_for(threads, static_cast<int>(threads), work);
  if (full) result_.ended = Ended::OutOfMemory;
  if (stop_.must_end()) result_.ended = Ended::Stopped;
  for (const Sink& s : sinks) result_.counts.evaluations += s.evaluations;
  return sinks;
}

void Enumerator::place_wide(std::vector<Sink>& sinks) {
  std::vector<std::array<ClassId, kMaxArity - 1>> fresh;
  for (const Sink& s : sinks)
    for (const FoundWide& f : s.wide)
      if (graph_->tuple_ids_.count(f.rest) == 0) fresh.push_back(f.rest);
  std::sort(fresh.begin(), fresh.end());
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  for (const auto& rest : fresh) {
    graph_->tuple_ids_[rest] = static_cast<ClassId>(graph_->tuples_.size());
    graph_->tuples_.push_back(rest);
  }
  for (Sink& s : sinks) {
    for (const FoundWide& f : s.wide)
      s.put(f.key, Application::of(f.instance, f.output, f.a, graph_->tuple_ids_.at(f.rest)));
    std::vector<FoundWide>().swap(s.wide);
  }
}

Shard Enumerator::to_shard(std::vector<Found> found) const {
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  Shard shard;
  for (size_t k = 0; k < found.size();) {
    size_t end = k;
    Bucket b{kNoClass, found[k].key, shard.applications.size(), 0};
    for (; end < found.size() && found[end].key == found[k].key; ++end) {
      if (found[end].application.bits < kNoClass)
        b.known = static_cast<ClassId>(found[end].application.bits);
      else
        shard.applications.push_back(found[end].application);
    }
    b.end = shard.applications.size();
    if (b.end > b.begin) shard.buckets.push_back(b);
    k = end;
  }
  return shard;
}

/// Puts what is known beside what was found, and groups by key.
std::vector<Shard> Enumerator::sort_shards(std::vector<Sink>& sinks) {
  for (ClassId c = 0; c < graph_->size(); ++c) sinks[0].put(graph_->key(c), Application{c});
  std::vector<Shard> shards(Sink::kShards);
  parallel_for(Sink::kShards, options_.threads, [&](size_t s) {
    std::vector<Found> all = std::move(sinks[0].shards[s]);
    for (size_t t = 1; t < sinks.size(); ++t) {
      auto& more = sinks[t].shards[s];
      all.insert(all.end(), more.begin(), more.end());
      std::vector<Found>().swap(more);
    }
    shards[s] = to_shard(std::move(all));
  });
  return shards;
}

void Enumerator::run_level(int level, Progress& progress) {
  std::vector<Sink> sinks = apply_level(level, progress);
  if (result_.ended != Ended::Complete) return;
  place_wide(sinks);
  std::vector<Shard> shards = sort_shards(sinks);
  sinks.clear();
  for (const Shard& s : shards) {
    result_.counts.applications += s.applications.size();
    for (const Bucket& b : s.buckets)
      result_.counts.collisions += b.end - b.begin - (b.known == kNoClass ? 1 : 0);
  }
  if (level == options_.max_size)
    keep_groups(std::move(shards));
  else
    keep_level(level, std::move(shards));
}

void Enumerator::keep_groups(std::vector<Shard> shards) {
  for (Shard& s : shards) {
    for (const Bucket& b : s.buckets) {
      if (b.known == kNoClass) ++result_.counts.classes;
      if (b.known == kNoClass && b.end - b.begin < 2) continue;
      auto from = s.applications.begin();
      graph_->groups.push_back(
          {b.known,
           {from + static_cast<ptrdiff_t>(b.begin), from + static_cast<ptrdiff_t>(b.end)}});
    }
    s = {};
  }
  std::sort(graph_->groups.begin(), graph_->groups.end(), [](const Group& a, const Group& b) {
    return a.applications.front() < b.applications.front();
  });
}

void Enumerator::add_tokens(const std::vector<Shard>& shards) {
  std::vector<uint64_t> calls;
  for (const Shard& s : shards)
    for (Application a : s.applications)
      if (plans_.label(static_cast<size_t>(a.instance())).outputs > 1)
        calls.push_back(a.bits & ~(uint64_t{3} << 52));
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  for (uint64_t call : calls) {
    auto token = kCallToken + static_cast<Token>(graph_->token_classes_.size());
    if (graph_->call_tokens_.emplace(call, token).second) graph_->token_classes_.emplace_back();
  }
}

std::vector<Support> Enumerator::supports_of(std::span<const Application> applications,
                                             ClassId c) const {
  std::vector<Support> r;
  if (c < graph_->supports_.size())
    for (TokenSpan s : graph_->supports(c)) r.emplace_back(s);
  for (Application a : applications) {
    Token token = graph_->token_of(a, c);
    std::vector<SupportList> lists;
    for (ClassId o : graph_->operands(a)) lists.push_back(graph_->supports(o));
    for (const Support& u : all_unions(lists, options_.max_size - 2))
      if (!contains(u.span(), token) && !contains(u.span(), c)) add_irredundant(r, u.with(token));
  }
  return r;
}

void Enumerator::add_supports(ClassId first, const std::vector<Shard>& shards,
                              const std::vector<std::pair<uint32_t, uint32_t>>& fresh) {
  constexpr size_t kChunk = 4096;
  auto applications = [&](const Shard& s, const Bucket& b) {
    return std::span<const Application>(s.applications).subspan(b.begin, b.end - b.begin);
  };
  std::vector<std::vector<std::vector<Support>>> chunks((fresh.size() + kChunk - 1) / kChunk);
  parallel_for(chunks.size(), options_.threads, [&](size_t chunk) {
    for (size_t k = chunk * kChunk; k < std::min(fresh.size(), (chunk + 1) * kChunk); ++k) {
      const Shard& s = shards[fresh[k].first];
      chunks[chunk].push_back(supports_of(applications(s, s.buckets[fresh[k].second]),
                                          first + static_cast<ClassId>(k)));
    }
  });
  std::vector<std::pair<uint32_t, std::vector<Support>>> changed;
  for (const Shard& s : shards)
    for (const Bucket& b : s.buckets)
      if (b.known != kNoClass && !graph_->is_leaf(b.known) && graph_->level(b.known) > 0)
        changed.emplace_back(b.known, supports_of(applications(s, b), b.known));
  std::sort(changed.begin(), changed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  graph_->supports_.replace(changed);
  for (auto& chunk : chunks) {
    for (const auto& list : chunk) graph_->supports_.push_back(list);
    chunk = {};
  }
}

void Enumerator::add_classes(int level, std::vector<Shard>& shards) {
  std::vector<std::pair<uint32_t, uint32_t>> fresh;  // shard, bucket
  for (uint32_t s = 0; s < shards.size(); ++s)
    for (uint32_t b = 0; b < shards[s].buckets.size(); ++b)
      if (shards[s].buckets[b].known == kNoClass) fresh.emplace_back(s, b);
  auto front = [&](const std::pair<uint32_t, uint32_t>& f) {
    return shards[f.first].applications[shards[f.first].buckets[f.second].begin];
  };
  std::sort(fresh.begin(), fresh.end(),
            [&](const auto& a, const auto& b) { return front(a) < front(b); });
  auto first = static_cast<ClassId>(graph_->size());
  for (const auto& f : fresh) {
    Application a = front(f);
    std::vector<ShapeId> operands;
    for (ClassId c : graph_->operands(a)) operands.push_back(graph_->shape(c));
    for (const ShapedOp* p : plans_.complete(operands))
      if (p->instance == a.instance())
        graph_->shapes_.push_back(p->outputs[static_cast<size_t>(a.output())]);
    graph_->levels_.push_back(static_cast<uint8_t>(level));
    graph_->leaves_.push_back(graph_->leaves(a));
    graph_->keys_.push_back(shards[f.first].buckets[f.second].key);
    graph_->first_.push_back(a);
  }
  add_tokens(shards);
  add_supports(first, shards, fresh);
  for (size_t k = 0; k < fresh.size(); ++k)
    shards[fresh[k].first].buckets[fresh[k].second].known = first + static_cast<ClassId>(k);
}

void Enumerator::keep_level(int level, std::vector<Shard> shards) {
  auto first = static_cast<ClassId>(graph_->size());
  add_classes(level, shards);
  for (Shard& s : shards) {
    for (const Bucket& b : s.buckets)
      for (size_t k = b.begin; k < b.end; ++k) {
        Application a = s.applications[k];
        graph_->nodes_.emplace_back(b.known, a);
        if (Token t = graph_->token_of(a, b.known); t >= kCallToken)
          graph_->token_classes_[t - kCallToken].push_back(b.known);
      }
    s = {};
  }
  for (auto& classes : graph_->token_classes_) std::sort(classes.begin(), classes.end());
  if (level <= options_.max_size - 2) store_values(first);
}

void Enumerator::store_values(ClassId first) {
  auto last = static_cast<ClassId>(graph_->size());
  ClassIndex empty(*graph_, 0);
  for (ClassId c = first; c < last; ++c) store_.add(elements(graph_->shape(c)));
  constexpr size_t kChunk = 256;
  parallel_for((last - first + kChunk - 1) / kChunk, options_.threads, [&](size_t chunk) {
    Sink unused;
    Worker worker(*graph_, store_, empty, 1, options_.seed, unused);
    Values values;
    auto end = std::min<size_t>(last, first + (chunk + 1) * kChunk);
    for (size_t c = first + chunk * kChunk; c < end; ++c) {
      CHECK(worker.value(graph_->first(static_cast<ClassId>(c)), values));
      auto at = static_cast<ptrdiff_t>(store_.begin[c]);
      std::copy(values.v.begin(), values.v.end(), store_.v.begin() + at);
      std::copy(values.r.begin(), values.r.end(), store_.r.begin() + at);
      if (!values.w.empty()) std::copy(values.w.begin(), values.w.end(), store_.w.begin() + at);
    }
  });
}

void Enumerator::index_nodes() {
  ValueGraph& g = *graph_;
  std::vector<std::tuple<ClassId, uint8_t, Application>> sized;
  for (const auto& [c, a] : g.nodes_) {
    bool free = g.levels_[c] == 0 && a == g.first_[c];
    sized.emplace_back(c, static_cast<uint8_t>(free ? 0 : g.operand_union(a) + 1), a);
  }
  std::sort(sized.begin(), sized.end());
  g.node_begin_.assign(g.size() + 1, 0);
  for (const auto& [c, size, a] : sized) {
    ++g.node_begin_[c + 1];
    g.node_list_.push_back(a);
    g.node_sizes_.push_back(size);
    g.by_application_.emplace_back(a, c);
  }
  for (size_t c = 0; c < g.size(); ++c) g.node_begin_[c + 1] += g.node_begin_[c];
  g.index_applications();
  std::vector<std::pair<ClassId, Application>>().swap(g.nodes_);
}

Result<Enumeration> enumerate(ShapedOps& plans, const EnumerateOptions& options, Bank& bank,
                              const Stop& stop) {
  if (options.max_size < 1 || options.max_size > kMaxSize)
    return error("--max-size " + std::to_string(options.max_size) + ": must be 1 to " +
                 std::to_string(kMaxSize));
  return Enumerator(plans, options, bank, stop).run();
}

}  // namespace regraft::gen
