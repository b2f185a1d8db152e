#include "ir/graph/content.h"

#include <algorithm>
#include <bit>
#include <map>

namespace regraft {
namespace {

class GraphDigest {
 public:
  explicit GraphDigest(const Graph& g) : g_(g), of_(static_cast<size_t>(g.id_bound())) {}

  Result<Digest> run() {
    Sha256 sha;
    sha.text("graph").number(g_.inputs().size());
    for (size_t k = 0; k < g_.inputs().size(); ++k) {
      Value v = g_.inputs()[k];
      of_[static_cast<size_t>(v.node)] = input(k);
      sha.text(name_of(v)).digest(value(v));
    }
    ASSIGN_OR_RETURN(std::vector<int32_t> order, topological_order(g_));
    for (int32_t id : order) {
      if (g_.node(id).kind == NodeKind::Input) continue;
      ASSIGN_OR_RETURN(of_[static_cast<size_t>(id)], node(g_.node(id)));
    }
    sha.number(g_.outputs().size());
    for (Value v : g_.outputs()) sha.text(name_of(v)).digest(value(v));
    return sha.finish();
  }

 private:
  std::string name_of(Value v) const {
    const auto& names = g_.node(v.node).names;
    auto k = static_cast<size_t>(v.output);
    return k < names.size() ? names[k] : "";
  }

  Digest value(Value v) const {
    return Sha256()
        .digest(of_[static_cast<size_t>(v.node)])
        .number(static_cast<uint64_t>(v.output))
        .finish();
  }

  /// Symbols of one name are told apart by the order in which they occur.
  void add(Sha256& sha, Var v) {
    auto [it, fresh] = symbols_.try_emplace(v, 0);
    if (fresh) it->second = names_[v->name]++;
    sha.number(static_cast<uint64_t>(v->kind)).text(v->name).number(it->second);
    if (!v->numerator) return;
    add(sha, *v->numerator);
    add(sha, *v->denominator);
  }
  void add(Sha256& sha, const Poly& p) {
    sha.number(static_cast<uint64_t>(p.constant())).number(p.terms().size());
    for (const auto& [monomial, coefficient] : p.terms()) {
      sha.number(static_cast<uint64_t>(coefficient)).number(monomial.size());
      for (Var v : monomial) add(sha, v);
    }
  }
  void add(Sha256& sha, const TensorType& t) {
    sha.number(static_cast<uint64_t>(t.dtype)).number(t.shape.has_value());
    if (!t.shape) return;
    sha.number(t.shape->size());
    for (const Poly& d : *t.shape) add(sha, d);
  }
  void add(Sha256& sha, const Attrs<Poly>& attrs) {
    sha.number(attrs.ints.size());
    for (const auto& list : attrs.ints) {
      sha.number(list.size());
      for (const Poly& p : list) add(sha, p);
    }
    sha.number(attrs.reals.size());
    for (const Real& r : attrs.reals)
      sha.text(r.symbol ? r.symbol->name : "").number(std::bit_cast<uint64_t>(r.value));
  }

  Digest input(size_t position) {
    Sha256 sha;
    sha.text("input").number(position);
    add(sha, g_.type(g_.inputs()[position]));
    return sha.finish();
  }

  std::vector<Digest> operands(const Node& n) const {
    std::vector<Digest> digests;
    for (Value v : n.inputs) digests.push_back(value(v));
    if (n.op && n.op->commutative && digests.size() >= 2 && digests[1] < digests[0])
      std::swap(digests[0], digests[1]);
    return digests;
  }

  Result<Digest> node(const Node& n) {
    Sha256 sha;
    sha.number(static_cast<uint64_t>(n.kind));
    if (n.kind == NodeKind::Call) {
      add(sha.text(n.op->name), n.attrs);
    } else if (n.kind == NodeKind::Opaque) {
      sha.digest(n.content).number(n.pure).number(n.types.size());
      for (const TensorType& t : n.types) add(sha, t);
    }
    if (n.constant) {
      ASSIGN_OR_RETURN(Digest data, data_of(n.constant));
      sha.digest(data);
    }
    sha.number(n.inputs.size());
    for (const Digest& d : operands(n)) sha.digest(d);
    Digest digest = sha.finish();
    if (n.kind != NodeKind::Opaque || n.pure) return digest;
    return Sha256().digest(digest).number(occurrences_[digest]++).finish();
  }

  Result<Digest> data_of(const std::shared_ptr<const Constant>& data) {
    if (auto it = data_.find(data.get()); it != data_.end()) return it->second;
    ASSIGN_OR_RETURN(Digest digest, digest_of(*data));
    data_.emplace(data.get(), digest);
    return digest;
  }

  const Graph& g_;
  std::vector<Digest> of_;  // by node
  std::map<const Constant*, Digest> data_;
  std::map<Var, uint64_t> symbols_;
  std::map<std::string, uint64_t> names_;   // how many symbols have it
  std::map<Digest, uint64_t> occurrences_;  // of opaque nodes that are not pure
};

}  // namespace

Result<Digest> digest_of(const Constant& data) {
  Sha256 sha;
  sha.number(static_cast<uint64_t>(data.dtype())).number(data.dims().size());
  for (int64_t d : data.dims()) sha.number(static_cast<uint64_t>(d));
  RETURN_IF_ERROR(data.read([&](auto piece) { sha.bytes(piece); }));
  return sha.finish();
}

Result<Digest> digest_of(const Graph& g) { return GraphDigest(g).run(); }

}  // namespace regraft
