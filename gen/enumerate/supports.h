#pragma once
// Which calls a value needs: sets of tokens, kept packed for millions of values.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace regraft::gen {

/// A token stands for a call: the class that it computes, or a number of its own for calls of
/// several outputs.
using Token = uint32_t;
/// Sorted tokens.
using TokenSpan = std::span<const Token>;

/// A set of calls, sorted.
struct Support {
  static constexpr uint32_t kCapacity = 7;
  uint32_t size = 0;
  std::array<Token, kCapacity> tokens{};
  Support() = default;
  explicit Support(TokenSpan from);
  TokenSpan span() const { return {tokens.data(), size}; }
  Support with(Token token) const;     ///< REQUIRES: size < kCapacity
  Support without(Token token) const;  ///< the same when it is not there
  bool operator==(const Support& o) const = default;
};

bool contains(TokenSpan set, Token token);
bool contains(TokenSpan set, TokenSpan part);
/// Number of tokens in the union.
int union_size(TokenSpan a, TokenSpan b);
/// REQUIRES: it fits.
Support united(TokenSpan a, TokenSpan b);

/// A value's supports, one for each irredundant way to compute it: "size tokens.. size tokens..".
class SupportList {
 public:
  SupportList() = default;
  explicit SupportList(std::span<const Token> packed) : packed_(packed) {}
  class Iterator {
   public:
    explicit Iterator(const Token* at) : at_(at) {}
    TokenSpan operator*() const { return {at_ + 1, *at_}; }
    Iterator& operator++() {
      at_ += 1 + *at_;
      return *this;
    }
    bool operator==(const Iterator& o) const = default;

   private:
    const Token* at_;
  };
  Iterator begin() const { return Iterator(packed_.data()); }
  Iterator end() const { return Iterator(packed_.data() + packed_.size()); }
  std::span<const Token> packed() const { return packed_; }

 private:
  std::span<const Token> packed_;
};

/// The smallest union of one support of each list, or any number above `limit` when it is larger.
int smallest_union(SupportList a, SupportList b);
int smallest_union(std::span<const SupportList> lists);
/// The first smallest union; REQUIRES: it fits a Support.
Support best_union(std::span<const SupportList> lists);
/// Adds s unless a subset of it is there; drops what s makes redundant.
void add_irredundant(std::vector<Support>& list, const Support& s);
/// All unions of at most `limit` calls.
std::vector<Support> all_unions(std::span<const SupportList> lists, int limit);

/// The supports of classes 0, 1, ...
class SupportTable {
 public:
  void push_back(const std::vector<Support>& supports);
  SupportList of(uint32_t id) const {
    return SupportList({tokens_.data() + begin_[id], begin_[id + 1] - begin_[id]});
  }
  /// The table with some lists replaced; `changed` is sorted by class.
  void replace(const std::vector<std::pair<uint32_t, std::vector<Support>>>& changed);
  size_t size() const { return begin_.size() - 1; }
  size_t bytes() const { return tokens_.capacity() * 4 + begin_.capacity() * 8; }

 private:
  std::vector<Token> tokens_;
  std::vector<size_t> begin_ = {0};
};

}  // namespace regraft::gen
