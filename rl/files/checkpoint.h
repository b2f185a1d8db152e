#pragma once
// What a training keeps on disk: networks, state of the optimiser, vocabularies, counters.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/files/output_file.h"
#include "base/result.h"

namespace regraft::rl {

/// Row-major; rows * cols numbers.
struct Array {
  int64_t rows = 0, cols = 0;
  std::variant<std::vector<float>, std::vector<double>> numbers;
  bool operator==(const Array&) const = default;
};

/// Equal checkpoints are equal files.
struct Checkpoint {
  std::string kind;           // "policy", "world-model", ...
  uint64_t feature_hash = 0;  // of how graphs are turned into numbers
  std::map<std::string, std::string> settings;
  std::map<std::string, std::vector<std::string>> lists;  // vocabularies
  std::map<std::string, Array> arrays;
  std::map<std::string, std::variant<int64_t, uint64_t>> counters;
  bool operator==(const Checkpoint&) const = default;

  /// An error that says what differs and what to do.
  Status expect(const std::string& of_kind, uint64_t with_feature_hash) const;
};

/// An error when there is no such counter, or it is signed.
Result<uint64_t> counter(const Checkpoint& checkpoint, const std::string& name);

/// To a file that the caller commits.
Status write_checkpoint(OutputFile& out, const Checkpoint& checkpoint);
/// The path is replaced in one step or left as it was.
Status write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// Refuses what is no checkpoint, is of a newer version, or has been damaged.
Result<Checkpoint> read_checkpoint(const std::string& path);
/// The same from memory; `name` stands for the file in messages.
Result<Checkpoint> parse_checkpoint(std::string_view bytes, const std::string& name);
/// The file as bytes.
std::string to_bytes(const Checkpoint& checkpoint);

}  // namespace regraft::rl
