#include "substitutions/taso.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "substitutions/taso_terms.h"
#include "substitutions/wire.h"

namespace regraft::substitutions {
namespace {

constexpr uintmax_t kMaxBytes = uintmax_t{1} << 23;

Result<int> int_of(const WireField& f) {
  auto problem = [&](const char* what) {
    return error("byte " + std::to_string(f.offset) + ": " + what);
  };
  if (f.kind != WireField::Varint) return problem("expected a number");
  auto n = static_cast<int64_t>(f.number);
  if (n < INT32_MIN || n > INT32_MAX) return problem("a number is out of range");
  return static_cast<int>(n);
}

/// The numbers of a message that has nothing else: field -> value.
Result<std::map<uint32_t, int>> read_numbers(const WireField& message) {
  ASSIGN_OR_RETURN(auto fields, read_message(message));
  std::map<uint32_t, int> r;
  for (const WireField& f : fields) {
    ASSIGN_OR_RETURN(r[f.field], int_of(f));
  }
  return r;
}

Result<TasoOperator> read_operator(const WireField& message) {
  ASSIGN_OR_RETURN(auto fields, read_message(message));
  TasoOperator op;
  for (const WireField& f : fields) {
    if (f.field == 1) {
      ASSIGN_OR_RETURN(op.type, int_of(f));
      continue;
    }
    ASSIGN_OR_RETURN(auto numbers, read_numbers(f));
    if (f.field == 2) op.inputs.push_back({numbers[1], numbers[2]});
    if (f.field == 3) op.parameters[numbers[1]] = numbers[2];
  }
  return op;
}

Result<TasoRule> read_rule(const WireField& message) {
  ASSIGN_OR_RETURN(auto fields, read_message(message));
  TasoRule rule;
  for (const WireField& f : fields) {
    if (f.field == 1 || f.field == 2) {
      ASSIGN_OR_RETURN(TasoOperator op, read_operator(f));
      (f.field == 1 ? rule.source : rule.target).push_back(std::move(op));
    } else if (f.field == 3) {
      ASSIGN_OR_RETURN(auto n, read_numbers(f));
      rule.outputs.push_back({{n[1], n[3]}, {n[2], n[4]}});
    }
  }
  return rule;
}

std::string rule_name(size_t k) {
  std::string digits = std::to_string(k);
  return "taso." + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

}  // namespace

Result<TasoRules> read_taso(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return error(path + ": no such file");
  if (std::filesystem::file_size(path, problem) > kMaxBytes)
    return error(path + ": larger than such a file may be (8 MiB)");
  std::ifstream in(path, std::ios::binary);
  std::string data{std::istreambuf_iterator<char>(in), {}};
  auto located = [&](const Error& e) { return error(path + ": " + e.message); };
  auto fields = read_message({0, WireField::Bytes, 0, data, 0});
  if (!fields) return located(fields.error());
  TasoRules r;
  r.file.generator = "taso";
  size_t number = 0;
  for (const WireField& f : *fields) {
    if (f.field != 1) continue;
    std::string name = rule_name(number++);
    auto rule = read_rule(f);
    if (!rule) return error(path + ": " + name + ": " + rule.error().message);
    auto translated = translated_rule(*rule, name);
    if (translated)
      r.file.rules.push_back(*std::move(translated));
    else
      r.skipped.push_back(name + ": " + translated.error().message);
  }
  if (number == 0) return error(path + ": has no rules");
  return r;
}

}  // namespace regraft::substitutions
