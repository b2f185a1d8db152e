#pragma once
// Mutations of protobuf messages that keep them messages.
#include <span>
#include <string>

#include <google/protobuf/message.h>

namespace regraft::fuzz {

/// Changes some fields of the message, anywhere in it: numbers, texts, elements of lists, whole
/// sub-messages, also by what stands elsewhere in it. `words`: texts to try.
void mutate(google::protobuf::Message& message, std::span<const std::string> words, uint64_t seed);

/// What LLVMFuzzerCustomMutator does for a target whose input is such a message; `message` is where
/// it is parsed into. Input that is none is mutated as bytes.
size_t mutate_bytes(google::protobuf::Message& message, uint8_t* data, size_t size, size_t most,
                    std::span<const std::string> words, uint64_t seed);

}  // namespace regraft::fuzz
