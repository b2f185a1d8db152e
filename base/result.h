#pragma once
// Result<T>: a value or an Error. The way in which bad input is reported; bugs use CHECK.
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace regraft {

/// What went wrong with the user's input, in one line that names the place and what to do.
struct Error {
  std::string message;
};

inline Error error(std::string message) { return Error{std::move(message)}; }

/// Either a T or an Error. The names follow C++23's std::expected.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Error failure) : state_(std::move(failure)) {}  // NOLINT: implicit by design
  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  /// REQUIRES: has_value().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  /// REQUIRES: !has_value().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error: the result of an action without a value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error failure) : failure_(std::move(failure)) {}  // NOLINT: implicit by design
  bool ok() const { return !failure_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *failure_; }

 private:
  std::optional<Error> failure_;
};

}  // namespace regraft

#define REGRAFT_CONCAT_(a, b) a##b
#define REGRAFT_CONCAT(a, b) REGRAFT_CONCAT_(a, b)
/// Declares `lhs` from a Result expression, or returns its Error from the enclosing function.
#define ASSIGN_OR_RETURN(lhs, expression)                                                   \
  auto REGRAFT_CONCAT(result_, __LINE__) = (expression);                                    \
  if (!REGRAFT_CONCAT(result_, __LINE__)) return REGRAFT_CONCAT(result_, __LINE__).error(); \
  lhs = *std::move(REGRAFT_CONCAT(result_, __LINE__))
/// Returns the Error of a Status expression from the enclosing function.
#define RETURN_IF_ERROR(expression)                                    \
  do {                                                                 \
    if (auto status_ = (expression); !status_) return status_.error(); \
  } while (false)
