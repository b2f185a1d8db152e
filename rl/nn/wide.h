#pragma once
// Loops over long rows, with wide vectors where the processor has them.

/// Of a lambda that is given to wide().
#define REGRAFT_WIDE __attribute__((always_inline))

namespace regraft::rl::nn {

#if defined(__x86_64__)
template <class Loop>
[[gnu::target("avx2")]] void with_avx2(const Loop& loop) {
  loop();
}

/// The result does not depend on the processor, as products are not fused with sums.
template <class Loop>
void wide(const Loop& loop) {
  if (__builtin_cpu_supports("avx2"))
    with_avx2(loop);
  else
    loop();
}
#else
template <class Loop>
void wide(const Loop& loop) {
  loop();
}
#endif

}  // namespace regraft::rl::nn
