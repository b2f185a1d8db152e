#include "rl/files/move_text.h"

#include <fmt/format.h>

#include <sstream>

namespace regraft::rl {

std::string to_text(double cost, const std::vector<rewrite::Move>& moves) {
  std::string s = fmt::format("{} {}", cost, moves.size());
  for (const rewrite::Move& m : moves) {
    s += fmt::format(" {} {}", m.rule, m.nodes.size());
    for (int32_t id : m.nodes) s += fmt::format(" {}", id);
    s += fmt::format(" {}", m.variables.size());
    for (Value v : m.variables) s += fmt::format(" {} {}", v.node, v.output);
  }
  return s;
}

Result<std::pair<double, std::vector<rewrite::Move>>> moves_of_text(const std::string& line) {
  constexpr size_t kMost = 100000;
  std::istringstream in(line);
  double cost = 0;
  size_t count = 0, n = 0;
  in >> cost >> count;
  std::vector<rewrite::Move> moves;
  for (; in && count <= kMost && moves.size() < count;) {
    rewrite::Move m;
    in >> m.rule >> n;
    for (; in && n <= kMost && m.nodes.size() < n;) in >> m.nodes.emplace_back();
    in >> n;
    for (; in && n <= kMost && m.variables.size() < n;) {
      Value v;
      in >> v.node >> v.output;
      m.variables.push_back(v);
    }
    moves.push_back(std::move(m));
  }
  if (!in || count > kMost || n > kMost)
    return error("'" + line.substr(0, 40) + "': not a list of moves");
  return std::pair(cost, std::move(moves));
}

}  // namespace regraft::rl
