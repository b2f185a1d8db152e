// The text form of graphs.
#include <algorithm>
#include <map>

#include "base/printable.h"
#include "ir/algebra/scan.h"
#include "ir/rule/text.h"

namespace regraft {
namespace {

using text::Scanner;

std::string value_text(Value v) {
  std::string s = "%" + std::to_string(v.node);
  return v.output == 0 ? s : s + "#" + std::to_string(v.output);
}

std::string type_text(const TensorType& t) {
  return to_string(t.dtype) + "[" + (t.shape ? text::print(*t.shape) : "...") + "]";
}

/// The attribute's numbers are those that a reader fills in when it is missing.
bool at_fallback(const IntAttr& a, const std::vector<Poly>& list, int rank) {
  auto length = attr_length(a, rank);
  if (list.size() != length.value_or(0)) return false;
  return list.empty() || (a.fallback && std::all_of(list.begin(), list.end(), [&](const Poly& p) {
                            return same(p, Poly(*a.fallback));
                          }));
}

std::string attrs_text(const Node& n, int rank) {
  std::string s;
  for (size_t k = 0; k < n.op->ints.size(); ++k)
    if (!at_fallback(n.op->ints[k], n.attrs.ints[k], rank))
      s += " " + std::string(n.op->ints[k].name) + "=" + text::print(n.attrs.ints[k]);
  for (size_t k = 0; k < n.op->reals.size(); ++k) {
    const Real& x = n.attrs.reals[k];
    if (same_real(x, {n.op->reals[k].fallback, nullptr})) continue;
    s += " " + std::string(n.op->reals[k].name) + "=";
    s += x.symbol ? "?" + text::symbol_text(x.symbol) : text::print(x.value);
  }
  return s;
}

std::string node_text(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  std::string s = "%" + std::to_string(id) + " = ";
  switch (n.kind) {
    case NodeKind::Input:
      s += "input";
      break;
    case NodeKind::Constant:
      s += "constant hash=" + hex(n.constant->hash().low);
      break;
    case NodeKind::Call:
      s += n.op->name;
      break;
    case NodeKind::Opaque:
      s += "opaque content=" + hex(n.content).substr(0, 16);
      break;
    case NodeKind::Absent:
      s += "absent";
      break;
  }
  bool named = n.kind == NodeKind::Input || n.kind == NodeKind::Constant;
  if (named && !n.names.empty()) s += " " + text::quoted(n.names[0]);
  for (Value v : n.inputs) s += " " + value_text(v);
  if (n.op) {
    bool known = !n.inputs.empty() && g.type(n.inputs[0]).shape.has_value();
    s += attrs_text(n, known ? static_cast<int>(g.shape(n.inputs[0]).size()) : 0);
  }
  for (size_t k = 0; k < n.types.size(); ++k) s += (k ? " ; " : " : ") + type_text(n.types[k]);
  return s + "\n";
}

class GraphParser {
 public:
  Result<Graph> run(std::string_view all) {
    auto lines = split(all);
    for (auto& [number, line] : lines)
      if (auto declared = declare(line); !declared) return at_line(number, declared.error());
    RETURN_IF_ERROR(allocate(lines.size()));
    for (auto& [number, line] : lines)
      if (auto added = add(line); !added) return at_line(number, added.error());
    if (!done_) return regraft::error("the graph has no line 'outputs'");
    for (int32_t id = 0; id < g_.id_bound(); ++id)
      if (!defined_[static_cast<size_t>(id)]) g_.remove_node(id);
    return std::move(g_);
  }

 private:
  static Error at_line(size_t number, const Error& e) {
    return regraft::error("line " + std::to_string(number) + ", " + e.message);
  }

  static std::vector<std::pair<size_t, std::string_view>> split(std::string_view all) {
    std::vector<std::pair<size_t, std::string_view>> lines;
    for (size_t number = 1; !all.empty(); ++number) {
      size_t end = std::min(all.find('\n'), all.size());
      if (Scanner in(all.substr(0, end)); !in.at_end())
        lines.push_back({number, all.substr(0, end)});
      all.remove_prefix(std::min(end + 1, all.size()));
    }
    return lines;
  }

  static Result<int32_t> label(Scanner& in) {
    size_t start = in.position();
    if (!in.eat("%")) return in.error_here("expected '%' and a number");
    ASSIGN_OR_RETURN(int64_t id, in.integer());
    if (id < 0 || id > kMaxLabel)
      return Scanner::error_at(start, "the node number is out of range");
    return static_cast<int32_t>(id);
  }

  static Result<int32_t> definition(Scanner& in) {
    in.skip_space();
    ASSIGN_OR_RETURN(int32_t id, label(in));
    in.skip_space();
    if (!in.eat("=")) return in.error_here("expected '='");
    in.skip_space();
    return id;
  }

  static bool is_outputs(std::string_view line) {
    Scanner in(line);
    in.skip_space();
    return in.identifier() == "outputs";
  }

  /// First pass: which numbers are defined, and which of them are inputs.
  Status declare(std::string_view line) {
    if (is_outputs(line)) return {};
    Scanner in(line);
    ASSIGN_OR_RETURN(int32_t id, definition(in));
    bool input = in.word("-") == "input";
    if (!is_input_.emplace(id, input).second)
      return Scanner::error_at(0, "node " + std::to_string(id) + " is defined twice");
    return {};
  }

  /// Makes the inputs and a place for every other node, so that numbers are kept.
  Status allocate(size_t lines) {
    if (is_input_.empty()) return {};
    int32_t bound = is_input_.rbegin()->first + 1;
    if (static_cast<size_t>(bound) > 64 * lines + 1024)
      return regraft::error("the numbers of the nodes are too far apart");
    Node place;
    place.kind = NodeKind::Absent;
    place.types.resize(1);
    for (int32_t id = 0; id < bound; ++id) {
      auto it = is_input_.find(id);
      if (it != is_input_.end() && it->second)
        g_.add_input({});
      else
        g_.add_node(place);
    }
    defined_.assign(static_cast<size_t>(bound), 0);
    return {};
  }

  Status add(std::string_view line) {
    Scanner in(line);
    in.skip_space();
    if (done_) return in.error_here("expected the end after the outputs");
    if (is_outputs(line)) return outputs(in);
    ASSIGN_OR_RETURN(int32_t id, definition(in));
    size_t start = in.position();
    std::string_view word = in.word("-");
    if (word == "constant" || word == "opaque" || word == "absent")
      return Scanner::error_at(
          start, "a node of kind '" + std::string(word) + "' cannot be made from text");
    const OpDef* op = find_op(word);
    if (word != "input" && !op)
      return Scanner::error_at(start, "unknown operator '" + std::string(word.substr(0, 40)) + "'");
    ASSIGN_OR_RETURN(Node n, op ? call(in, *op, start) : input(in));
    if (!in.at_end()) return in.error_here("expected the end of the line");
    g_.replace_node(id, std::move(n));
    defined_[static_cast<size_t>(id)] = 1;
    return {};
  }

  Result<Node> input(Scanner& in) {
    Node n;
    n.kind = NodeKind::Input;
    in.skip_space();
    if (in.peek() == '"') {
      ASSIGN_OR_RETURN(std::string name, in.quoted_text());
      n.names.push_back(std::move(name));
    }
    in.skip_space();
    if (!in.eat(":")) return in.error_here("expected ':' and a type");
    ASSIGN_OR_RETURN(TensorType t, type(in));
    n.types.push_back(std::move(t));
    return n;
  }

  Result<Node> call(Scanner& in, const OpDef& op, size_t start) {
    Node n;
    n.op = &op;
    std::vector<TensorType> operands;
    for (in.skip_space(); in.peek() == '%'; in.skip_space()) {
      ASSIGN_OR_RETURN(Value v, value(in));
      n.inputs.push_back(v);
      operands.push_back(g_.type(v));
    }
    bool known = !operands.empty() && operands[0].shape.has_value();
    ASSIGN_OR_RETURN(n.attrs,
                     attributes(in, op, known ? static_cast<int>(operands[0].shape->size()) : 0));
    auto types = infer_call(g_.pool(), op, operands, n.attrs);
    if (!types) return Scanner::error_at(start, types.error().message);
    n.types = *std::move(types);
    RETURN_IF_ERROR(compare_types(in, n.types));
    return n;
  }

  /// The types that a line states, if it states any, must be the inferred ones.
  Status compare_types(Scanner& in, const std::vector<TensorType>& types) {
    in.skip_space();
    if (in.peek() != ':') return {};
    for (size_t k = 0; in.eat(k ? ";" : ":"); ++k) {
      in.skip_space();
      size_t start = in.position();
      ASSIGN_OR_RETURN(TensorType t, type(in));
      if (k >= types.size() || !same(t, types[k]))
        return Scanner::error_at(
            start, "the type is " + (k < types.size() ? type_text(types[k]) : "of no output"));
      in.skip_space();
    }
    return {};
  }

  Result<Value> value(Scanner& in) {
    size_t start = in.position();
    ASSIGN_OR_RETURN(int32_t id, label(in));
    int64_t output = 0;
    if (in.eat("#")) {
      ASSIGN_OR_RETURN(output, in.integer());
    }
    bool defined = static_cast<size_t>(id) < defined_.size() && defined_[static_cast<size_t>(id)];
    if (!defined)
      return Scanner::error_at(start, "node " + std::to_string(id) + " is not defined yet");
    if (output < 0 || output >= static_cast<int64_t>(g_.node(id).types.size()))
      return Scanner::error_at(start, "there is no output " + std::to_string(output));
    return Value{id, static_cast<int32_t>(output)};
  }

  Result<Attrs<Poly>> attributes(Scanner& in, const OpDef& op, int rank) {
    Attrs<Poly> at;
    for (const RealAttr& a : op.reals) at.reals.push_back({a.fallback, nullptr});
    std::vector<std::optional<std::vector<Poly>>> ints(op.ints.size());
    auto symbol = [&](const std::string& name, size_t) -> Result<Var> {
      return g_.pool().named(name);
    };
    for (in.skip_space();; in.skip_space()) {
      size_t start = in.position();
      std::string name(in.identifier());
      if (name.empty()) break;
      int as_int = op.int_attr(name), as_real = op.real_attr(name);
      if (as_int < 0 && as_real < 0)
        return Scanner::error_at(
            start, std::string(op.name) + " has no attribute '" + name.substr(0, 40) + "'");
      if (!in.eat("=")) return in.error_here("expected '='");
      if (as_int < 0) {
        ASSIGN_OR_RETURN(at.reals[static_cast<size_t>(as_real)], real(in));
        continue;
      }
      ASSIGN_OR_RETURN(ints[static_cast<size_t>(as_int)], text::read_polys(in, g_.pool(), symbol));
    }
    for (size_t k = 0; k < ints.size(); ++k) {
      const IntAttr& a = op.ints[k];
      size_t length = attr_length(a, rank).value_or(0);
      if (!ints[k] && length > 0 && !a.fallback)
        return in.error_here(std::string(op.name) + " needs the attribute '" + std::string(a.name) +
                             "'");
      at.ints.push_back(ints[k] ? *std::move(ints[k])
                                : std::vector<Poly>(length, Poly(a.fallback.value_or(0))));
    }
    return at;
  }

  Result<Real> real(Scanner& in) {
    if (!in.eat("?")) {
      ASSIGN_OR_RETURN(double x, in.real());
      return Real{x, nullptr};
    }
    std::string name(in.word("."));
    if (name.empty()) return in.error_here("expected a name");
    return Real{0, g_.pool().named(name, 0)};
  }

  Result<TensorType> type(Scanner& in) {
    in.skip_space();
    size_t start = in.position();
    auto dtype = dtype_of(in.word());
    if (!dtype) return Scanner::error_at(start, "expected an element type");
    TensorType t{*dtype, std::nullopt};
    if (!in.eat("[")) return in.error_here("expected '['");
    if (in.eat("...]")) return t;
    t.shape.emplace();
    if (in.eat("]")) return t;
    ASSIGN_OR_RETURN(t.shape, text::read_polys(in, g_.pool(),
                                               [&](const std::string& name, size_t) -> Result<Var> {
                                                 return g_.pool().named(name);
                                               }));
    if (!in.eat("]")) return in.error_here("expected ']'");
    return t;
  }

  Status outputs(Scanner& in) {
    in.identifier();
    std::vector<Value> values;
    while (!in.at_end()) {
      ASSIGN_OR_RETURN(Value v, value(in));
      values.push_back(v);
    }
    g_.set_outputs(std::move(values));
    done_ = true;
    return {};
  }

  static constexpr int64_t kMaxLabel = int64_t{1} << 30;
  Graph g_;
  std::map<int32_t, bool> is_input_;  // by node number
  std::vector<char> defined_;
  bool done_ = false;
};

}  // namespace

std::string to_string(const Graph& g) {
  std::string s;
  for (int32_t id : full_order(g)) s += node_text(g, id);
  s += "outputs";
  for (Value v : g.outputs()) s += " " + value_text(v);
  return s + "\n";
}

Result<Graph> parse_graph(std::string_view text) { return GraphParser().run(text); }

}  // namespace regraft
