#include <map>

#include "base/parallel.h"
#include "ir/ops/define.h"

namespace regraft::ops {

// out[letters of out] = sum over all other letters of x[its letters] * y[its letters]; a letter is
// a number, and has one size; y may be left out. ONNX's MatMul is this where an operand is a
// vector.
struct Einsum {
  static constexpr std::string_view name = "einsum";
  static constexpr std::string_view onnx[] = {"Einsum", "MatMul"};
  static constexpr Work work = Work::Product;
  static constexpr int min_arity = 1, max_arity = 2;
  static constexpr IntAttr ints[] = {{"x", Length::Any, std::nullopt, true},
                                     {"y", Length::Any, std::nullopt, true},
                                     {"out", Length::Any, std::nullopt, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 12, 12}, {DType::F16, 12, 12}, {DType::F64, 12, 12}, {DType::BF16, 28, kNever}};
  static constexpr int64_t kLetters = 26;
  /// Where each letter occurs: in an operand, and in the output.
  struct Letters {
    static constexpr size_t kNone = 99;
    struct Place {
      size_t operand = kNone, axis = 0, out = kNone;
    };
    std::array<Place, kLetters> places;
    std::vector<size_t> summed;  ///< the letters that the output lacks
  };
  template <class I>
  static Letters letters_of(const Attrs<I>& at) {
    Letters r;
    auto letter = [&](size_t k, size_t d) { return static_cast<size_t>(fixed(at.ints[k][d])); };
    for (size_t d = 0; d < at.ints[2].size(); ++d) r.places[letter(2, d)].out = d;
    for (size_t k : {0, 1})
      for (size_t d = 0; d < at.ints[k].size(); ++d) {
        auto& place = r.places[letter(k, d)];
        if (place.operand != Letters::kNone) continue;
        place.operand = k;
        place.axis = d;
        if (place.out == Letters::kNone) r.summed.push_back(letter(k, d));
      }
    return r;
  }
  OP_SHAPES {
    for (const auto& list : at.ints)
      for (const auto& l : list)
        if (fixed(l) < 0 || fixed(l) >= kLetters) return error("einsum: no such letter");
    for (size_t k : {0, 1})
      if (at.ints[k].size() != (k < in.size() ? in[k].size() : 0))
        return error("einsum: an operand has another rank than its letters");
    Letters letters = letters_of(at);
    for (size_t k = 0; k < in.size(); ++k)
      for (size_t d = 0; d < in[k].size(); ++d) {
        const auto& first = letters.places[static_cast<size_t>(fixed(at.ints[k][d]))];
        if (first.operand != k || first.axis != d)
          alg.require(in[k][d] == in[first.operand][first.axis]);
      }
    ShapeOf<typename A::Index> out;
    if (letters.summed.size() > kMaxRank) return error("einsum: sums over too many letters");
    for (size_t d = 0; d < at.ints[2].size(); ++d) {
      const auto& place = letters.places[static_cast<size_t>(fixed(at.ints[2][d]))];
      if (place.operand == Letters::kNone || place.out != d)
        return error("einsum: a letter of the result is no operand's, or occurs twice");
      out.push_back(in[place.operand][place.axis]);
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    Letters letters = letters_of(at);
    Indices<I> extents;
    for (size_t l : letters.summed) {
      const auto& place = letters.places[l];
      extents.push_back(in[place.operand].dim(static_cast<int>(place.axis)));
    }
    return sum_over(alg, std::span<const I>(extents), [&](std::span<const I> k) {
      auto factor = [&](size_t operand) {
        Indices<I> from;
        for (const I& letter : at.ints[operand]) {
          auto l = static_cast<size_t>(fixed(letter));
          auto nth = std::find(letters.summed.begin(), letters.summed.end(), l);
          from.push_back(nth == letters.summed.end()
                             ? i[letters.places[l].out]
                             : k[static_cast<size_t>(nth - letters.summed.begin())]);
        }
        return alg.read(in[operand], from);
      };
      return in.size() == 1 ? factor(0) : factor(0) * factor(1);
    });
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    Letters letters = letters_of(at);
    std::array<std::array<int64_t, kLetters>, 2> steps{};  // of an operand, along a letter
    for (size_t k = 0; k < in.size(); ++k)
      for (size_t d = 0; d < at.ints[k].size(); ++d)
        steps[k][static_cast<size_t>(at.ints[k][d])] += in[k].strides[d];
    std::vector<int64_t> sizes;
    for (size_t l : letters.summed) {
      const auto& place = letters.places[l];
      sizes.push_back(in[place.operand].dim(static_cast<int>(place.axis)));
    }
    auto element = [&](size_t e) {
      std::array<int64_t, 2> first{};
      auto rest = static_cast<int64_t>(e);
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        for (size_t k : {0, 1})
          first[k] += rest % shape[d] * steps[k][static_cast<size_t>(at.ints[2][d])];
      auto total = [&](auto& self, size_t d, int64_t x, int64_t y) -> double {
        if (d == sizes.size()) return in[0].data[x] * (in.size() == 1 ? 1 : in[1].data[y]);
        double sum = 0;
        size_t l = letters.summed[d];
        for (int64_t k = 0; k < sizes[d]; ++k, x += steps[0][l], y += steps[1][l])
          sum += self(self, d + 1, x, y);
        return sum;
      };
      out[e] = total(total, 0, first[0], first[1]);
    };
    parallel_for(out.size(), default_threads(), element, 64);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.empty() || n.inputs.size() > 2) return std::nullopt;
    std::string text;
    for (char c : n.type == "MatMul" ? vector_equation(n) : n.text("equation", ""))
      if (c != ' ') text += c;
    auto arrow = text.find("->");
    std::vector<std::string> terms = split_terms(text.substr(0, arrow));
    if (terms.size() != n.inputs.size()) return std::nullopt;
    std::optional<std::string> axes[3];
    size_t unnamed = 0;  // axes that the ellipsis stands for
    for (size_t k = 0; k < terms.size(); ++k) {
      auto rank = rank_of(n, k);
      if (!rank) return std::nullopt;
      axes[k] = without_ellipsis(terms[k], static_cast<size_t>(*rank), unnamed);
      if (!axes[k]) return std::nullopt;
    }
    axes[2] = arrow == std::string::npos ? implied(*axes[0] + axes[1].value_or(""), unnamed)
                                         : with_ellipsis(text.substr(arrow + 2), unnamed);
    std::map<char, int64_t> number;  // in order of appearance
    OnnxImport r{{{{}, {}, {}}, {}}, {0}};
    if (terms.size() == 2) r.operands.push_back(1);
    for (size_t k : {0, 1, 2})
      for (char c : axes[k].value_or("")) {
        auto [it, added] = number.emplace(c, static_cast<int64_t>(number.size()));
        if (added && (k == 2 || it->second >= kLetters)) return std::nullopt;
        r.attrs.ints[k].emplace_back(it->second);
      }
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in, int) {
    if (std::any_of(in.begin(), in.end(), [](const auto& t) { return has_zero(*t.shape); }))
      return error("Einsum of nothing does not run");
    auto letters = [&](size_t k) {
      std::string s;
      for (const Poly& l : at.ints[k]) s += static_cast<char>('a' + fixed(l));
      return s;
    };
    OnnxExport r;
    r.type = "Einsum";
    r.inputs = operand_inputs(static_cast<int>(in.size()));
    r.attrs["equation"] =
        text_attr(letters(0) + (in.size() == 2 ? "," + letters(1) : "") + "->" + letters(2));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {3, 4}}, {{{0, 1}, {1, 2}, {0, 2}}, {}}},
            {{{2, 3, 2}, {2, 4}}, {{{0, 1, 0}, {0, 2}, {2, 1}}, {}}},
            {{{3, 4}}, {{{0, 1}, {}, {1}}, {}}},
            {{{2}, {3}}, {{{0}, {1}, {1, 0}}, {}}}};
  }

 private:
  // In the text of an equation an axis of the ellipsis is a digit, counted from the last.
  /// Of a MatMul with a vector; nothing when both operands are matrices.
  static std::string vector_equation(const OnnxNode& n) {
    auto x = rank_of(n, 0), y = rank_of(n, 1);
    if (!x || !y || *x < 1 || *y < 1 || (*x > 1 && *y > 1)) return "";
    if (*x > 1) return "...mk,k->...m";
    return *y > 1 ? "k,...kn->...n" : "k,k->";
  }
  static std::vector<std::string> split_terms(const std::string& text) {
    std::vector<std::string> terms(1);
    for (char c : text)
      if (c == ',')
        terms.emplace_back();
      else
        terms.back() += c;
    return terms;
  }
  static std::string with_ellipsis(std::string term, size_t axes) {
    auto dots = term.find("...");
    if (dots == std::string::npos) return term;
    std::string digits;
    for (size_t k = axes; k-- > 0;) digits += static_cast<char>('0' + k);
    return term.replace(dots, 3, digits);
  }
  /// A term with a character for each axis; nullopt where that does not fit the rank. `most` grows
  /// to the number of axes that the ellipsis stands for.
  static std::optional<std::string> without_ellipsis(const std::string& term, size_t rank,
                                                     size_t& most) {
    bool dots = term.find("...") != std::string::npos;
    size_t letters = term.size() - (dots ? 3 : 0);
    if (letters > rank || (!dots && letters != rank) || rank > kMaxRank) return std::nullopt;
    most = std::max(most, rank - letters);
    std::string all = with_ellipsis(term, rank - letters);
    bool plain = std::all_of(all.begin(), all.end(), [](char c) { return c != '.'; });
    return plain ? std::optional(all) : std::nullopt;
  }
  /// The result without an arrow: the axes of the ellipsis, then the letters that occur once.
  static std::string implied(const std::string& axes, size_t unnamed) {
    std::map<char, int> count;
    for (char c : axes) ++count[c];
    std::string r = with_ellipsis("...", unnamed);
    for (auto [c, times] : count)
      if (times == 1 && !(c >= '0' && c <= '9')) r += c;
    return r;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(einsum, Einsum)
