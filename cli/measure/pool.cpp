#include "cli/measure/pool.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/measure/kernels.h"
#include "cli/measure/worker.h"
#include "cli/support/report.h"
#include "cost/residual/traits.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

json described(const Graph& g, const cost::Profiled& prices) {
  const Graph sized = cost::at_sizes(g);
  const cost::KernelPlan plan = prices.plan(sized);
  const cost::Prediction p = prices.predict(sized, plan);
  json traits = json::object();
  for (const cost::Trait& t : cost::traits_of(sized, plan, prices))
    traits[std::string(to_string(t.group))][fmt::format("{:016x}", t.name)] = t.microseconds;
  return {{"predicted", p.microseconds},
          {"estimated", p.estimated_microseconds},
          {"kernels", p.kernels},
          {"traits", std::move(traits)}};
}

}  // namespace

Status write_pool(const std::string& folder, const io::Imported& model,
                  std::span<const rewrite::Candidate> candidates, const cost::Profiled& prices) {
  RETURN_IF_ERROR(make_folder(folder));
  json list = json::array();
  auto add = [&](const Graph& g) -> Status {
    json entry = described(g, prices);
    std::string file = fmt::format("graph{:04}.onnx", list.size());
    entry["file"] = file;
    list.push_back(std::move(entry));
    auto saved = io::save(model, g, folder + "/" + file);
    return saved ? Status() : saved.error();
  };
  RETURN_IF_ERROR(add(model.graph));
  for (const rewrite::Candidate& c : candidates) RETURN_IF_ERROR(add(c.graph));
  return write_file(folder + "/pool.json",
                    to_text({{"shapes", input_shapes(model.graph)}, {"graphs", list}}, -1));
}

}  // namespace regraft::cli
