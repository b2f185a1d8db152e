#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

namespace {

size_t index(Layout layout) { return layout == Layout::Blocked ? 1 : 0; }

std::vector<float> floats_of(const Constant& c) {
  auto data = c.reals();
  CHECK(data.has_value());  // compile() has read them before
  return {data->begin(), data->end()};
}

}  // namespace

bool is_reference(std::string_view implementation) {
  return implementation.substr(0, 3) == "ref" ||
         implementation.find(":ref") != std::string_view::npos;
}

Lowering::Lowering(const Graph& g, std::span<const Layout> operand_layouts,
                   std::span<const Layout> result_layouts, const CompileOptions& opts)
    : graph(g), options(opts), result_layouts_(result_layouts.begin(), result_layouts.end()) {
  program.threads = options.threads;
  program.operands = static_cast<int>(graph.inputs().size());
  for (size_t k = 0; k < graph.outputs().size(); ++k)
    program.result_types.push_back({dims(graph.outputs()[k]), result_layouts[k]});
  program.alias.assign(graph.outputs().size(), -1);
  for (size_t k = 0; k < graph.inputs().size(); ++k) {
    Slot s;
    s.kind = Slot::Kind::Operand;
    s.index = static_cast<int>(k);
    s.desc = desc_of(dims(graph.inputs()[k]), operand_layouts[k]);
    define(graph.inputs()[k], operand_layouts[k], static_cast<int>(program.slots.size()));
    program.slots.push_back(std::move(s));
  }
  for (size_t k = graph.outputs().size(); k-- > 0;)  // the first of several equal ones stays
    results_[graph.outputs()[k]] = {static_cast<int>(k), result_layouts_[k]};
}

std::shared_ptr<const std::vector<float>> Lowering::constant(Value v) const {
  const Node& n = graph.node(v.node);
  if (n.kind != NodeKind::Constant) return nullptr;
  return std::make_shared<const std::vector<float>>(floats_of(*n.constant));
}

bool Lowering::has(Value v, Layout layout) const {
  auto it = places_.find(v);
  return it != places_.end() && it->second[index(layout)] >= 0;
}

void Lowering::define(Value v, Layout layout, int slot) {
  auto it = places_.try_emplace(v, std::array<int, 2>{-1, -1}).first;
  it->second[index(layout)] = slot;
}

int Lowering::read(Value v, Layout layout) {
  if (has(v, layout)) return places_[v][index(layout)];
  if (auto data = constant(v)) {
    int slot = packed(data, plain_desc(dims(v)), desc_of(dims(v), layout));
    define(v, layout, slot);
    return slot;
  }
  Layout other = layout == Layout::Plain ? Layout::Blocked : Layout::Plain;
  CHECK(has(v, other));  // operands are lowered first
  int slot = scratch(desc_of(dims(v), layout));
  reorder(places_[v][index(other)], slot);
  define(v, layout, slot);
  return slot;
}

int Lowering::write(Value v, Layout layout) {
  auto it = results_.find(v);
  if (it == results_.end() || it->second.second != layout) {
    define(v, layout, scratch(desc_of(dims(v), layout)));
  } else {
    Slot s;
    s.kind = Slot::Kind::Result;
    s.index = it->second.first;
    s.desc = desc_of(dims(v), layout);
    define(v, layout, static_cast<int>(program.slots.size()));
    program.slots.push_back(std::move(s));
    results_.erase(it);
  }
  return places_[v][index(layout)];
}

Layout Lowering::layout_of(Value v) const {
  if (has(v, Layout::Plain)) return Layout::Plain;
  if (has(v, Layout::Blocked)) return Layout::Blocked;
  auto it = results_.find(v);
  return it == results_.end() ? Layout::Plain : it->second.second;
}

Layout Lowering::natural(const Call& call) const {
  size_t rank = graph.shape(call.node.inputs[0]).size(), out = call.node.types[0].shape->size();
  if (rank < 3 || rank > 5 || rank != out) return Layout::Plain;
  Layout operand = layout_of(call.node.inputs[0]), result = layout_of({call.id, 0});
  return operand == Layout::Blocked || result == Layout::Blocked ? Layout::Blocked : Layout::Plain;
}

int Lowering::scratch(const Desc& desc) {
  Slot s;
  s.desc = desc;
  program.slots.push_back(std::move(s));
  return static_cast<int>(program.slots.size()) - 1;
}

int Lowering::view(int slot, const Desc& desc) {
  Slot s;
  s.kind = Slot::Kind::View;
  s.index = slot;
  s.desc = desc;
  program.slots.push_back(std::move(s));
  return static_cast<int>(program.slots.size()) - 1;
}

int Lowering::packed(std::shared_ptr<const std::vector<float>> data, const Desc& source,
                     const Desc& desc) {
  Slot s;
  s.kind = Slot::Kind::Packed;
  s.data = std::move(data);
  s.source = source;
  s.desc = desc;
  program.slots.push_back(std::move(s));
  return static_cast<int>(program.slots.size()) - 1;
}

void Lowering::add(dnnl::primitive primitive, std::vector<std::pair<int, int>> args) {
  program.steps.push_back({std::move(primitive), std::move(args), nullptr});
}

void Lowering::add_loop(std::vector<int> slots, std::function<void(Pointers)> loop) {
  Step step;
  for (int s : slots) step.args.emplace_back(0, s);
  step.loop = std::move(loop);
  program.steps.push_back(std::move(step));
}

Step Lowering::reorder_step(int from, int to) const {
  dnnl::reorder::primitive_desc pd(engine(), desc(from), engine(), desc(to));
  return {dnnl::reorder(pd), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, nullptr};
}

void Lowering::reorder(int from, int to) { program.steps.push_back(reorder_step(from, to)); }

Lowering::Mark Lowering::mark() const {
  return {program.slots.size(), program.steps.size(), program.accumulator, places_, results_};
}

void Lowering::rewind(const Mark& to) {
  program.slots.resize(to.slots);
  program.steps.resize(to.steps);
  program.accumulator = to.accumulator;
  places_ = to.places;
  results_ = to.results;
}

void Lowering::settle(Value v) {
  auto it = results_.find(v);
  if (it == results_.end()) return;
  Layout layout = it->second.second;
  Layout other = layout == Layout::Plain ? Layout::Blocked : Layout::Plain;
  if (has(v, layout) || !has(v, other)) return;
  int from = read(v, other);
  reorder(from, write(v, layout));
}

void Lowering::finish() {
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    Value v = graph.outputs()[k];
    Layout layout = result_layouts_[k];
    auto it = results_.find(v);
    bool pending = it != results_.end() && it->second.first == static_cast<int>(k);
    bool repeated = false;
    for (size_t j = 0; j < k; ++j) repeated = repeated || graph.outputs()[j] == v;
    if (!pending && !repeated) continue;
    if (pending) results_.erase(it);
    int from = read(v, layout), base = program.base(from);
    if (program.slots[static_cast<size_t>(base)].kind == Slot::Kind::Operand) {
      program.alias[k] = program.slots[static_cast<size_t>(base)].index;
      continue;
    }
    Slot s;
    s.kind = Slot::Kind::Result;
    s.index = static_cast<int>(k);
    s.desc = desc(from);
    program.slots.push_back(std::move(s));
    reorder(from, static_cast<int>(program.slots.size()) - 1);
  }
}

}  // namespace regraft::cost::cpu
