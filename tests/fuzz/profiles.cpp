// Profiles of a machine, and the kernels that they name.
#include "cost/model/kernel.h"
#include "cost/profile.pb.h"
#include "cost/profile/profile.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_message.h"

namespace regraft {
namespace {

void read(std::string_view bytes) {
  auto profiles = cost::parse_profiles(bytes, "file");
  if (!profiles) return fuzz::check_message(profiles.error());
  std::vector<cost::Profile> twice = *profiles;
  merge(twice, *profiles);
  CLAIM(twice.size() == profiles->size(), "keys are distinct");
  for (const cost::Profile& p : *profiles) {
    for (const auto& [name, timing] : p.kernels) {
      auto kernel = cost::parse_signature(name);
      if (!kernel) {
        fuzz::check_message(kernel.error());
        continue;
      }
      std::string text = signature(*kernel);
      auto again = cost::parse_signature(text);
      CLAIM(again.has_value(), text + ": " + again.error().message);
      CLAIM(signature(*again) == text, text);
    }
  }
}

const std::vector<std::string> kWords = {
    "onnxruntime",
    "cpu",
    "cuda",
    "conv",
    "matmul",
    "%0 = input : float32[4,8] | %1 = input : float32[8,8] | %2 = matmul %0 %1 : float32[4,8] | "
    "outputs %2 | weights 1",
    "%0 = input : float32[1,16,8,8] | %1 = input : float32[16,16,1,1] | %2 = conv %0 %1 "
    "strides=1,1 pads=0,0,0,0 : float32[1,16,8,8] | %3 = relu %2 : float32[1,16,8,8] | outputs %3 "
    "| weights 1 | blocked %0 %3",
    "%0 = input : float32[1,16,8,8] | outputs %0 | blocked %0",
    "%0 = input : float32[4] | %1 = full value=1 : float32[] | %2 = sub %1 %0 : float32[4] | "
    "outputs %2"};

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  cost::wire::ProfileFile file;
  file.set_version(1);
  auto& p = *file.add_profiles();
  p.set_runtime("onnxruntime");
  p.set_runtime_version("1.0");
  p.set_device("a processor");
  p.set_threads(1);
  p.set_block(16);
  p.set_spread(0.01);
  p.set_measured(1000000000);
  p.mutable_machine()->set_peak_gflops(10);
  auto& rate = *p.mutable_machine()->add_rates();
  rate.set_kind("matmul");
  rate.set_gflops(5);
  for (const std::string& word : kWords) {
    if (!word.starts_with("%")) continue;
    auto& kernel = *p.add_kernels();
    kernel.set_signature(word);
    kernel.set_microseconds(12);
    kernel.set_noise(0.1);
    kernel.set_runs(5);
  }
  *file.add_profiles() = p;
  file.mutable_profiles(1)->set_threads(2);
  return {{"profiles", file.SerializeAsString()}};
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  regraft::read(regraft::fuzz::text_of(data, size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  static regraft::cost::wire::ProfileFile file;
  return regraft::fuzz::mutate_bytes(file, data, size, most, regraft::kWords, seed);
}
