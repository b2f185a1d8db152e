// io_roundtrip MODE IN OUT [IN OUT ...]: reads and writes each model; prints for each how many
// nodes became calls, or the Error. Exit code 3 when one failed. Modes: "same" does not touch the
// graph, "canonical" merges equal nodes, "folded" also computes what depends on constants only.
#include <cstdio>
#include <string_view>

#include "io/model.h"
#include "ir/graph/eval.h"
#include "ir/graph/fold.h"

namespace {

using regraft::Graph;
using regraft::Result;

Result<Graph> changed(const Graph& graph, std::string_view mode) {
  if (mode == "same") return graph;
  if (mode == "canonical") return regraft::canonical(graph);
  ASSIGN_OR_RETURN(Graph folded, regraft::fold_constants(graph));
  return regraft::canonical(folded);
}

regraft::Status roundtrip(std::string_view mode, const std::string& in, const std::string& out) {
  ASSIGN_OR_RETURN(auto imported, regraft::io::load(in));
  int calls = 0, foreign = 0, constants = 0;
  for (int32_t id = 0; id < imported.graph.id_bound(); ++id) {
    const regraft::Node& node = imported.graph.node(id);
    calls += node.kind == regraft::NodeKind::Call;
    foreign += node.kind == regraft::NodeKind::Opaque;
    constants += node.kind == regraft::NodeKind::Constant;
  }
  ASSIGN_OR_RETURN(Graph graph, changed(imported.graph, mode));
  RETURN_IF_ERROR(regraft::io::save(imported, graph, out));
  std::printf("ok %d %d %d %s\n", calls, foreign, constants, in.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) return 2;
  int code = 0;
  for (int k = 2; k + 1 < argc; k += 2) {
    if (auto status = roundtrip(argv[1], argv[k], argv[k + 1]); !status) {
      std::printf("failed %s\n", status.error().message.c_str());
      code = 3;
    }
  }
  return code;
}
