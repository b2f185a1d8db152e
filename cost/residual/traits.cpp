#include "cost/residual/traits.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "cost/model/memory.h"

namespace regraft::cost {
namespace {

constexpr double kCacheBytes = 1e6;  // of a core, in round numbers

double bytes_of(const TensorType& type) {
  if (!type.shape) return 0;
  double bytes = static_cast<double>(size_of(type.dtype));
  for (const Poly& d : *type.shape) bytes *= static_cast<double>(typical(d));
  return bytes;
}

/// Sums by group and name.
class Traits {
 public:
  void add(TraitGroup group, uint64_t name, double microseconds) {
    sums_[{group, name}] += microseconds;
  }
  std::vector<Trait> list() const {
    std::vector<Trait> all;
    for (const auto& [key, sum] : sums_) all.push_back({key.first, key.second, sum});
    return all;
  }

 private:
  std::map<std::pair<TraitGroup, uint64_t>, double> sums_;
};

/// A kernel among others, all by their places in the plan.
struct Piece {
  uint64_t signature = 0, kind = 0;
  double microseconds = 0;
  std::vector<size_t> makers;   ///< of its operands, in order
  std::vector<size_t> readers;  ///< of its results
  double traffic = 0;           ///< bytes of operands that are too large for the cache
};

std::vector<Piece> pieces_of(const Graph& g, const KernelPlan& plan, const Profiled& model) {
  std::vector<Piece> pieces;
  std::map<std::pair<int32_t, int32_t>, size_t> makers;  // of values, the last
  for (const KernelCall& call : plan.calls) {
    Piece piece{hash_text(call.signature),
                static_cast<uint64_t>(kind_of(call.kernel)),
                model.price(call).microseconds,
                {},
                {},
                0};
    for (Value v : call.operands) {
      auto maker = makers.find({v.node, v.output});
      if (maker == makers.end()) continue;
      piece.makers.push_back(maker->second);
      pieces[maker->second].readers.push_back(pieces.size());
      const double bytes = bytes_of(g.type(v));
      if (bytes > kCacheBytes) piece.traffic += bytes;
    }
    for (Value v : call.results) makers.insert_or_assign({v.node, v.output}, pieces.size());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// Equal for kernels of one signature that read from and are read by kernels of the same.
uint64_t context_of(const Piece& piece, const std::vector<Piece>& pieces) {
  uint64_t h = piece.signature, readers = 0;
  for (size_t maker : piece.makers) h = combine(h, pieces[maker].signature);
  for (size_t reader : piece.readers) readers += mix(pieces[reader].signature);
  return combine(h, readers);
}

void add_handovers(Traits& traits, const Piece& piece, const std::vector<Piece>& pieces) {
  for (size_t maker : piece.makers) {
    const Piece& before = pieces[maker];
    const double shared = std::min(before.microseconds, piece.microseconds);
    traits.add(TraitGroup::Handover, combine(before.signature, piece.signature), shared);
    traits.add(TraitGroup::KindPair, combine(before.kind, piece.kind), shared);
  }
}

}  // namespace

std::string_view to_string(TraitGroup group) {
  constexpr std::string_view kNames[] = {"price",    "measured",  "estimated", "kind",
                                         "handover", "kind pair", "context",   "launches",
                                         "traffic",  "peak"};
  static_assert(std::size(kNames) == static_cast<size_t>(TraitGroup::kCount));
  return kNames[static_cast<size_t>(group)];
}

std::optional<TraitGroup> trait_group_named(std::string_view name) {
  for (size_t k = 0; k < static_cast<size_t>(TraitGroup::kCount); ++k)
    if (to_string(static_cast<TraitGroup>(k)) == name) return static_cast<TraitGroup>(k);
  return std::nullopt;
}

std::vector<Trait> traits_of(const Graph& g, const KernelPlan& plan, const Profiled& model) {
  const Machine& machine = model.profile().machine;
  const double per_byte = 1e-3 / machine.bandwidth_gbytes;  // microseconds
  const double launch = machine.launch_microseconds;
  Traits traits;
  const std::vector<Piece> pieces = pieces_of(g, plan, model);
  for (size_t k = 0; k < pieces.size(); ++k) {
    const Piece& piece = pieces[k];
    const bool measured = model.price(plan.calls[k]).measured;
    traits.add(measured ? TraitGroup::Measured : TraitGroup::Estimated, piece.signature,
               piece.microseconds);
    traits.add(TraitGroup::Kind, piece.kind, piece.microseconds);
    traits.add(TraitGroup::Context, context_of(piece, pieces), piece.microseconds);
    add_handovers(traits, piece, pieces);
    if (piece.traffic > 0) traits.add(TraitGroup::Traffic, 0, per_byte * piece.traffic);
  }
  traits.add(TraitGroup::Price, 0, model.predict(g, plan).microseconds);
  traits.add(TraitGroup::Launches, 0,
             launch * static_cast<double>(plan.calls.size() + plan.opaque.size()));
  const auto peak = static_cast<double>(schedule(plan, g).peak_bytes);
  traits.add(TraitGroup::Peak, 0, per_byte * peak);
  return traits.list();
}

}  // namespace regraft::cost
