#include "gen/minimise/domain.h"

#include <algorithm>

namespace regraft::gen {
namespace {

constexpr size_t kMaxSignatures = 20;

bool is_plain(const Signature& s) {
  bool general = s.empty() || s[0].find_first_not_of('n') == std::string::npos;
  return general &&
         std::all_of(s.begin(), s.end(), [&](const std::string& w) { return w == s[0]; });
}

/// Every tensor that is not a scalar of rank `rank`.
Signature of_rank(Signature s, size_t rank) {
  for (std::string& word : s)
    if (word != "-") word = std::string(rank, 'n');
  return s;
}

/// One spatial axis more or less: the words of the highest rank lose their last letter or have it
/// twice. Empty below three axes.
std::vector<Signature> of_other_dimensions(const Signature& s) {
  size_t rank = 0;
  for (const std::string& word : s) rank = std::max(rank, word.size());
  if (rank < 3) return {};
  Signature fewer = s, more = s;
  for (size_t v = 0; v < s.size(); ++v) {
    if (s[v].size() < rank) continue;
    fewer[v].pop_back();
    more[v] += s[v].back();
  }
  return rank == 3 ? std::vector<Signature>{more} : std::vector<Signature>{fewer, more};
}

/// Matrices with up to two batch axes in front, each variable on its own.
std::vector<Signature> batched(const Signature& s) {
  std::vector<Signature> r = {{}};
  for (const std::string& word : s) {
    std::vector<Signature> next;
    for (const Signature& prefix : r)
      for (size_t batch = 0; batch <= (word == "nn" ? 2u : 0u); ++batch) {
        next.push_back(prefix);
        next.back().push_back(std::string(batch, 'n') + word);
      }
    r = std::move(next);
  }
  return r;
}

/// A variable of a lower rank with axes of 1 in front, as broadcasting has it.
std::vector<Signature> of_full_rank(const Signature& s) {
  size_t rank = 0;
  for (const std::string& word : s) rank = std::max(rank, word.size());
  std::vector<Signature> r;
  for (size_t v = 0; v < s.size(); ++v) {
    if (s[v] == "-" || s[v].size() == rank) continue;
    r.push_back(s);
    r.back()[v].insert(0, rank - s[v].size(), '1');
  }
  return r;
}

/// Tensors of one rank, with an axis less or more in front: the words of the highest rank, or all.
std::vector<Signature> of_other_ranks(const Signature& s) {
  size_t rank = 0;
  for (const std::string& word : s) rank = std::max(rank, word.size());
  if (rank < 2 || rank >= 5) return {};
  Signature fewer = s, more = s, all = s;
  for (size_t v = 0; v < s.size(); ++v) {
    if (s[v] == "-") continue;
    all[v].insert(0, 1, 'n');
    if (s[v].size() < rank) continue;
    fewer[v].erase(0, 1);
    more[v].insert(0, 1, 'n');
  }
  return {fewer, more, all};
}

/// What is a scalar as one element, or as large as the largest.
std::vector<Signature> of_larger_scalars(const Signature& s) {
  std::string largest;
  for (const std::string& word : s)
    if (word.size() > largest.size() && word.find('1') == std::string::npos) largest = word;
  std::vector<Signature> r;
  for (size_t v = 0; v < s.size(); ++v) {
    if (s[v] != "-") continue;
    for (const std::string& word : {std::string("1"), largest}) {
      r.push_back(s);
      r.back()[v] = word;
    }
  }
  return r;
}

bool holds(const Rule& rule, const Signature& s, uint64_t seed) {
  return check(rule, s, seed, kShapes) == Evidence::Holds;
}

/// Shapes at which elements meet by broadcasting: some variables are scalars or vectors. Empty
/// unless each variable may be a scalar.
std::vector<Signature> broadcast(const Rule& rule, uint64_t seed) {
  size_t n = rule.variables.size();
  for (size_t v = 0; v < n; ++v) {
    Signature s(n, "nn");
    s[v] = "-";
    if (n < 2 || n > 3 || !holds(rule, s, seed)) return {};
  }
  std::vector<Signature> r;
  for (size_t rank : {4, 3, 2, 5, 1}) {
    std::string full(rank, 'n');
    r.emplace_back(n, full);
    for (const char* small : {"-", "n", "nn"})
      for (size_t some = 1; rank < 5 && std::string_view(small).size() < rank && some + 1 < 1u << n;
           ++some) {
        r.emplace_back(n, full);
        for (size_t v = 0; v < n; ++v)
          if (some >> v & 1) r.back()[v] = small;
      }
  }
  std::erase_if(r, [&](const Signature& s) { return !holds(rule, s, seed); });
  return r;
}

}  // namespace

std::vector<Signature> domain_of(const Rule& rule, const Signature& signature, uint64_t seed) {
  if (is_plain(signature)) return broadcast(rule, seed);
  std::vector<Signature> domain = {signature}, tried = batched(signature);
  bool restricted = std::any_of(signature.begin(), signature.end(), [](const std::string& w) {
    return w.find('1') != std::string::npos;
  });
  for (size_t rank = 1; !restricted && rank <= 4; ++rank) tried.push_back(of_rank(signature, rank));
  for (auto more : {of_other_dimensions, of_full_rank, of_other_ranks, of_larger_scalars})
    for (Signature& s : more(signature)) tried.push_back(std::move(s));
  for (const Signature& s : tried) {
    if (domain.size() >= kMaxSignatures) break;
    if (std::find(domain.begin(), domain.end(), s) == domain.end() && holds(rule, s, seed))
      domain.push_back(s);
  }
  return domain;
}

}  // namespace regraft::gen
