#pragma once
// A graph that is changed in place and changed back.
#include <array>
#include <compare>

#include "base/hash.h"
#include "rewrite/match/interner.h"
#include "rewrite/match/lists.h"

namespace regraft::rewrite {

/// Identity of a graph: digests of what each node computes from what lies up to kViewDepth calls
/// before it, and of which of these are outputs. Equal for graphs that are equal up to ids, order
/// and commuted operands. Graphs that are not are told apart (but for chance, one in 2^64) unless
/// calls in them look alike, constants included, as far as that.
struct Identity {
  uint64_t outputs = 0, nodes = 0;
  auto operator<=>(const Identity&) const = default;
};

constexpr int kViewDepth = 8;

/// Equal operands of two calls of op, commuted ones included.
bool same_operands(const OpDef& op, std::span<const Value> a, std::span<const Value> b);

/// Indexed by users, by content and by operator. All changes are logged until `commit`. Ids are
/// those of Graph: new calls are numbered from id_bound() on. Has no dead nodes at the start and
/// keeps none if its user removes those that a change leaves. Not thread-safe.
class LiveGraph {
 public:
  struct Slot {
    NodePtr origin;  ///< as it was at the start; null for a new call
    NodeKind kind = NodeKind::Call;
    bool alive = false;
    bool constant = false;  ///< depends on constants only
    FormId form = -1;       ///< of a call
    const OpDef* op = nullptr;
    int32_t data = -1;  ///< of a constant; of a call on constants that makes few elements of them
    std::vector<Value> inputs;
    std::vector<TypeId> types;
    int32_t uses = 0;      ///< graph outputs included
    int32_t links = 0;     ///< its links: users, content, operator, one for each operand
    double cost = 0;       ///< microseconds, if it runs
    double position = 0;   ///< above that of all its operands
    bool dirty = false;    ///< in `dirty_`
    uint64_t content = 0;  ///< of form and operands
  };

  /// REQUIRES: g is acyclic.
  LiveGraph(const Graph& g, Interner& interner);

  int32_t id_bound() const { return bound_; }
  const Slot& slot(int32_t id) const { return slots_[static_cast<size_t>(id)]; }
  bool alive(int32_t id) const { return slot(id).alive; }
  TypeId type(Value v) const { return slot(v.node).types[static_cast<size_t>(v.output)]; }
  const std::vector<Value>& outputs() const { return outputs_; }
  Interner& interner() const { return *interner_; }
  double cost() const { return cost_; }
  int32_t calls() const { return calls_; }  ///< that run: opaque ones too, constant ones not

  /// An order in which operands come first.
  bool comes_before(int32_t a, int32_t b) const {
    return std::pair(slot(a).position, a) < std::pair(slot(b).position, b);
  }
  /// visit(user, operand) for each use by a node.
  template <class Visit>
  void for_uses(int32_t id, Visit&& visit) const {
    int32_t head = slot(id).links;
    for (int32_t l = lists_.next(head); l != head; l = lists_.next(l)) {
      const Owner& o = owners_[static_cast<size_t>(l)];
      visit(o.node, o.operand);
    }
  }
  /// visit(id) for each call of op.
  template <class Visit>
  void for_calls(const OpDef& op, Visit&& visit) const {
    auto it = by_op_.find(&op);
    if (it == by_op_.end()) return;
    for (int32_t l = lists_.next(it->second); l != it->second; l = lists_.next(l))
      visit(owners_[static_cast<size_t>(l)].node);
  }
  /// How often exactly this value is read, graph outputs included.
  int32_t uses_of(Value v) const;
  /// Hash of a call's form and operands, from those of its operands.
  uint64_t content_hash(FormId form, std::span<const uint64_t> operands) const;
  uint64_t content_hash(FormId form, std::span<const Value> inputs) const;
  /// Hash of a value as an operand: of its node's number, or of the form of a call that has no
  /// operands, which is thus the same whether it is there already or not.
  uint64_t operand_hash(Value v) const;
  uint64_t operand_hash(FormId maker, int32_t output) const;
  /// The call of that form with these operands (commuted ones count as equal), the first type as
  /// given, with the lowest id; -1: there is none.
  int32_t find_call(uint64_t content, FormId form, std::span<const Value> inputs,
                    TypeId type) const;
  Identity identity();
  /// The node as Graph has it.
  Node node(int32_t id) const;
  /// With origins, names and data. A call whose operands merely changed keeps its origin; names of
  /// replaced values are those of what replaced them where that is new.
  Graph to_graph() const;

  int32_t add_call(FormId form, std::span<const Value> inputs, const std::vector<TypeId>& types,
                   double cost, bool constant);
  /// Makes operand `operand` of `user` another value.
  void redirect(int32_t user, int32_t operand, Value to);
  void redirect_output(size_t k, Value to);
  void set_constant(int32_t id);
  /// REQUIRES: nothing uses it but what is removed too.
  void remove(int32_t id);
  /// The name of `from` is that of `to` now, if `to` is new and has none.
  void move_name(Value from, Value to);
  /// Restores the order of positions: new calls, and calls with other operands, are put above
  /// these, and what reads them above them. Costs what lies between an operand and its reader.
  void lift(std::span<const int32_t> ids);

  /// A point to go back to.
  struct Mark {
    size_t log = 0;
    int32_t bound = 0, links = 0, calls = 0;
    double cost = 0;
    size_t names = 0;
  };
  Mark mark() const;
  void undo(const Mark& m);
  /// Forgets how to go back. REQUIRES: no mark is used afterwards.
  void commit() { log_.clear(); }

 private:
  enum Links : int32_t { Users, Content, Operator, Operands };
  struct Owner {
    int32_t node = -1, operand = -1;
  };
  enum class Did : uint8_t { Add, Redirect, Rekey, Output, Constant, Remove, Position };
  struct Entry {
    Did did{};
    int32_t node = 0, operand = 0, link = 0;
    Value value;
    uint64_t number = 0;
    double real = 0;
  };
  static Entry entry(Did did, int32_t node) {
    Entry e;
    e.did = did;
    e.node = node;
    return e;
  }
  struct Name {
    Value value, from;
  };

  Slot& at(int32_t id) { return slots_[static_cast<size_t>(id)]; }
  void load(const Graph& g, int32_t id);
  int32_t new_slot();
  int32_t data_of(const Slot& s) const;
  void add_links(int32_t id);
  int32_t bucket(uint64_t content) const {
    return static_cast<int32_t>(content & (bucket_count_ - 1));
  }
  void unlink(int32_t id);
  void relink(int32_t id);
  void count(int32_t id, int sign);
  void take_back(const Entry& e);
  void take_back_redirection(const Entry& e);
  void set_position(int32_t id, double position);
  void mark_dirty(int32_t id);
  void forget_view(int32_t id);
  uint64_t view_alone(int32_t id) const;
  uint64_t view_of(int32_t id, int depth) const;
  uint64_t& view(int32_t id, int depth) {
    return views_[static_cast<size_t>(id)][static_cast<size_t>(depth)];
  }
  void refresh_views();
  std::vector<int32_t> with_users(std::vector<int32_t> ids);
  static uint64_t term(uint64_t hash) { return mix(hash ^ 0x5bf03635f0c2a9d1ULL); }

  Interner* interner_;
  std::vector<Slot> slots_;  // those from bound_ on are kept for their memory
  int32_t bound_ = 0;
  std::vector<Value> inputs_, outputs_;
  Lists lists_;
  std::vector<Owner> owners_;  // by link
  uint64_t bucket_count_ = 0;
  std::unordered_map<const OpDef*, int32_t> by_op_;  // heads
  double cost_ = 0;
  int32_t calls_ = 0;
  std::vector<Entry> log_;
  std::vector<Name> names_;
  using Views = std::array<uint64_t, kViewDepth + 1>;
  std::vector<Views> views_;    // by id: as seen with so many calls before it; made when asked for
  std::vector<int32_t> dirty_;  // whose views are not up to date; so are those behind them
  uint64_t view_sum_ = 0;       // of live nodes that have views
  mutable std::vector<uint64_t> operands_;
  std::vector<int32_t> seen_;  // by id: round
  int32_t round_ = 0;
};

}  // namespace regraft::rewrite
