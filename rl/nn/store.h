#pragma once
// Parameters and optimisers in checkpoints: matrices "<prefix>/<parameter>".
#include "rl/files/checkpoint.h"
#include "rl/nn/adam.h"

namespace regraft::rl::nn {

template <class S>
void store(Checkpoint& into, const std::string& prefix, const Parameters<S>& parameters);

/// Fills all parameters; an error names the first that is missing, of another size or type.
template <class S>
Status load(const Checkpoint& from, const std::string& prefix, Parameters<S>& parameters);

/// Numbers in all matrices of the prefix: more than the parameters that were stored there, whose
/// sizes can be checked against it before anything of these sizes is made.
int64_t count(const Checkpoint& from, const std::string& prefix);

/// Moments and steps; the options are the caller's.
template <class S>
void store(Checkpoint& into, const std::string& prefix, const Adam<S>& adam,
           const Parameters<S>& names);
template <class S>
Status load(const Checkpoint& from, const std::string& prefix, Adam<S>& adam,
            const Parameters<S>& names);

}  // namespace regraft::rl::nn
