#pragma once
// TASO's file of substitutions (graph_subst.pb, protobuf): read as candidates in our operators.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "substitutions/rule_db.h"

namespace regraft::substitutions {

/// A rule of the file that has no counterpart.
struct TasoLeftOut {
  size_t index = 0;  ///< its place in the file, from 0
  std::string name, reason;
};

struct TasoRules {
  RuleFile file;  ///< candidates "taso.000" ..., numbered as in the file, for the ranks it means
  std::vector<TasoLeftOut> skipped;
};

/// A fused activation becomes a call after the convolution or product, enlarge a pad, SAME padding
/// the pads that it means for the kernel named. A split gets the sizes of the last concatenation it
/// undoes, or free sizes. Elementwise operators have operands of one shape. An Error names the file
/// when it is malformed, and the rule that has a number out of range.
Result<TasoRules> read_taso(const std::string& path);
/// The same from memory; `name` stands for the file in messages.
Result<TasoRules> parse_taso(std::string_view bytes, const std::string& name);

/// A rule of the file as TASO applies it.
struct TasoCase {
  size_t index = 0;  ///< its place in the file, from 0
  Rule rule;         ///< for the tensors it is meant for, as read_taso gives it
  /// For what TASO's matcher lets through when both sides can be built, each with its own
  /// signature: first without broadcasting and with any groups, then with axes of 1 beside others.
  std::vector<Rule> forms;
  std::string meaning;  ///< what `rule` says beyond forms[0]: "one group on the left side", or ""
};
struct TasoCases {
  std::vector<TasoCase> cases;
  std::vector<TasoLeftOut> skipped;
};
/// Broadcast axes are tried one axis at a time, with every choice of variables, and all axes of one
/// variable at once; of axes that the rule treats alike, one.
Result<TasoCases> read_taso_cases(const std::string& path);
Result<TasoCases> parse_taso_cases(std::string_view bytes, const std::string& name);

/// Our rules as TASO's file.
struct TasoBytes {
  std::string data;
  std::vector<std::string> names;     ///< of the rules in it, in their order
  std::vector<std::string> left_out;  ///< "relu-of-pad: the format has no pad of this form"
};
/// Writes each direction of each rule that the format can say, at the first signature that it can:
/// a rule is left out unless reading it back gives the same rule for the same shapes.
TasoBytes to_taso(std::span<const Rule> rules);

}  // namespace regraft::substitutions
