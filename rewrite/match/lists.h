#pragma once
// Doubly linked lists whose changes can be taken back in constant time.
#include <cstdint>
#include <vector>

namespace regraft::rewrite {

/// Circular lists in one pool of links; a list is known by its head, which is a link too. A link
/// that is removed remembers its neighbours, so removals that are restored in reverse order leave
/// the lists exactly as they were (Knuth, "Dancing Links", 2000).
class Lists {
 public:
  /// A link on its own: an empty list when it is used as a head.
  int32_t add() {
    auto link = static_cast<int32_t>(links_.size());
    links_.push_back({link, link});
    return link;
  }
  int32_t size() const { return static_cast<int32_t>(links_.size()); }
  /// Drops the links from `size` on. REQUIRES: none of them is in a list with an older one.
  void truncate(int32_t size) { links_.resize(static_cast<size_t>(size)); }

  int32_t next(int32_t link) const { return at(link).next; }
  int32_t previous(int32_t link) const { return at(link).previous; }
  bool empty(int32_t head) const { return next(head) == head; }

  void append(int32_t head, int32_t link) { insert_after(previous(head), link); }
  void insert_after(int32_t place, int32_t link) {
    at(link) = {place, next(place)};
    restore(link);
  }
  void remove(int32_t link) {
    at(at(link).previous).next = at(link).next;
    at(at(link).next).previous = at(link).previous;
  }
  /// Undoes the removal. REQUIRES: the list is as it was just after it.
  void restore(int32_t link) {
    at(at(link).previous).next = link;
    at(at(link).next).previous = link;
  }

 private:
  struct Link {
    int32_t previous, next;
  };
  Link& at(int32_t link) { return links_[static_cast<size_t>(link)]; }
  const Link& at(int32_t link) const { return links_[static_cast<size_t>(link)]; }
  std::vector<Link> links_;
};

}  // namespace regraft::rewrite
