#include "rewrite/search/paths.h"

#include <algorithm>

#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

int32_t Paths::add(int32_t parent, Move move) {
  nodes_.push_back({parent, at(parent).depth + 1, std::move(move)});
  return static_cast<int32_t>(nodes_.size()) - 1;
}

std::vector<Move> Paths::moves(int32_t node) const {
  std::vector<Move> result;
  for (; node != 0; node = at(node).parent) result.push_back(at(node).move);
  std::reverse(result.begin(), result.end());
  return result;
}

void Paths::go(Engine& engine, int32_t from, int32_t to) const {
  std::vector<int32_t> forth;
  while (from != to) {
    if (at(from).depth >= at(to).depth) {
      engine.undo();
      from = at(from).parent;
    } else {
      forth.push_back(to);
      to = at(to).parent;
    }
  }
  for (size_t k = forth.size(); k-- > 0;) redo(engine, at(forth[k]).move);
}

}  // namespace regraft::rewrite
