#include "certify/validation.h"

#include <algorithm>
#include <set>

#include "certify/check.h"
#include "cost/model/roofline.h"
#include "io/bodies/pairs.h"
#include "io/defaults.h"
#include "io/interface.h"
#include "rewrite/compare/sizes.h"
#include "rewrite/search/clean_up.h"
#include "rewrite/search/replay.h"
#include "verify/model/derive.h"
#include "verify/model/origins.h"

namespace regraft::certify {
namespace {

/// For each name of `of` the place of its partner in `among`: by name, then by position.
std::vector<int> partners(const std::vector<io::Port>& of, const std::vector<io::Port>& among) {
  std::vector<int> found(of.size(), -1);
  std::set<size_t> taken;
  for (size_t k = 0; k < of.size(); ++k)
    for (size_t j = 0; j < among.size() && found[k] < 0; ++j)
      if (!of[k].name.empty() && of[k].name == among[j].name && taken.insert(j).second)
        found[k] = static_cast<int>(j);
  size_t next = 0;
  for (int& partner : found) {
    if (partner >= 0) continue;
    while (taken.count(next) > 0) ++next;
    if (next < among.size()) partner = static_cast<int>(next++);
  }
  return found;
}

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

bool may_be_equal(const TensorType& a, const TensorType& b) {
  bool typed = a.dtype != DType::Undefined && b.dtype != DType::Undefined;
  if (typed && a.dtype != b.dtype) return false;
  if (!a.shape || !b.shape) return true;
  if (a.shape->size() != b.shape->size()) return false;
  for (size_t d = 0; d < a.shape->size(); ++d) {
    const Poly &p = (*a.shape)[d], &q = (*b.shape)[d];
    if (p.is_constant() && q.is_constant() && !same(p, q)) return false;
  }
  return true;
}

/// Inputs that both models have. Of one that is gone it is said that it is gone.
void compare_defaults(const io::Imported& a, const io::Imported& b, Pairing& p) {
  io::Interface x = io::interface_of(a), y = io::interface_of(b);
  auto left = io::defaults(a), right = io::defaults(b);
  for (size_t k = 0; k < y.inputs.size(); ++k) {
    if (p.matching.inputs[k] < 0) continue;
    auto of_a = static_cast<size_t>(p.matching.inputs[k]);
    auto one = left.find(x.inputs[of_a].name), other = right.find(y.inputs[k].name);
    bool has = one != left.end(), has_other = other != right.end();
    if (has == has_other && (!has || same(*one->second, *other->second))) continue;
    p.differences.push_back("input " + in_quotes(x.inputs[of_a].name) + " has another default");
    p.other_defaults.push_back(of_a);
  }
}

/// What the value is computed from, itself included.
std::set<int32_t> cone(const Graph& g, Value v) {
  std::set<int32_t> seen;
  std::vector<int32_t> next = {v.node};
  while (!next.empty()) {
    int32_t id = next.back();
    next.pop_back();
    if (!seen.insert(id).second) continue;
    for (Value o : g.node(id).inputs) next.push_back(o.node);
  }
  return seen;
}

/// The carried nodes among these.
std::set<int32_t> carried(const Graph& g, Value v) {
  std::set<int32_t> all = cone(g, v);
  std::erase_if(all, [&](int32_t id) { return g.node(id).kind != NodeKind::Opaque; });
  return all;
}

/// Whether the value depends on one of these inputs.
bool reads(const Graph& g, Value v, const std::vector<size_t>& inputs) {
  if (inputs.empty()) return false;
  std::set<int32_t> all = cone(g, v);
  return std::ranges::any_of(inputs, [&](size_t k) { return all.count(g.inputs()[k].node) > 0; });
}

/// The pair's values on random numbers, at the first sizes at which the outputs have some.
Result<std::vector<std::vector<verify::Fingerprint>>> prints_of(const verify::Pair& pair,
                                                                const Graph& a, const Stop& stop) {
  constexpr size_t kTries = 6;
  std::vector<std::vector<verify::Fingerprint>> best;
  size_t most = 0;
  auto all = rewrite::sizes_to_try(a, a);
  for (size_t k = 0; k < std::min(kTries, all.size()); ++k) {
    if (all[k].zero || (k > 0 && stop.must_end())) break;
    ASSIGN_OR_RETURN(auto prints, verify::fingerprints(pair.graph, all[k].values[0], 1 + k,
                                                       verify::Evaluated::All, stop));
    size_t known = 0;
    for (Value v : pair.graph.outputs()) {
      const auto& of = prints[static_cast<size_t>(v.node)];
      known += static_cast<size_t>(v.output) < of.size() && of[static_cast<size_t>(v.output)].known;
    }
    if (best.empty() || known > most) best = std::move(prints), most = known;
    if (most == pair.graph.outputs().size()) break;
  }
  return best;
}

bool complete(const verify::SweepReport& r) {
  return std::ranges::find(r.outputs, verify::SweepReport::Unproved) == r.outputs.end();
}

std::vector<rewrite::AppliedRule> clean_up(const Graph& g, const rewrite::RuleIndex& rules,
                                           const Stop& stop) {
  rewrite::SearchOptions options;
  options.budget = 300000;
  return rewrite::CleanUp().search(g, rules, cost::Roofline(), options, stop).steps;
}

/// A name that means something else says so at once. What depends on it would fail, too.
constexpr size_t kFailuresByName = 2;

/// What both making and checking a proof do.
class Validator {
 public:
  Validator(const io::Imported& a, const io::Imported& b, const ValidationOptions& options,
            const Stop& stop)
      : a_(a), b_(b), options_(options), stop_(stop), first_(a.graph), second_(b.graph) {
    out_.pairing = pair_interfaces(a, b);
    out_.interface = out_.pairing.differences;
  }

  Result<Validation> make() {
    RETURN_IF_ERROR(make_bodies());
    RETURN_IF_ERROR(attempt(first_, second_));
    out_.given = out_.pair;
    bool prepare_too = options_.thorough && options_.rules && !out_.postponed;
    if (prepare_too && !complete(out_.sweep)) RETURN_IF_ERROR(prepare());
    out_.proof.merges = out_.sweep.merges;
    conclude();
    return std::move(out_);
  }

  Result<Validation> check(const ModelProof& proof) {
    RETURN_IF_ERROR(check_bodies(proof));
    ASSIGN_OR_RETURN(Graph a, prepared(first_, proof.a));
    ASSIGN_OR_RETURN(Graph b, prepared(second_, proof.b));
    RETURN_IF_ERROR(join(a, b));
    ASSIGN_OR_RETURN(out_.sweep,
                     verify::check_merges(out_.pair, proof.merges, options_.sweep, stop_));
    conclude();
    return std::move(out_);
  }

 private:
  /// Nodes whose bodies differ are one node where the bodies compute the same.
  Status make_bodies() {
    auto pairs = io::differing_bodies(a_, b_);
    for (size_t k = 0; k < pairs.size(); ++k) {
      BodyProofs proofs{k, {}};
      bool equal = true, rounded = false;
      for (const io::BodyPair& body : pairs[k].bodies) {
        auto inner = validate(body.first, body.second, options_, stop_);
        equal = inner && inner->verdict() >= Equivalence::UpToConstants;
        if (!equal) break;
        rounded = rounded || inner->verdict() == Equivalence::UpToConstants;
        out_.bodies += 1 + inner->bodies;
        proofs.proofs.push_back(std::move(inner->proof));
      }
      if (!equal) continue;
      rounded_ = rounded_ || rounded;
      io::equate(a_, b_, pairs[k], first_, second_);
      out_.proof.bodies.push_back(std::move(proofs));
    }
    return {};
  }
  Status check_bodies(const ModelProof& proof) {
    auto pairs = io::differing_bodies(a_, b_);
    for (const BodyProofs& b : proof.bodies) {
      if (b.pair >= pairs.size() || pairs[b.pair].bodies.size() != b.proofs.size())
        return error("the certificate is about bodies that are not there");
      for (size_t k = 0; k < b.proofs.size(); ++k) {
        const io::BodyPair& body = pairs[b.pair].bodies[k];
        ASSIGN_OR_RETURN(auto inner,
                         Validator(body.first, body.second, options_, stop_).check(b.proofs[k]));
        if (inner.verdict() < Equivalence::UpToConstants)
          return error("a body is not proved: " + body.where);
        rounded_ = rounded_ || inner.verdict() == Equivalence::UpToConstants;
        out_.bodies += 1 + inner.bodies;
      }
      io::equate(a_, b_, pairs[b.pair], first_, second_);
    }
    return {};
  }

  Status join(const Graph& a, const Graph& b) {
    ASSIGN_OR_RETURN(out_.pair, verify::join(a, b, out_.pairing.matching));
    if (out_.pair.a == out_.pair.b) return {};
    RETURN_IF_ERROR(verify::find_origins(out_.pair));
    if (options_.sweep.constants) RETURN_IF_ERROR(verify::derive_constants(out_.pair, stop_));
    return {};
  }

  /// Names first, which tools mostly keep, then what evaluation says.
  Status attempt(const Graph& a, const Graph& b) {
    RETURN_IF_ERROR(join(a, b));
    ASSIGN_OR_RETURN(auto prints, verify::fingerprints(out_.pair.graph, {}, 1,
                                                       verify::Evaluated::Constants, stop_));
    verify::SweepOptions by_name = options_.sweep;
    if (options_.thorough) by_name.most_failures = kFailuresByName;
    RETURN_IF_ERROR(sweep(prints, by_name));
    if (complete(out_.sweep) || !options_.thorough || stop_.must_end()) return {};
    ASSIGN_OR_RETURN(prints, prints_of(out_.pair, a, stop_));
    note_suspects(prints);
    out_.postponed = !options_.try_suspects && only_suspects_left();
    return out_.postponed ? Status() : sweep(prints, options_.sweep);
  }
  bool any_suspect() const { return std::ranges::count(out_.suspect, 1) > 0; }
  bool only_suspects_left() const {
    for (size_t k = 0; k < out_.suspect.size(); ++k)
      if (out_.sweep.outputs[k] == verify::SweepReport::Unproved && out_.suspect[k] == 0)
        return false;
    return any_suspect();
  }
  Status sweep(const std::vector<std::vector<verify::Fingerprint>>& prints,
               const verify::SweepOptions& options) {
    ASSIGN_OR_RETURN(out_.sweep, verify::sweep(out_.pair, prints, std::move(out_.sweep.windows),
                                               options, stop_));
    return {};
  }
  void note_suspects(const std::vector<std::vector<verify::Fingerprint>>& prints) {
    constexpr double kFar = 1e-6;  // well beyond what rounding of float32 constants adds up to
    auto print = [&](Value v) -> const verify::Fingerprint& {
      return prints[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
    };
    out_.suspect.assign(out_.pair.a.size(), 0);
    for (size_t k = 0; k < out_.pair.a.size(); ++k) {
      // What differing carried nodes make was drawn for each of them: it says nothing.
      if (carried(out_.pair.graph, out_.pair.a[k]) != carried(out_.pair.graph, out_.pair.b[k]))
        continue;
      const auto &x = print(out_.pair.a[k]), &y = print(out_.pair.b[k]);
      out_.suspect[k] = x.known && y.known && !close(x, y, kFar);
    }
  }

  /// Again with the first model, then with both, as proved rules tidy them up.
  Status prepare() {
    ModelProof& p = out_.proof;
    p.a = allowed(clean_up(first_, *options_.rules, stop_));
    ASSIGN_OR_RETURN(Graph a, prepared(first_, p.a));
    if (!p.a.empty()) RETURN_IF_ERROR(attempt(a, second_));
    if (complete(out_.sweep) || stop_.must_end()) return {};
    p.b = allowed(clean_up(second_, *options_.rules, stop_));
    if (p.b.empty()) return {};
    ASSIGN_OR_RETURN(Graph b, prepared(second_, p.b));
    return attempt(a, b);
  }
  /// Does a rule's left side have a number? It is compared as the tensors' type has it: 1 may be
  /// a product that is 1 but for rounding.
  bool rounds(const std::vector<rewrite::AppliedRule>& steps) const {
    auto is_number = [](const PatternNode& n) {
      return n.inputs.empty() && !n.attrs.reals.empty();
    };
    std::set<std::string> rules;
    for (const auto& compiled : options_.rules->rules())
      if (std::ranges::any_of(compiled.rule.lhs.nodes, is_number)) rules.insert(compiled.rule.name);
    return std::ranges::any_of(steps, [&](const auto& s) { return rules.count(s.rule) > 0; });
  }
  std::vector<rewrite::AppliedRule> allowed(std::vector<rewrite::AppliedRule> steps) const {
    if (!options_.sweep.constants && rounds(steps)) steps.clear();
    return steps;
  }
  Result<Graph> prepared(const Graph& g, const std::vector<rewrite::AppliedRule>& steps) {
    if (steps.empty()) return g;
    if (rounds(steps)) {
      if (!options_.sweep.constants) return error("a step compares numbers, where none may round");
      rounded_ = true;
    }
    return rewrite::replay(g, *options_.rules, steps, cost::Roofline(), {});
  }

  void conclude() {
    io::Interface a = io::interface_of(a_), b = io::interface_of(b_);
    const Pairing& pairing = out_.pairing;
    size_t place = 0;
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      int partner = pairing.matching.outputs[k];
      ValidatedOutput& o = out_.outputs.emplace_back();
      o.a = a.outputs[k].name;
      if (partner >= 0) {
        o.b = b.outputs[static_cast<size_t>(partner)].name;
        o.verdict = verdict_of(out_.sweep.outputs[place++]);
      }
      if (std::ranges::count(pairing.wrong_outputs, k) > 0) {
        o.verdict = Equivalence::Refuted;
        o.reason = "another interface";
      } else if (reads(a_.graph, a_.graph.outputs()[k], pairing.other_defaults)) {
        o.verdict = Equivalence::Refuted;
        o.reason = "another default of an input";
      } else if (o.verdict == Equivalence::Unknown) {
        o.reason = reason_of_unknown();
      }
    }
  }
  std::string reason_of_unknown() const {
    if (out_.postponed) return "its values are far apart on random inputs";
    if (!out_.sweep.open.empty()) return "a window was not proved";
    if (!out_.sweep.apart.empty()) return "a node of the second model equals none of the first";
    return "no window was found";
  }
  Equivalence verdict_of(verify::SweepReport::Output o) const {
    switch (o) {
      case verify::SweepReport::Unproved:
        return Equivalence::Unknown;
      case verify::SweepReport::Rounded:
        return Equivalence::UpToConstants;
      case verify::SweepReport::Structure:
      case verify::SweepReport::Windows:
        break;
    }
    return rounded_ ? Equivalence::UpToConstants : Equivalence::Proved;
  }

  const io::Imported &a_, &b_;
  const ValidationOptions& options_;
  const Stop& stop_;
  Graph first_, second_;
  bool rounded_ = false;  // some bodies differ by rounding
  Validation out_;
};

}  // namespace

Pairing pair_interfaces(const io::Imported& a, const io::Imported& b) {
  io::Interface x = io::interface_of(a), y = io::interface_of(b);
  Pairing p;
  p.matching.inputs = partners(y.inputs, x.inputs);
  p.matching.outputs = partners(x.outputs, y.outputs);
  const std::vector<int> taken = p.matching.outputs;
  auto differ = [&](const std::string& what, const io::Port& one, const io::Port& other) {
    p.differences.push_back(what + " " + in_quotes(one.name) + ": " + to_string(one.type) +
                            " in the first model, " + to_string(other.type) + " in the second");
  };
  auto note_name = [&](const std::string& what, const io::Port& one, const io::Port& other) {
    if (one.name != other.name)
      p.differences.push_back(what + " " + in_quotes(one.name) + " is named " +
                              in_quotes(other.name) + " in the second model");
  };
  for (size_t k = 0; k < y.inputs.size(); ++k) {
    int of_a = p.matching.inputs[k];
    if (of_a < 0) {
      p.differences.push_back("input " + in_quotes(y.inputs[k].name) +
                              " is in the second model only");
      continue;
    }
    const io::Port& one = x.inputs[static_cast<size_t>(of_a)];
    note_name("input", one, y.inputs[k]);
    if (may_be_equal(one.type, y.inputs[k].type)) continue;
    differ("input", one, y.inputs[k]);
    p.matching.inputs[k] = -1;
  }
  for (size_t k = 0; k < x.inputs.size(); ++k)
    if (std::ranges::count(p.matching.inputs, static_cast<int>(k)) == 0)
      p.differences.push_back("input " + in_quotes(x.inputs[k].name) +
                              " is in the first model only");
  for (size_t k = 0; k < x.outputs.size(); ++k) {
    int of_b = p.matching.outputs[k];
    if (of_b < 0)
      p.differences.push_back("output " + in_quotes(x.outputs[k].name) +
                              " is in the first model only");
    else if (const io::Port& other = y.outputs[static_cast<size_t>(of_b)];
             !may_be_equal(x.outputs[k].type, other.type))
      differ("output", x.outputs[k], other);
    else {
      note_name("output", x.outputs[k], other);
      continue;
    }
    p.wrong_outputs.push_back(k);
    p.matching.outputs[k] = -1;
  }
  for (size_t k = 0; k < y.outputs.size(); ++k)
    if (std::ranges::count(taken, static_cast<int>(k)) == 0)
      p.differences.push_back("output " + in_quotes(y.outputs[k].name) +
                              " is in the second model only");
  compare_defaults(a, b, p);
  return p;
}

namespace {

/// Those that the proof prepares the models with.
std::vector<Rule> rules_of(const ModelProof& proof, const ValidationOptions& options) {
  std::set<std::string> used = used_rules(proof);
  std::vector<Rule> rules;
  if (!options.rules) return rules;
  for (const auto& compiled : options.rules->rules())
    if (used.count(compiled.rule.name) > 0) rules.push_back(compiled.rule);
  return rules;
}

}  // namespace

Equivalence Validation::verdict() const {
  Equivalence worst = Equivalence::Proved;
  for (const ValidatedOutput& o : outputs) worst = std::min(worst, o.verdict);
  return worst;
}

Basis Validation::windows() const {
  Basis basis;
  for (const auto& [key, w] : sweep.windows)
    if (w.count > 0) basis.add(w.verdict.kind);
  return basis;
}

Result<Validation> validate(const io::Imported& a, const io::Imported& b,
                            const ValidationOptions& options, const Stop& stop) {
  ASSIGN_OR_RETURN(Validation v, Validator(a, b, options, stop).make());
  for (const Rule& rule : rules_of(v.proof, options)) v.rules.add(rule.verdict.kind);
  return v;
}

Result<ProofCertificate> make_proof(const io::Imported& a, const io::Imported& b,
                                    const Validation& validation, const ValidationOptions& options,
                                    std::map<std::string, int64_t> sizes) {
  ProofCertificate c;
  ASSIGN_OR_RETURN(c.a, digest_of(a));
  ASSIGN_OR_RETURN(c.b, digest_of(b));
  c.sizes = std::move(sizes);
  c.constants = options.sweep.constants;
  c.proof = validation.proof;
  c.rules = rules_of(c.proof, options);
  for (const ValidatedOutput& o : validation.outputs) c.outputs.push_back(o.verdict);
  return c;
}

Result<Validation> check_proof(const ProofCertificate& c, const io::Imported& a,
                               const io::Imported& b, uint64_t seed, int threads,
                               const Stop& stop) {
  ASSIGN_OR_RETURN(Digest first, digest_of(a));
  ASSIGN_OR_RETURN(Digest second, digest_of(b));
  if (first != c.a) return error("the certificate is about another first model");
  if (second != c.b) return error("the certificate is about another second model");
  ASSIGN_OR_RETURN(auto rules, prove_rules(c.rules, seed, threads));
  Basis basis;
  for (const Rule& rule : rules) basis.add(rule.verdict.kind);
  ASSIGN_OR_RETURN(auto index, rewrite::RuleIndex::build(std::move(rules), rewrite::Scope::AllSizes,
                                                         Numerics::Unknown));
  ValidationOptions options;
  options.rules = &index;
  options.sweep.threads = threads;
  options.sweep.constants = c.constants;
  ASSIGN_OR_RETURN(Validation v, Validator(a, b, options, stop).check(c.proof));
  v.rules = basis;
  if (v.outputs.size() != c.outputs.size()) return error("the certificate is about other outputs");
  for (size_t k = 0; k < v.outputs.size(); ++k)
    if (v.outputs[k].verdict < c.outputs[k])
      return error("output '" + v.outputs[k].a + "' is not " + to_string(c.outputs[k]));
  return v;
}

}  // namespace regraft::certify
