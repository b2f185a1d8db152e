// Minimising in rounds with others: they are told the rules as these come, and connect groups.
#include <algorithm>

#include "base/files/bytes.h"
#include "gen/minimise/minimise.h"
#include "ir/rule/text.h"

namespace regraft::gen {

void Minimiser::share(const Helpers& helpers, std::string part, std::string tuples) {
  others_ = Others{helpers, std::move(part), std::move(tuples), {}, 0};
}

/// Rules as text; what was told once is not told again.
Status Minimiser::tell_rules() {
  const auto& added = rewrites_.added();
  if (others_->told == added.size()) return {};
  ByteWriter out;
  out.number<uint64_t>(added.size() - others_->told);
  for (size_t k = others_->told; k < added.size(); ++k) {
    Rule rule = *added[k].rule;
    rule.name = "r";
    out.text(to_string(rule)).number<uint64_t>(added[k].found.size());
    for (const Signature& s : added[k].found) {
      out.number<uint64_t>(s.size());
      for (const std::string& word : s) out.text(word);
    }
  }
  others_->told = added.size();
  ASSIGN_OR_RETURN(std::string name, others_->helpers.objects.keep(out.finish()));
  others_->rules.push_back(std::move(name));
  return {};
}

/// How the groups are connected by all rules, one after the other.
Result<std::string> Minimiser::ask_others(const std::vector<size_t>& items) {
  constexpr size_t kTogether = 128;
  RETURN_IF_ERROR(tell_rules());
  ByteWriter head;
  head.text(others_->part).text(others_->tuples).number<uint64_t>(others_->rules.size());
  for (const std::string& name : others_->rules) head.text(name);
  const std::string common = head.finish();
  std::vector<Task> tasks;
  for (size_t first = 0; first < items.size(); first += kTogether) {
    size_t last = std::min(items.size(), first + kTogether);
    ByteWriter groups;
    groups.number<uint64_t>(last - first);
    for (size_t k = first; k < last; ++k) {
      const Item& item = items_[items[k]];
      std::vector<uint64_t> bits;
      for (Application a : item.applications) bits.push_back(a.bits);
      groups.number<int32_t>(item.level).number(item.known).numbers(bits);
    }
    tasks.push_back({"connect", common + ByteWriter().text(groups.finish()).finish()});
  }
  ASSIGN_OR_RETURN(auto results, others_->helpers.run(tasks));
  std::string all;
  for (const std::string& r : results) all += r;
  return all;
}

Result<std::string> Minimiser::connect_for(std::string_view groups) const {
  ByteReader in(groups);
  std::string out;
  for (size_t left = in.count(20); left > 0 && in.fits(); --left) {
    Item item;
    item.level = in.number<int32_t>();
    item.known = in.number<ClassId>();
    for (uint64_t bits : in.numbers<uint64_t>()) item.applications.push_back({bits});
    if (!in.fits() || item.applications.empty()) break;
    out += connected(item);
  }
  if (!in.at_end()) return error("groups to connect that are none");
  return out;
}

}  // namespace regraft::gen
