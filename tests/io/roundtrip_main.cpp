// io_roundtrip IN OUT [IN OUT ...]: reads and writes each model without rewriting it; prints for
// each how many nodes became calls, or the Error. Exit code 3 when one failed.
#include <cstdio>

#include "io/model.h"

namespace {

regraft::Status roundtrip(const std::string& in, const std::string& out) {
  ASSIGN_OR_RETURN(auto imported, regraft::io::load(in));
  int calls = 0, foreign = 0, constants = 0;
  for (int32_t id = 0; id < imported.graph.id_bound(); ++id) {
    switch (imported.graph.node(id).kind) {
      case regraft::NodeKind::Call:
        ++calls;
        break;
      case regraft::NodeKind::Opaque:
        ++foreign;
        break;
      case regraft::NodeKind::Constant:
        ++constants;
        break;
      default:
        break;
    }
  }
  RETURN_IF_ERROR(regraft::io::save(imported, imported.graph, out));
  std::printf("ok %d %d %d %s\n", calls, foreign, constants, in.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  int code = argc < 3 || argc % 2 == 0 ? 2 : 0;
  for (int k = 1; code != 2 && k + 1 < argc; k += 2) {
    if (auto status = roundtrip(argv[k], argv[k + 1]); !status) {
      std::printf("failed %s\n", status.error().message.c_str());
      code = 3;
    }
  }
  return code;
}
