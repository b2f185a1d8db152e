#include "rewrite/match/interner.h"

#include <algorithm>

#include "base/hash.h"
#include "ir/graph/eval.h"
#include "rewrite/match/binding.h"

namespace regraft::rewrite {

namespace {

uint64_t hash_of(const TensorType& t) {
  uint64_t h = combine(static_cast<uint64_t>(t.dtype), t.shape ? t.shape->size() : 99);
  if (t.shape)
    for (const Poly& d : *t.shape) h = combine(h, hash(d));
  return h;
}

bool is_small(const Constant& c) {
  constexpr int64_t kElements = 1 << 16;  // as many as a rule's makers are compared with
  return c.count() <= kElements;
}

std::vector<std::vector<int64_t>> numbers_of(const Attrs<Poly>& attrs) {
  std::vector<std::vector<int64_t>> numbers;
  for (const auto& list : attrs.ints) {
    auto& row = numbers.emplace_back();
    for (const Poly& p : list) row.push_back(p.is_constant() ? p.constant() : kNoNumber);
  }
  return numbers;
}

}  // namespace

PlanOptions for_model(PlanOptions options, const Graph& g) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || g.node(id).kind != NodeKind::Call) continue;
    const Node& call = g.node(id);
    DType type = call.types[0].dtype;
    if (call.op->has_onnx_form() && !call.op->runs_on(type, options.opset))
      options.elsewhere.insert(type);
  }
  return options;
}

size_t IdsHash::operator()(const std::vector<int32_t>& ids) const {
  uint64_t h = ids.size();
  for (int32_t id : ids) h = (h ^ static_cast<uint32_t>(id)) * 0x9e3779b97f4a7c15ULL;
  return mix(h);
}

Interner::Interner(std::shared_ptr<SymbolPool> pool, const cost::CostModel& model,
                   PlanOptions options)
    : pool_(std::move(pool)), model_(&model), options_(std::move(options)) {}

FormId Interner::form(const OpDef& op, const Attrs<Poly>& attrs, int rank_of_operand0) {
  Form f{&op, attrs, {}, 0};
  for (size_t k = 0; k < f.attrs.ints.size(); ++k)
    f.attrs.ints[k] = normal_axes(op.ints[k], std::move(f.attrs.ints[k]), rank_of_operand0);
  f.hash = combine(hash_text(op.name), hash(f.attrs));
  for (auto [it, end] = form_ids_.equal_range(f.hash); it != end; ++it) {
    const Form& other = form(it->second);
    if (other.op == &op && same(other.attrs, f.attrs)) return it->second;
  }
  f.numbers = numbers_of(f.attrs);
  auto id = static_cast<FormId>(forms_.size());
  form_ids_.emplace(f.hash, id);
  forms_.push_back(std::move(f));
  return id;
}

TypeId Interner::type(const TensorType& t) {
  uint64_t h = hash_of(t);
  for (auto [it, end] = type_ids_.equal_range(h); it != end; ++it)
    if (same(type(it->second), t)) return it->second;
  auto id = static_cast<TypeId>(types_.size());
  type_ids_.emplace(h, id);
  types_.push_back(t);
  return id;
}

int Interner::rank(TypeId id) const {
  const TensorType& t = type(id);
  return t.shape ? static_cast<int>(t.shape->size()) : -1;
}

int32_t Interner::data(const std::shared_ptr<const Constant>& c) {
  uint64_t h = is_small(*c) ? c->hash().low : reinterpret_cast<uintptr_t>(c.get());
  for (auto [it, end] = data_ids_.equal_range(h); it != end; ++it) {
    const Constant& other = *data_[static_cast<size_t>(it->second)];
    if (&other == c.get() || (is_small(*c) && is_small(other) && same(other, *c)))
      return it->second;
  }
  auto id = static_cast<int32_t>(data_.size());
  data_ids_.emplace(h, id);
  data_.push_back(c);
  return id;
}

int32_t Interner::computed(FormId id, std::span<const int32_t> operands, TypeId type) {
  key_.assign({id, type});
  key_.insert(key_.end(), operands.begin(), operands.end());
  if (auto it = computed_.find(key_); it != computed_.end()) return it->second;
  auto key = key_;
  auto made = compute(form(id), operands, this->type(type));
  return computed_[std::move(key)] = made ? data(made) : -1;
}

std::shared_ptr<const Constant> Interner::compute(const Form& form,
                                                  std::span<const int32_t> operands,
                                                  const TensorType& type) const {
  constexpr int64_t kFew = 16, kFewMade = 1 << 12;  // elements of a result; of one without operands
  auto dims = type.shape ? numeric(*type.shape) : std::nullopt;
  auto attrs = numeric(form.attrs);
  int64_t count = 1, most = operands.empty() ? kFewMade : kFew;
  if (!dims || !attrs || !is_real(type.dtype)) return nullptr;
  for (int64_t d : *dims)
    if (d < 1 || d > most || (count *= d) > most) return nullptr;
  std::vector<Array<double>> values;
  std::vector<const Array<double>*> inputs;
  for (int32_t k : operands) {
    auto reals = constant(k).reals();
    if (!reals || constant(k).count() > kFewMade) return nullptr;
    values.push_back({constant(k).dims(), *std::move(reals)});
  }
  for (const Array<double>& v : values) inputs.push_back(&v);
  auto made = evaluate_reals(*form.op, inputs, *attrs);
  return made ? make_constant(type.dtype, (*made)[0].shape, (*made)[0].data) : nullptr;
}

uint64_t Interner::data_hash(int32_t number) const {
  const Constant& c = *data_[static_cast<size_t>(number)];
  return is_small(c) ? combine(c.hash().low, c.hash().high)
                     : combine(static_cast<uint64_t>(number), static_cast<uint64_t>(c.dtype()));
}

const CallFacts* Interner::call(FormId id, std::span<const TypeId> operands, DType dtype) {
  key_.assign({id, operands.empty() ? static_cast<int32_t>(dtype) : -1});
  key_.insert(key_.end(), operands.begin(), operands.end());
  auto it = calls_.find(key_);
  if (it == calls_.end()) {
    auto key = key_;
    it = calls_.emplace(std::move(key), facts(form(id), operands, dtype)).first;
  }
  return it->second ? &*it->second : nullptr;
}

std::optional<CallFacts> Interner::facts(const Form& form, std::span<const TypeId> operands,
                                         DType dtype) {
  std::vector<TensorType> types;
  for (TypeId t : operands) types.push_back(type(t));
  auto inferred = infer_call(*pool_, *form.op, types, form.attrs);
  if (!inferred) return std::nullopt;
  if (operands.empty())
    for (TensorType& t : *inferred) t.dtype = dtype;
  CallFacts f;
  f.foldable = numeric(form.attrs).has_value() &&
               std::all_of(types.begin(), types.end(),
                           [](const TensorType& t) { return numeric(*t.shape).has_value(); });
  f.writable = writable(form, types);
  for (const TensorType& t : *inferred) f.types.push_back(type(t));
  f.cost = cost(form, types, *std::move(inferred));
  return f;
}

double Interner::cost(const Form& form, const std::vector<TensorType>& operands,
                      std::vector<TensorType> results) const {
  Node node;
  node.op = form.op;
  node.attrs = form.attrs;
  node.types = std::move(results);
  return model_->cost(node, operands).microseconds;
}

void Interner::use(const cost::CostModel& model) {
  if (model_ == &model) return;
  model_ = &model;
  for (auto& [key, facts] : calls_) {
    if (!facts) continue;
    std::vector<TensorType> operands, results;
    for (TypeId t : std::span(key).subspan(2)) operands.push_back(type(t));
    for (TypeId t : facts->types) results.push_back(type(t));
    facts->cost = cost(form(key[0]), operands, std::move(results));
  }
}

bool Interner::writable(const Form& form, const std::vector<TensorType>& operands) const {
  if (operands.empty()) return false;
  if (options_.opset == 0) return true;
  DType type = operands[static_cast<size_t>(form.op->type_operand)].dtype;
  if (!form.op->runs_on(type, options_.opset) && !options_.elsewhere.contains(type)) return false;
  return form.op->to_onnx(form.attrs, operands, options_.opset).has_value();
}

}  // namespace regraft::rewrite
