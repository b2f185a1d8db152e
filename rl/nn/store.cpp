#include "rl/nn/store.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraft::rl::nn {
namespace {

template <class S>
Array to_array(const Matrix<S>& m) {
  return {m.rows(), m.cols(), std::vector<S>(m.data(), m.data() + m.size())};
}

template <class S>
Status copy(const Checkpoint& from, const std::string& name, Matrix<S>& to) {
  auto at = from.arrays.find(name);
  if (at == from.arrays.end()) return error("the checkpoint has no matrix " + name);
  const Array& a = at->second;
  if (a.rows != to.rows() || a.cols != to.cols())
    return error(fmt::format("the checkpoint's matrix {} is {} x {}, not {} x {}", name, a.rows,
                             a.cols, to.rows(), to.cols()));
  auto* numbers = std::get_if<std::vector<S>>(&a.numbers);
  if (numbers == nullptr)
    return error(
        fmt::format("the checkpoint's matrix {} is not of {}-byte numbers", name, sizeof(S)));
  std::copy(numbers->begin(), numbers->end(), to.data());
  return {};
}

}  // namespace

template <class S>
void store(Checkpoint& into, const std::string& prefix, const Parameters<S>& parameters) {
  for (int i = 0; i < parameters.size(); ++i)
    into.arrays[prefix + "/" + parameters.name(i)] = to_array(parameters.value(i));
}

template <class S>
Status load(const Checkpoint& from, const std::string& prefix, Parameters<S>& parameters) {
  for (int i = 0; i < parameters.size(); ++i)
    RETURN_IF_ERROR(copy(from, prefix + "/" + parameters.name(i), parameters.value(i)));
  return {};
}

template <class S>
void store(Checkpoint& into, const std::string& prefix, const Adam<S>& adam,
           const Parameters<S>& names) {
  for (int i = 0; i < names.size(); ++i) {
    into.arrays[prefix + "/first/" + names.name(i)] = to_array(adam.first.value(i));
    into.arrays[prefix + "/second/" + names.name(i)] = to_array(adam.second.value(i));
  }
  into.counters[prefix + "/steps"] = adam.steps;
}

template <class S>
Status load(const Checkpoint& from, const std::string& prefix, Adam<S>& adam,
            const Parameters<S>& names) {
  for (int i = 0; i < names.size(); ++i) {
    RETURN_IF_ERROR(copy(from, prefix + "/first/" + names.name(i), adam.first.value(i)));
    RETURN_IF_ERROR(copy(from, prefix + "/second/" + names.name(i), adam.second.value(i)));
  }
  auto at = from.counters.find(prefix + "/steps");
  if (at == from.counters.end() || !std::holds_alternative<int64_t>(at->second))
    return error("the checkpoint has no counter " + prefix + "/steps");
  adam.steps = std::get<int64_t>(at->second);
  return {};
}

int64_t count(const Checkpoint& from, const std::string& prefix) {
  int64_t n = 0;
  for (const auto& [name, array] : from.arrays)
    if (name.starts_with(prefix + "/"))
      std::visit([&](const auto& numbers) { n += static_cast<int64_t>(numbers.size()); },
                 array.numbers);
  return n;
}

#define INSTANTIATE(S)                                                                        \
  template void store(Checkpoint&, const std::string&, const Parameters<S>&);                 \
  template Status load(const Checkpoint&, const std::string&, Parameters<S>&);                \
  template void store(Checkpoint&, const std::string&, const Adam<S>&, const Parameters<S>&); \
  template Status load(const Checkpoint&, const std::string&, Adam<S>&, const Parameters<S>&);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace regraft::rl::nn
