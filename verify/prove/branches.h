#pragma once
// What a proof distinguishes before it compares two sides: which branch a choice takes, and in what
// order the numbers of a rule are. Each question is the sign of a value that is defined wherever
// the question arises, so its two answers leave nothing out.
#include <optional>

#include "verify/normal/context.h"
#include "verify/prove/equality.h"

namespace regraft::verify {

/// What a sum is by what the context knows: the branches of a case are short where the sum is not.
Sum by_laws(const Sum& s, Context context);

/// The truth value of a condition; nullopt: it is open.
std::optional<bool> truth_of(const Sum& condition, const Context& context);

/// Of an open condition the argument of the first step that is open.
std::optional<Sum> open_step(const Sum& condition, const Context& context);

/// A value made of numbers alone, under a relu of s, whose sign is open.
std::optional<Sum> open_number(const Sum& s, const Context& context);

/// The value of s is defined everywhere: it has no function that is not.
bool is_total(const Sum& s);

/// Something that the side evaluates is not defined where the context holds, or nothing is as the
/// context says. REQUIRES: no choice may leave out what the side's partial functions are of.
bool is_void(const Side& side, const Context& context);

}  // namespace regraft::verify
