#pragma once
// Numbers of two models beside each other, as bars and as a curve.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/optimization/page/kernels.h"

namespace regraft::cli {

/// "-12.3 %"; empty where nothing changed.
std::string percent(double before, double after);
/// "123.4 µs", "12.3 ms", "1.23 s".
std::string duration(double microseconds);
/// Measured time of a side of a report, in microseconds.
std::optional<double> measured_time(const nlohmann::json& side);
int64_t operators_in(const nlohmann::json& side);

/// Of `before` and `after` of a report: a card for each quantity.
std::string quantity_cards(const nlohmann::json& before, const nlohmann::json& after);
/// Kernels of one kind together, the dearest first.
std::string kernel_bars(const std::vector<PlannedKernel>& before,
                        const std::vector<PlannedKernel>& after);
/// `search` of a report, whose original had this cost: the best cost over time. Empty: there is no
/// improvement.
std::string search_curve(const nlohmann::json& search, double start);

/// Their rules of CSS.
std::string chart_style();

}  // namespace regraft::cli
