#include "gen/op_sets.h"

#include <charconv>
#include <string>

namespace regraft::gen {
namespace {

// Images are the tensors whose last axes are 3x4; kernels end in 3x3, 1x3, 3x1 or 1x1.
// Extents 4 and 6 along a split axis come from concatenations only: 2+2 and 3+3.
const std::vector<LeafKind> kMatrices = {{"x", {2, 3}, 3}, {"w", {3, 3}, 3}, {"s", {}, 2}};

const std::vector<Instance> kMatrixInstances = {
    {"matmul", "", {"ab", "bc"}},
    {"add", "", {"ab", "ab"}},
    {"mul", "", {"ab", "ab"}},
    {"mul", "", {"ab", "-"}},
    {"mul", "", {"-", "-"}},
    {"relu", "", {".."}},
    {"transpose", "perm=1,0", {".."}},
    {"concat", "axis=-1", {"ab", "ac"}},
    {"concat", "axis=-2", {"ba", "ca"}},
    {"split", "axis=-1 sizes~3,3", {".6"}},
    {"split", "axis=-2 sizes~2,2", {"4."}},
    {"split", "axis=-2 sizes~3,3", {"6."}},
    {"identity-matrix", "size~3", {}},
    {"full", "shape= value=1", {}},
};

const std::vector<LeafKind> kImages = {
    {"i", {1, 2, 3, 4}, 3},
    {"k", {2, 2, 3, 3}, 3, Role::Kernel},
    {"p", {2, 2, 1, 1}, 2, Role::Kernel},
    {"h", {2, 2, 1, 3}, 2, Role::Kernel},
    {"v", {2, 2, 3, 1}, 2, Role::Kernel},
    {"d", {2, 1, 3, 3}, 2, Role::Kernel},
    {"b", {2}, 2},
    {"r", {3}, 2},
};

const std::vector<Instance> kImageInstances = {
    {"add", "", {"abcd", "abcd"}},
    {"add", "", {"ab", "b"}},
    {"add", "", {"a", "a"}},
    {"mul", "", {"abcd", "abcd"}},
    {"mul", "", {"abcd", "-"}},
    {"mul", "", {"a", "-"}},
    {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", ".a33"}},
    {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a34", ".a11"}},
    {"conv", "strides=1,1 pads=0,1,0,1 dilations=1,1 group=1", {".a34", ".a13"}},
    {"conv", "strides=1,1 pads=1,0,1,0 dilations=1,1 group=1", {".a34", ".a31"}},
    {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group~2", {".234", ".133"}},
    {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", "ba33", "b"}},
    {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a34", "ba11", "b"}},
    {"relu", "", {"..34"}},
    {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 include_pad=1", {"..34"}},
    {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 include_pad=0", {"..34"}},
    {"maxpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1", {"..34"}},
    {"concat", "axis=1", {"abcd", "aecd"}},
    {"concat", "axis=0", {"abcd", "ebcd"}},
    {"concat", "axis=0", {"a", "b"}},
    {"split", "axis=1 sizes~2,2", {".4.."}},
    {"split", "axis=0 sizes~1,1", {"2.34"}},
    {"split", "axis=0 sizes~2,2", {"4..."}},
    {"pad", "pads=0,0,1,1,0,0,1,1", {"..11"}, Scope::Leaves},
    {"pad", "pads=0,0,1,0,0,0,1,0", {"..13"}, Scope::Leaves},
    {"pad", "pads=0,0,0,1,0,0,0,1", {"..31"}, Scope::Leaves},
    {"identity-kernel", "channels~2 kernel=3,3 centre=1,1", {}},
    {"average-kernel", "channels~2 kernel=3,3", {}},
};

const std::vector<LeafKind> kNetwork = {
    {"x", {2, 3}, 2},
    {"w", {3, 3}, 2},
    {"s", {}},
    {"i", {1, 2, 3, 4}, 2},
    {"k", {2, 2, 3, 3}, 1, Role::Kernel},
    {"p", {2, 2, 1, 1}, 1, Role::Kernel},
};

const std::vector<Instance> kNetworkInstances = {
    {"matmul", "", {"ab", "bc"}},
    {"add", "", {"ab", "ab"}},
    {"add", "", {"abcd", "abcd"}},
    {"sub", "", {"ab", "ab"}},
    {"sub", "", {"ab", "a1"}},
    {"sub", "", {"abcd", "abcd"}},
    {"mul", "", {"ab", "ab"}},
    {"mul", "", {"ab", "a1"}},
    {"mul", "", {"ab", "-"}},
    {"mul", "", {"abcd", "-"}},
    {"div", "", {"ab", "ab"}},
    {"div", "", {"ab", "a1"}},
    {"div", "", {"ab", "-"}},
    {"div", "", {"abcd", "-"}},
    {"neg", "", {".."}},
    {"neg", "", {"...."}},
    {"relu", "", {".."}},
    {"relu", "", {"..34"}},
    {"sigmoid", "", {".."}},
    {"tanh", "", {".."}},
    {"exp", "", {".."}},
    {"softmax", "axis=-1", {".."}},
    {"transpose", "perm=1,0", {".."}},
    {"concat", "axis=-1", {"ab", "ac"}},
    {"concat", "axis=-2", {"ba", "ca"}},
    {"concat", "axis=1", {"abcd", "aecd"}},
    {"reduce-sum", "axes=-1 keepdims=1", {".."}},
    {"reduce-mean", "axes=-1 keepdims=1", {".."}},
    {"reduce-max", "axes=-1 keepdims=1", {".."}},
    {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", ".a33"}},
    {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a34", ".a11"}},
    {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 include_pad=1", {"..34"}},
    {"global-avgpool", "", {"..34"}},
};

template <class T>
std::vector<T> joined(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string_view> words(std::string_view text, char separator) {
  std::vector<std::string_view> r;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    r.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return r;
}

/// Operand ranks decide how many numbers a list at its fallback has.
size_t fallback_length(const IntAttr& attr, const Instance& instance) {
  int rank = 0;
  if (!instance.operands.empty() && instance.operands[0] != "-")
    rank = static_cast<int>(instance.operands[0].size());
  return attr_length(attr, rank).value_or(0);
}

Status read_attr(Label& label, std::string_view word, std::vector<char>& given) {
  size_t end = word.find_first_of("=~");
  if (end == std::string_view::npos) return error("has no value: " + std::string(word));
  std::string name(word.substr(0, end));
  std::string_view text = word.substr(end + 1);
  if (int k = label.op->real_attr(name); k >= 0) {
    label.attrs.reals[static_cast<size_t>(k)].value = std::stod(std::string(text));
    return {};
  }
  int k = label.op->int_attr(name);
  if (k < 0) return error("has no attribute " + name);
  auto& list = label.attrs.ints[static_cast<size_t>(k)];
  for (std::string_view number : words(text, ',')) {
    int64_t n = 0;
    std::from_chars(number.data(), number.data() + number.size(), n);
    list.push_back(n);
  }
  label.sized[static_cast<size_t>(k)] = word[end] == '~';
  given[static_cast<size_t>(k)] = 1;
  return {};
}

}  // namespace

std::span<const OpSet> op_sets() {
  static const std::vector<OpSet> sets = {
      {"core", joined(kMatrices, kImages), joined(kMatrixInstances, kImageInstances)},
      {"matrix", kMatrices, kMatrixInstances},
      {"nn", kNetwork, kNetworkInstances},
  };
  return sets;
}

std::span<const std::string_view> op_set_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> r;
    for (const OpSet& s : op_sets()) r.push_back(s.name);
    return r;
  }();
  return names;
}

const OpSet* find_op_set(std::string_view name) {
  for (const OpSet& s : op_sets())
    if (s.name == name) return &s;
  return nullptr;
}

Result<Label> label_of(const Instance& instance) {
  Label label;
  label.op = find_op(instance.op);
  std::string place = "operator instance " + std::string(instance.op) + ": ";
  if (!label.op) return error(place + "no such operator");
  size_t n = label.op->ints.size();
  label.attrs.ints.resize(n);
  label.sized.assign(n, 0);
  for (const auto& a : label.op->reals) label.attrs.reals.push_back({a.fallback, nullptr});
  std::vector<char> given(n, 0);
  for (std::string_view word : words(instance.attrs, ' '))
    if (auto status = read_attr(label, word, given); !status)
      return error(place + status.error().message);
  for (size_t k = 0; k < n; ++k) {
    if (given[k]) continue;
    const IntAttr& a = label.op->ints[k];
    if (!a.fallback) return error(place + "attribute " + std::string(a.name) + " is missing");
    label.attrs.ints[k].assign(fallback_length(a, instance), *a.fallback);
  }
  label.outputs = output_count(*label.op, symbolic(label.attrs));
  return label;
}

bool fits(const Instance& instance, std::span<const std::vector<int64_t>* const> shapes) {
  std::array<int64_t, 128> bound{};
  for (size_t k = 0; k < shapes.size(); ++k) {
    std::string_view pattern = instance.operands[k];
    if (pattern == "-") pattern = "";
    const auto& shape = *shapes[k];
    if (shape.size() != pattern.size()) return false;
    for (size_t d = 0; d < shape.size(); ++d) {
      auto c = static_cast<unsigned char>(pattern[d]);
      if (c == '.') continue;
      if (c >= '0' && c <= '9') {
        if (shape[d] != c - '0') return false;
      } else if (bound[c & 127] == 0) {
        bound[c & 127] = shape[d];
      } else if (bound[c & 127] != shape[d]) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace regraft::gen
