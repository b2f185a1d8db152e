#include "gen/enumerate.h"

#include <algorithm>

#include "gen/supports.h"

namespace regraft::gen {
namespace {

constexpr int kMaxArity = 5;
constexpr int64_t kMaxElements = 256;
using Dims = std::vector<int64_t>;

/// An operator applied to classes; `output` of it.
struct Application {
  int instance = -1;
  int output = 0;
  std::array<int32_t, kMaxArity> operands{-1, -1, -1, -1, -1};
};

struct Class {
  int shape = 0;
  size_t offset = 0;    ///< of its elements
  uint64_t leaves = 0;  ///< a bit for each leaf of its first term
  int level = 0;        ///< size of its smallest term
  TermId leaf = -1;     ///< when it is one, or a constant that costs nothing
  std::vector<Support> supports;
  std::vector<std::pair<Application, uint32_t>> applications;  ///< with the token of the call
};

struct Found {
  uint64_t key;
  uint64_t leaves;
  Application application;
};

/// What can be done with operands of given shapes.
struct Plan {
  int instance;
  bool complete;              ///< all operands are there
  std::vector<Dims> outputs;  ///< when complete
};

/// The state of the enumeration between levels; read by the workers.
struct State {
  const Theme& theme;
  EnumerateOptions options;
  Bank& bank;
  std::vector<int> labels;  ///< of each instance, in the bank
  std::vector<Class> classes;
  std::vector<Residue> elements;
  std::vector<Dims> shapes;
  std::map<Dims, int> shape_ids;
  std::vector<std::vector<int32_t>> by_shape;
  std::vector<uint64_t> kinds;                       ///< bits of the leaves of each kind
  std::unordered_map<uint64_t, int32_t> known;       ///< key -> class
  std::unordered_map<uint64_t, int32_t> known_last;  ///< key -> index in `last`
  std::vector<Found> last;
  std::map<std::pair<int, std::array<int32_t, kMaxArity>>, uint32_t> multi_tokens;
  SupportIndex index;
  Enumeration result;

  const Label& label(int instance) const {
    return bank.label(labels[static_cast<size_t>(instance)]);
  }
  const Class& at(int32_t c) const { return classes[static_cast<size_t>(c)]; }
  const Dims& dims(int32_t c) const { return shapes[static_cast<size_t>(at(c).shape)]; }
  bool last_level(int k) const { return k == options.max_size; }
};

uint64_t key_of(const Dims& shape, std::span<const Residue> data) {
  uint64_t h = shape.size();
  for (int64_t d : shape) h = h * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(d);
  for (Residue x : data) h = (h ^ x.v) * 0xd6e8feb86659fd93ULL, h ^= h >> 32;
  return mix(h);
}

/// No gaps: of each kind the first leaves are used.
bool without_gaps(const State& s, uint64_t leaves) {
  for (uint64_t kind : s.kinds) {
    uint64_t used = (leaves & kind) / (kind & -kind);
    if (used & (used + 1)) return false;
  }
  return true;
}

/// Applies operators for one level; several work side by side on different first operands.
class Worker {
 public:
  Worker(const State& s, int level) : s_(s), level_(level), algebra_(mix(s.options.seed)) {}
  uint64_t applications = 0, evaluations = 0;

  void nullary(int instance) { try_apply(instance, {}, {}); }
  /// All applications whose first operand is `a`.
  void from(int32_t a, std::vector<Found>& out) {
    out_ = &out;
    if (s_.at(a).level == level_ - 1) unary(a);
    for (int32_t b : s_.index.partners(s_.at(a).supports, level_ - 1))
      if (b != a) binary(a, b);
  }
  void collect(std::vector<Found>& out) { out_ = &out; }

 private:
  void unary(int32_t a) {
    for (const Plan& p : plans({a}))
      if (p.complete) apply(p, {a});
  }
  void binary(int32_t a, int32_t b) {
    const auto& options = plans({a, b});
    if (options.empty()) return;
    int united = smallest_union(s_.at(a).supports, s_.at(b).supports);
    if (united > level_ - 1) return;
    for (const Plan& p : options) {
      if (!p.complete)
        extend(p.instance, {a, b});
      else if (united == level_ - 1 && !is_mirrored(p.instance, a, b))
        apply(p, {a, b});
    }
  }
  /// The same call with commuted operands is made elsewhere.
  bool is_mirrored(int instance, int32_t a, int32_t b) const {
    if (a < b || !s_.label(instance).op->commutative) return false;
    const Dims* shapes[] = {&s_.dims(b), &s_.dims(a)};
    return fits(s_.theme.instances[static_cast<size_t>(instance)], shapes);
  }
  void extend(int instance, std::vector<int32_t> operands) {
    std::vector<const Dims*> shapes;
    for (int32_t o : operands) shapes.push_back(&s_.dims(o));
    shapes.push_back(nullptr);
    const Instance& in = s_.theme.instances[static_cast<size_t>(instance)];
    for (size_t shape = 0; shape < s_.shapes.size(); ++shape) {
      shapes.back() = &s_.shapes[shape];
      if (s_.by_shape[shape].empty() || !fits(in, shapes)) continue;
      for (int32_t c : s_.by_shape[shape]) {
        if (std::find(operands.begin(), operands.end(), c) != operands.end()) continue;
        extend_by(instance, operands, c);
      }
    }
  }
  void extend_by(int instance, std::vector<int32_t> operands, int32_t c) {
    operands.push_back(c);
    std::vector<const std::vector<Support>*> supports;
    for (int32_t o : operands) supports.push_back(&s_.at(o).supports);
    int united = smallest_union(supports);
    if (united > level_ - 1) return;
    for (const Plan& p : plans(operands)) {
      if (p.instance != instance) continue;
      if (!p.complete)
        extend(instance, operands);
      else if (united == level_ - 1)
        apply(p, operands);
    }
  }
  const std::vector<Plan>& plans(const std::vector<int32_t>& operands) {
    uint64_t key = operands.size();
    for (int32_t o : operands) key = combine(key, static_cast<uint64_t>(s_.at(o).shape));
    auto [it, fresh] = plans_.try_emplace(key);
    if (fresh) it->second = make_plans(operands);
    return it->second;
  }
  std::vector<Plan> make_plans(const std::vector<int32_t>& operands) {
    std::vector<Plan> r;
    std::vector<const Dims*> shapes;
    for (int32_t o : operands) shapes.push_back(&s_.dims(o));
    for (size_t k = 0; k < s_.theme.instances.size(); ++k) {
      const Instance& in = s_.theme.instances[k];
      if (in.operands.size() < operands.size() || !fits(in, shapes)) continue;
      if (!in.then.empty()) continue;
      Plan p{static_cast<int>(k), in.operands.size() == operands.size(), {}};
      if (p.complete && !infer(p, shapes)) continue;
      r.push_back(std::move(p));
    }
    return r;
  }
  bool infer(Plan& p, const std::vector<const Dims*>& shapes) {
    Shapes<Field> in;
    for (const Dims* d : shapes) in.push_back(*d);
    algebra_.ok = true;
    const Label& l = s_.label(p.instance);
    auto outputs = l.op->field_semantics.infer(algebra_, in, l.attrs);
    if (!outputs || !algebra_.ok) return false;
    for (const auto& shape : *outputs) {
      int64_t count = 1;
      for (int64_t d : shape) count *= d;
      if (count < 1 || count > kMaxElements) return false;
      p.outputs.emplace_back(shape.begin(), shape.end());
    }
    return true;
  }
  void try_apply(int instance, const std::vector<int32_t>& operands,
                 const std::vector<const Dims*>& shapes) {
    Plan p{instance, true, {}};
    if (infer(p, shapes)) apply(p, operands);
  }
  bool in_scope(int instance, const std::vector<int32_t>& operands) const {
    Scope scope = s_.theme.instances[static_cast<size_t>(instance)].scope;
    auto is_variable = [&](int32_t o) { return s_.at(o).leaf >= 0 && s_.at(o).leaves != 0; };
    auto is_same = [&](int32_t o) {
      const auto& terms = s_.at(o).applications;
      return !terms.empty() && s_.label(terms.front().first.instance).op == s_.label(instance).op;
    };
    if (scope == Scope::Leaves) return std::all_of(operands.begin(), operands.end(), is_variable);
    return scope != Scope::Once || std::none_of(operands.begin(), operands.end(), is_same);
  }
  void apply(const Plan& p, const std::vector<int32_t>& operands) {
    ++applications;
    Found f{0, 0, {p.instance, 0, {-1, -1, -1, -1, -1}}};
    tensors_.clear();
    for (size_t k = 0; k < operands.size(); ++k) {
      const Class& c = s_.at(operands[k]);
      f.application.operands[k] = operands[k];
      f.leaves |= c.leaves;
      tensors_.emplace_back(s_.dims(operands[k]), s_.elements.data() + c.offset);
    }
    if (!in_scope(p.instance, operands)) return;
    if (s_.last_level(level_) && !without_gaps(s_, f.leaves)) return;
    for (size_t o = 0; o < p.outputs.size(); ++o) {
      f.application.output = static_cast<int>(o);
      f.key = key_of(p.outputs[o], evaluate(p, static_cast<int>(o)));
      out_->push_back(f);
    }
  }

 public:
  /// Elements of an output on the operands last set; valid until the next call.
  std::span<const Residue> evaluate(const Plan& p, int output) {
    ++evaluations;
    const Dims& shape = p.outputs[static_cast<size_t>(output)];
    int64_t count = 1;
    for (int64_t d : shape) count *= d;
    buffer_.resize(static_cast<size_t>(count));
    const Label& l = s_.label(p.instance);
    l.op->fill_field(algebra_, tensors_, l.attrs, shape, output, 0, buffer_);
    return buffer_;
  }
  /// The value of an application again, with its shape.
  std::pair<Dims, std::span<const Residue>> value_of(const Application& a) {
    std::vector<const Dims*> shapes;
    tensors_.clear();
    for (int32_t o : a.operands) {
      if (o < 0) break;
      shapes.push_back(&s_.dims(o));
      tensors_.emplace_back(*shapes.back(), s_.elements.data() + s_.at(o).offset);
    }
    Plan p{a.instance, true, {}};
    CHECK(infer(p, shapes));
    return {p.outputs[static_cast<size_t>(a.output)], evaluate(p, a.output)};
  }

 private:
  const State& s_;
  int level_;
  Field algebra_;
  std::unordered_map<uint64_t, std::vector<Plan>> plans_;
  std::vector<NumTensor<Residue>> tensors_;
  std::vector<Residue> buffer_;
  std::vector<Found>* out_ = nullptr;
};

int shape_id(State& s, const Dims& shape) {
  auto [it, fresh] = s.shape_ids.try_emplace(shape, static_cast<int>(s.shapes.size()));
  if (fresh) {
    s.shapes.push_back(shape);
    s.by_shape.emplace_back();
  }
  return it->second;
}

int32_t add_class(State& s, Class c, const Dims& shape, std::span<const Residue> data) {
  auto id = static_cast<int32_t>(s.classes.size());
  c.shape = shape_id(s, shape);
  c.offset = s.elements.size();
  s.elements.insert(s.elements.end(), data.begin(), data.end());
  s.known.emplace(key_of(shape, data), id);
  s.classes.push_back(std::move(c));
  return id;
}

void add_leaves(State& s) {
  int bit = 0;
  for (size_t kind = 0; kind < s.theme.leaves.size(); ++kind) {
    const LeafKind& k = s.theme.leaves[kind];
    if (k.role == Role::Kernel) s.bank.add_kernel_extents({k.shape.begin() + 2, k.shape.end()});
    s.kinds.push_back(((uint64_t{1} << k.count) - 1) << bit);
    for (int n = 0; n < k.count; ++n, ++bit) {
      Class c;
      c.leaves = uint64_t{1} << bit;
      c.leaf = s.bank.leaf(k.shape, n + 100 * static_cast<int>(kind));
      c.supports = {Support{}};
      const auto* value = s.bank.value(c.leaf);
      add_class(s, std::move(c), k.shape, value->data);
    }
  }
}

/// Constants that cost nothing, beside the variables.
void add_free_constants(State& s) {
  for (size_t k = 0; k < s.theme.instances.size(); ++k) {
    if (s.theme.instances[k].scope != Scope::Free) continue;
    Class c;
    c.leaf = s.bank.call(s.labels[k], {});
    c.supports = {Support{}};
    const auto* value = s.bank.value(c.leaf);
    CHECK(value);
    if (s.known.count(key_of(value->shape, value->data)) > 0) continue;
    add_class(s, std::move(c), value->shape, value->data);
  }
}

/// The term of class c whose calls are all in `within`; -1 when there is none.
TermId extract(State& s, int32_t c, const Support& within);

TermId extract_application(State& s, const Application& a, const Support& within) {
  std::vector<TermId> operands;
  for (int32_t o : a.operands) {
    if (o < 0) break;
    operands.push_back(extract(s, o, within));
    if (operands.back() < 0) return -1;
  }
  return s.bank.call(s.labels[static_cast<size_t>(a.instance)], std::move(operands), a.output);
}

TermId extract(State& s, int32_t c, const Support& within) {
  const Class& k = s.at(c);
  if (k.leaf >= 0) return k.leaf;
  for (const auto& [application, token] : k.applications) {
    if (!within.contains(token)) continue;
    if (TermId t = extract_application(s, application, within.without(token)); t >= 0) return t;
  }
  return -1;
}

/// The smallest union of supports of the operands.
Support operand_support(const State& s, const Application& a) {
  std::vector<const std::vector<Support>*> supports;
  for (int32_t o : a.operands)
    if (o >= 0) supports.push_back(&s.at(o).supports);
  return best_union(supports);
}

void pair_up(State& s, const Found& f, TermId known, uint64_t known_leaves) {
  ++s.result.counts.collisions;
  if (!without_gaps(s, f.leaves | known_leaves)) return;
  TermId t = extract_application(s, f.application, operand_support(s, f.application));
  if (t >= 0 && known >= 0 && t != known) s.result.pairs.push_back({known, t});
}

TermId first_term(State& s, const Class& c) {
  if (c.leaf >= 0) return c.leaf;
  const Application& a = c.applications.front().first;
  return extract_application(s, a, operand_support(s, a));
}

/// The token of a call in supports: the class that it computes, or a number for calls of many
/// outputs.
uint32_t token_of(State& s, const Application& a, int32_t c) {
  if (s.label(a.instance).outputs == 1) return static_cast<uint32_t>(c);
  auto next = static_cast<uint32_t>(s.multi_tokens.size()) | uint32_t{1} << 30;
  return s.multi_tokens.try_emplace({a.instance, a.operands}, next).first->second;
}

void merge_stored(State& s, const Found& f, int level, Worker& again) {
  auto it = s.known.find(f.key);
  int32_t c = it == s.known.end() ? -1 : it->second;
  if (c >= 0) {
    pair_up(s, f, first_term(s, s.at(c)), s.at(c).leaves);
  } else {
    Class fresh;
    fresh.leaves = f.leaves;
    fresh.level = level;
    auto [shape, data] = again.value_of(f.application);
    c = add_class(s, std::move(fresh), shape, data);
  }
  uint32_t token = token_of(s, f.application, c);
  Class& k = s.classes[static_cast<size_t>(c)];
  k.applications.emplace_back(f.application, token);
  std::vector<const std::vector<Support>*> supports;
  for (int32_t o : f.application.operands)
    if (o >= 0) supports.push_back(&s.at(o).supports);
  for (const Support& u : all_unions(supports, s.options.max_size - 2))
    if (!u.contains(token) && !u.contains(static_cast<uint32_t>(c)))
      add_irredundant(k.supports, u.with(token));
}

void merge_last(State& s, const Found& f) {
  if (auto it = s.known.find(f.key); it != s.known.end()) {
    pair_up(s, f, first_term(s, s.at(it->second)), s.at(it->second).leaves);
    return;
  }
  auto [it, fresh] = s.known_last.try_emplace(f.key, static_cast<int32_t>(s.last.size()));
  if (fresh) {
    s.last.push_back(f);
    return;
  }
  const Found& first = s.last[static_cast<size_t>(it->second)];
  TermId t = extract_application(s, first.application, operand_support(s, first.application));
  pair_up(s, f, t, first.leaves);
}

void rebuild_index(State& s) {
  for (auto& list : s.by_shape) list.clear();
  s.index = SupportIndex();
  for (size_t c = 0; c < s.classes.size(); ++c) {
    s.by_shape[static_cast<size_t>(s.classes[c].shape)].push_back(static_cast<int32_t>(c));
    s.index.add(static_cast<int32_t>(c), s.classes[c].supports);
  }
}

/// All applications of one level, by first operand; slot 0 has those without operands.
std::vector<std::vector<Found>> apply_level(State& s, int level, Progress& progress,
                                            const Stop& stop) {
  size_t n = s.classes.size();
  std::vector<std::vector<Found>> found(n + 1);
  auto threads = static_cast<size_t>(std::max(1, s.options.threads));
  std::vector<EnumerateCounts> counts(threads);
  auto work = [&](size_t t) {
    Worker w(s, level);
    w.collect(found[0]);
    for (size_t k = 0; t == 0 && level == 1 && k < s.theme.instances.size(); ++k)
      if (s.theme.instances[k].operands.empty() && s.theme.instances[k].scope != Scope::Free)
        w.nullary(static_cast<int>(k));
    for (size_t a = t; a < n && !stop.requested(); a += threads) {
      uint64_t before = w.applications;
      w.from(static_cast<int32_t>(a), found[a + 1]);
      progress.add(w.applications - before);
    }
    counts[t] = {w.applications, w.evaluations, 0, 0};
  };
  parallel_for(threads, static_cast<int>(threads), work);
  for (const auto& c : counts) {
    s.result.counts.applications += c.applications;
    s.result.counts.evaluations += c.evaluations;
  }
  return found;
}

void run_level(State& s, int level, Progress& progress, const Stop& stop) {
  rebuild_index(s);
  auto found = apply_level(s, level, progress, stop);
  Worker again(s, level);
  for (auto& list : found) {
    if (stop.requested()) break;
    for (const Found& f : list)
      s.last_level(level) ? merge_last(s, f) : merge_stored(s, f, level, again);
    std::vector<Found>().swap(list);
  }
}

}  // namespace

Result<Enumeration> enumerate(const Theme& theme, const EnumerateOptions& options, Bank& bank,
                              const Stop& stop) {
  if (options.max_size < 1 || options.max_size > kMaxSize)
    return error("--max-size " + std::to_string(options.max_size) + ": must be 1 to " +
                 std::to_string(kMaxSize));
  State s{theme, options, bank, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  for (const Instance& in : theme.instances) {
    ASSIGN_OR_RETURN(Label label, label_of(in));
    s.labels.push_back(bank.add_label(label));
  }
  add_leaves(s);
  add_free_constants(s);
  Progress progress("enumerate " + std::string(theme.name), "applications", 0, options.verbosity);
  for (int level = 1; level <= options.max_size && !stop.requested(); ++level)
    run_level(s, level, progress, stop);
  s.result.counts.classes = s.classes.size() + s.last.size();
  s.result.stopped = stop.requested();
  return std::move(s.result);
}

}  // namespace regraft::gen
