#pragma once
// A vector whose copies are cheap.
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace regraft::kernel {

/// Copy-on-write: copies share their elements until one of them is edited, and references to
/// elements are valid until then. Reading is thread-safe; a list that is edited belongs to one
/// thread.
template <class T>
class List {
 public:
  List() = default;
  List(std::vector<T> all) {  // NOLINT: implicit by design
    if (!all.empty()) all_ = std::make_shared<std::vector<T>>(std::move(all));
  }
  List(std::initializer_list<T> all) : List(std::vector<T>(all)) {}
  operator const std::vector<T>&() const { return all(); }  // NOLINT: implicit by design
  const std::vector<T>& all() const { return all_ ? *all_ : kNone; }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  bool empty() const { return all().empty(); }
  size_t size() const { return all().size(); }
  const T& operator[](size_t k) const { return all()[k]; }
  const T& at(size_t k) const { return all().at(k); }
  bool shares_with(const List& other) const { return all_ == other.all_; }
  bool operator==(const List& other) const { return shares_with(other) || all() == other.all(); }

  /// Its elements, from now on its own.
  std::vector<T>& edit() {
    if (!all_)
      all_ = std::make_shared<std::vector<T>>();
    else if (all_.use_count() > 1)
      all_ = std::make_shared<std::vector<T>>(*all_);
    return *all_;
  }
  void erase(size_t k) { edit().erase(all_->begin() + static_cast<std::ptrdiff_t>(k)); }
  void push_back(T x) { edit().push_back(std::move(x)); }
  friend List joined(List a, const List& b) {
    if (a.empty()) return b;
    if (!b.empty()) a.edit().insert(a.all_->end(), b.begin(), b.end());
    return a;
  }

 private:
  static inline const std::vector<T> kNone;
  std::shared_ptr<std::vector<T>> all_;
};

}  // namespace regraft::kernel
