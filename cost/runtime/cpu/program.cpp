#include "cost/runtime/cpu/program.h"

#include <omp.h>

#include <cstring>

#include "base/check.h"
#include "cost/runtime/cpu/compiled.h"

namespace regraft::cost::cpu {

namespace {

constexpr size_t kLine = 16;  // floats of a cache line
size_t rounded(size_t floats) { return (floats + kLine - 1) / kLine * kLine; }

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

int64_t product(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

Desc plain_desc(const Dims& shape) {
  if (shape.empty()) return plain_desc({1});
  Dims strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  return {shape, kFloat, strides};
}

int64_t block_width() {
  static const bool wide = __builtin_cpu_supports("avx512f") != 0;
  return wide ? 16 : 8;
}

Desc desc_of(const Dims& shape, Layout layout) {
  if (layout == Layout::Plain) return plain_desc(shape);
  using Tag = dnnl::memory::format_tag;
  CHECK(shape.size() >= 3 && shape.size() <= 5);
  static constexpr Tag wide[] = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c},
                       narrow[] = {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c};
  return {shape, kFloat, (block_width() == 16 ? wide : narrow)[shape.size() - 3]};
}

ThreadCount::ThreadCount(int threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}
ThreadCount::~ThreadCount() { omp_set_num_threads(before_); }

int Program::base(int slot) const {
  const Slot* s = &slots[static_cast<size_t>(slot)];
  while (s->kind == Slot::Kind::View) s = &slots[static_cast<size_t>(slot = s->index)];
  return slot;
}

std::vector<char> Program::used() const {
  std::vector<char> yes(slots.size(), 0);
  for (const Step& step : steps)
    for (auto [arg, slot] : step.args) yes[static_cast<size_t>(base(slot))] = 1;
  return yes;
}

size_t Program::scratch_floats() const {
  size_t total = 0;
  auto yes = used();
  for (size_t k = 0; k < slots.size(); ++k)
    if (yes[k] && slots[k].kind == Slot::Kind::Scratch)
      total += rounded(floats(static_cast<int>(k)));
  return total;
}

void Program::pack() {
  packed.resize(slots.size());
  dnnl::stream stream(engine());
  auto yes = used();
  for (size_t k = 0; k < slots.size(); ++k) {
    Slot& s = slots[k];
    if (s.kind == Slot::Kind::Packed && yes[k]) {
      packed[k] = std::make_shared<Buffer>(floats(static_cast<int>(k)));
      dnnl::memory from(s.source, engine(), const_cast<float*>(s.data->data()));  // only read
      dnnl::memory to(s.desc, engine(), packed[k]->data());
      dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
    }
    s.data.reset();
  }
}

Bound::Bound(const Program& program, std::span<float* const> operands,
             std::span<float* const> results, float* scratch)
    : stream_(engine()) {
  std::vector<float*> pointers(program.slots.size(), nullptr);
  auto yes = program.used();
  for (size_t k = 0; k < program.slots.size(); ++k) {
    const Slot& s = program.slots[k];
    auto index = static_cast<size_t>(s.index);
    if (s.kind == Slot::Kind::Operand) pointers[k] = operands[index];
    if (s.kind == Slot::Kind::Result) pointers[k] = results[index];
    if (s.kind == Slot::Kind::Packed && yes[k]) pointers[k] = program.packed[k]->data();
    if (s.kind != Slot::Kind::Scratch || !yes[k]) continue;
    pointers[k] = scratch;
    scratch += rounded(program.floats(static_cast<int>(k)));
  }
  bind(program, pointers);
}

Bound::Bound(const Program& program, std::span<float* const> pointers) : stream_(engine()) {
  bind(program, pointers);
}

void Bound::bind(const Program& program, std::span<float* const> pointers) {
  for (const Step& step : program.steps) {
    Call call{&step, {}, {}, {}};
    for (auto [arg, slot] : step.args) {
      float* p = pointers[static_cast<size_t>(program.base(slot))];
      call.pointers.push_back(p);
      if (step.loop) continue;
      call.memories.emplace_back(program.slots[static_cast<size_t>(slot)].desc, engine(), p);
      call.args.push_back({arg, call.memories.back().get()});
    }
    calls_.push_back(std::move(call));
  }
}

void Bound::run() {
  for (Call& call : calls_)
    if (call.step->loop)
      call.step->loop(call.pointers);
    else
      dnnl::error::wrap_c_api(
          dnnl_primitive_execute(call.step->primitive.get(), stream_.get(),
                                 static_cast<int>(call.args.size()), call.args.data()),
          "could not execute a primitive");
}

}  // namespace regraft::cost::cpu
