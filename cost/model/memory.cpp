#include "cost/model/memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"

namespace regraft::cost {
namespace {

/// Tensors that share memory are one buffer.
struct Buffer {
  int64_t bytes = 0;
  int readers = 0;  // calls that were not run yet
  bool is_output = false;
};

/// A call as the buffers that it reads and makes.
struct Step {
  std::vector<int32_t> reads, makes;
  std::vector<size_t> readers;  // calls that wait for this one
  int waits = 0;                // for so many calls
};

bool is_view(const Kernel& k) {
  const Graph& g = k.graph;
  if (k.is_reorder()) return false;
  const Node& last = g.node(g.outputs()[0].node);
  return last.kind == NodeKind::Call && last.op->view &&
         g.node(last.inputs[0].node).kind == NodeKind::Input;
}

class Lifetimes {
 public:
  Lifetimes(const KernelPlan& plan, const Graph& g) {
    for (const KernelCall& call : plan.calls) add(call);
    const std::set<Value> outputs(g.outputs().begin(), g.outputs().end());
    for (const KernelCall& call : plan.calls)
      for (size_t k = 0; k < call.results.size(); ++k)
        if (outputs.count(call.results[k]))
          buffers_[buffer(call.results[k], call.kernel.result_layouts[k])].is_output = true;
    readers_.resize(buffers_.size());
    for (size_t k = 0; k < steps_.size(); ++k)
      for (int32_t b : steps_[k].reads) {
        ++buffers_[static_cast<size_t>(b)].readers;
        readers_[static_cast<size_t>(b)].push_back(k);
      }
    for (const Buffer& b : buffers_)
      if (is_input(b)) start_ += b.bytes;
  }

  std::vector<size_t> given_order() const {
    std::vector<size_t> order(steps_.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    return order;
  }

  std::vector<size_t> frugal_order() const;
  int64_t peak(const std::vector<size_t>& order) const;

 private:
  bool is_input(const Buffer& b) const {
    return made_by_[static_cast<size_t>(&b - buffers_.data())] == kNobody;
  }
  size_t buffer(Value v, Layout layout) { return static_cast<size_t>(ids_.at({v, layout})); }
  /// As much as any machine has at most. REQUIRES: the sizes are numbers.
  static int64_t bytes_of(const TensorType& t) {
    constexpr double kMost = 1e15;
    auto bytes = static_cast<double>(size_of(t.dtype));
    for (const Poly& d : *t.shape) bytes *= static_cast<double>(d.constant());
    return static_cast<int64_t>(std::min(bytes, kMost));
  }
  int32_t buffer_of(Value v, Layout layout, const TensorType& t) {
    auto [it, fresh] = ids_.emplace(std::pair{v, layout}, static_cast<int32_t>(buffers_.size()));
    if (fresh) {
      buffers_.push_back({bytes_of(t)});
      made_by_.push_back(kNobody);
    }
    return it->second;
  }

  void add(const KernelCall& call) {
    size_t number = steps_.size();
    Step& s = steps_.emplace_back();
    const Graph& g = call.kernel.graph;
    for (size_t k = 0; k < call.operands.size(); ++k) {
      if (call.kernel.weights[k]) continue;
      int32_t b =
          buffer_of(call.operands[k], call.kernel.operand_layouts[k], g.type(g.inputs()[k]));
      if (std::count(s.reads.begin(), s.reads.end(), b)) continue;
      s.reads.push_back(b);
      wait_for(makers_.count({call.operands[k], call.kernel.operand_layouts[k]})
                   ? makers_.at({call.operands[k], call.kernel.operand_layouts[k]})
                   : kNobody,
               number);
    }
    for (size_t k = 0; k < call.results.size(); ++k) {
      Layout layout = call.kernel.result_layouts[k];
      makers_[{call.results[k], layout}] = number;
      if (is_view(call.kernel) && !s.reads.empty()) {
        ids_[{call.results[k], layout}] = s.reads[0];
        continue;
      }
      int32_t b = buffer_of(call.results[k], layout, g.type(g.outputs()[k]));
      made_by_[static_cast<size_t>(b)] = number;
      s.makes.push_back(b);
    }
  }
  void wait_for(size_t maker, size_t number) {
    if (maker == kNobody) return;
    steps_[maker].readers.push_back(number);
    ++steps_[number].waits;
  }

  static constexpr size_t kNobody = std::numeric_limits<size_t>::max();
  std::vector<Buffer> buffers_;
  std::vector<size_t> made_by_;               // call, of each buffer
  std::vector<std::vector<size_t>> readers_;  // calls, of each buffer
  std::vector<Step> steps_;
  std::map<std::pair<Value, Layout>, int32_t> ids_;
  std::map<std::pair<Value, Layout>, size_t> makers_;
  int64_t start_ = 0;
};

/// What is alive while a call runs, and after it.
struct Alive {
  std::vector<Buffer> buffers;
  int64_t bytes = 0;

  int64_t change(const Step& s) const {
    int64_t sum = 0;
    for (int32_t b : s.makes) sum += buffers[static_cast<size_t>(b)].bytes;
    for (int32_t b : s.reads)
      if (is_last(b)) sum -= buffers[static_cast<size_t>(b)].bytes;
    return sum;
  }
  /// The bytes while it runs.
  int64_t run(const Step& s) {
    for (int32_t b : s.makes) bytes += buffers[static_cast<size_t>(b)].bytes;
    int64_t during = bytes;
    for (int32_t b : s.reads) {
      if (is_last(b)) bytes -= buffers[static_cast<size_t>(b)].bytes;
      --buffers[static_cast<size_t>(b)].readers;
    }
    for (int32_t b : s.makes) {
      const Buffer& made = buffers[static_cast<size_t>(b)];
      if (made.readers == 0 && !made.is_output) bytes -= made.bytes;
    }
    return during;
  }
  bool is_last(int32_t b) const {
    const Buffer& buffer = buffers[static_cast<size_t>(b)];
    return buffer.readers == 1 && !buffer.is_output;
  }
};

std::vector<size_t> Lifetimes::frugal_order() const {
  Alive alive{buffers_, start_};
  std::vector<int> waits;
  std::vector<size_t> order;
  std::vector<int64_t> change(steps_.size());
  std::set<std::pair<int64_t, size_t>> ready;  // by the change of what is alive, as it is now
  auto add = [&](size_t k) {
    change[k] = alive.change(steps_[k]);
    ready.emplace(change[k], k);
  };
  for (size_t k = 0; k < steps_.size(); ++k) {
    waits.push_back(steps_[k].waits);
    if (waits[k] == 0) add(k);
  }
  while (!ready.empty()) {
    size_t k = ready.begin()->second;
    ready.erase(ready.begin());
    alive.run(steps_[k]);
    order.push_back(k);
    for (int32_t b : steps_[k].reads) {  // the last reader left frees it
      if (!alive.is_last(b)) continue;
      for (size_t reader : readers_[static_cast<size_t>(b)])
        if (ready.erase({change[reader], reader}) > 0) add(reader);
    }
    for (size_t reader : steps_[k].readers)
      if (--waits[reader] == 0) add(reader);
  }
  CHECK(order.size() == steps_.size());
  return order;
}

int64_t Lifetimes::peak(const std::vector<size_t>& order) const {
  Alive alive{buffers_, start_};
  int64_t most = start_;
  for (size_t k : order) most = std::max(most, alive.run(steps_[k]));
  return most;
}

}  // namespace

Schedule schedule(const KernelPlan& plan, const Graph& g) {
  Lifetimes lifetimes(plan, g);
  Schedule best{lifetimes.given_order(), 0};
  best.peak_bytes = lifetimes.peak(best.order);
  Schedule other{lifetimes.frugal_order(), 0};
  other.peak_bytes = lifetimes.peak(other.order);
  return other.peak_bytes < best.peak_bytes ? other : best;
}

}  // namespace regraft::cost
