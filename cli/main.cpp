// The program. In a wheel it is this and the library.
#include "cli/library/regraft.h"

#ifdef REGRAFT_MIMALLOC
#include <cstdlib>
#include <new>

// mimalloc's own `new`, which is C, ends the program where there is no memory.
namespace {

void* there(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* aligned(size_t bytes, std::align_val_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, static_cast<size_t>(alignment), bytes) == 0 ? memory : nullptr;
}

}  // namespace

void* operator new(size_t bytes) { return there(std::malloc(bytes)); }
void* operator new[](size_t bytes) { return there(std::malloc(bytes)); }
void* operator new(size_t bytes, std::align_val_t a) { return there(aligned(bytes, a)); }
void* operator new[](size_t bytes, std::align_val_t a) { return there(aligned(bytes, a)); }
#endif

int main(int argc, char** argv) { return regraft_main(argc, argv); }
