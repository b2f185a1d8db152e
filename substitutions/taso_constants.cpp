#include "substitutions/taso_constants.h"

#include "ir/rule/pattern.h"
#include "ir/rule/text.h"
#include "substitutions/taso_terms.h"

namespace regraft::substitutions {

std::vector<int64_t> witness_shape(int variable) {
  static const std::vector<std::vector<int64_t>> kShapes = {
      {2, 4}, {4, 4}, {2, 4, 5, 5}, {4, 4, 3, 3}, {4, 4, 1, 3}, {4, 4, 3, 1}};
  size_t k = static_cast<size_t>(-variable - 1);
  if (k < 18) return kShapes[k / 3];
  return k == 18 ? std::vector<int64_t>{4, 1, 3, 3} : std::vector<int64_t>{};
}

Poly OpenSizes::next(int64_t witness, Side side) {
  std::string name = "?k" + std::to_string(count_++);
  Var v = pool_.named(name);
  extents_.try_emplace(name, Extent{v, witness, side});
  auto known = solved_.find(v);
  return known == solved_.end() ? Poly::symbol(v) : known->second;
}

void OpenSizes::equate(const Poly& a, const Poly& b) {
  if (!same(a, b)) equations_.push_back(a - b);
}

bool OpenSizes::in(const Poly& p) const {
  bool found = false;
  for_each_symbol(p, [&](Var v) { found = found || extents_.count(v->name) > 0; });
  return found;
}

void OpenSizes::solve() {
  auto put = [&](Var symbol, const Poly& value) {
    for (auto& [v, known] : solved_) known = substitute(known, {{symbol, value}});
    solved_[symbol] = value;
  };
  auto solved_for = [&](const Poly& p, Side side) {
    Poly solution;
    for (const auto& named : extents_)
      if (named.second.side == side && solve_for(p, named.second.symbol, solution)) {
        put(named.second.symbol, solution);
        return true;
      }
    return false;
  };
  for (const Poly& equation : equations_) {
    Poly p = substitute(equation, solved_);
    if (!solved_for(p, Side::Right)) solved_for(p, Side::Left);
  }
  for (const auto& named : extents_) {
    const Extent& e = named.second;
    if (e.side == Side::Right && !solved_.count(e.symbol)) put(e.symbol, Poly(e.witness));
  }
}

TasoConstant taso_constant(int type, int h, int w, OpenSizes& sizes, OpenSizes::Side side) {
  auto pair = [](int a, int b) { return std::to_string(a) + "," + std::to_string(b); };
  auto text = [](const Poly& p) { return to_string(p); };
  if (type == kOnes) {
    TasoConstant c{"(full shape=", {}, {2, 4, 5, 5}};
    for (int64_t n : c.witness) {
      c.extents.push_back(sizes.next(n, side));
      c.text += (c.extents.size() > 1 ? "," : "") + text(c.extents.back());
    }
    c.text += " value=1)";
    return c;
  }
  Poly n = sizes.next(4, side), height(h), width(w);
  if (type == kIdentityMatrix) return {"(identity-matrix size=" + text(n) + ")", {n, n}, {4, 4}};
  std::string kernel = " channels=" + text(n) + " kernel=" + pair(h, w);
  if (type == kPoolKernel)
    return {"(average-kernel" + kernel + ")", {n, Poly(1), height, width}, {4, 1, h, w}};
  return {"(identity-kernel" + kernel + " centre=" + pair(h / 2, w / 2) + ")",
          {n, n, height, width},
          {4, 4, h, w}};
}

}  // namespace regraft::substitutions
