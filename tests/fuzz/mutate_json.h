#pragma once
// Mutations of JSON texts that keep them JSON.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace regraft::fuzz {

/// What LLVMFuzzerCustomMutator does for a target whose input is one JSON value: changes numbers,
/// texts, lists and members anywhere in it. `words`: texts to try. Input that is none is mutated as
/// bytes, and now and then input that is one too.
size_t mutate_json(uint8_t* data, size_t size, size_t most, std::span<const std::string> words,
                   uint64_t seed);

}  // namespace regraft::fuzz
