// What needs no toolkit.
#include "cost/runtime/cuda/cuda.h"

namespace regraft::cost::cuda {

ProfileKey profile_key(const Device& d) {
  ProfileKey key;
  key.runtime = "cuda";
  key.runtime_version = d.libraries;
  key.device = d.name;
  key.driver = d.driver;
  return key;
}

}  // namespace regraft::cost::cuda
