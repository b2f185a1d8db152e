// Minimising in rounds with others: they are told the rules as these come, connect groups, and
// judge what stays apart.
#include <algorithm>

#include "base/files/bytes.h"
#include "gen/minimise/links.h"
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

void Minimiser::write(ByteWriter& out, const Item& item,
                      const std::vector<Application>& applications) {
  std::vector<uint64_t> bits;
  for (Application a : applications) bits.push_back(a.bits);
  out.number<int32_t>(item.level).number(item.known).numbers(bits);
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
      write(groups, item, item.applications);
      groups.numbers(equal_followers(item));
    }
    tasks.push_back({"connect", common + ByteWriter().text(groups.finish()).finish()});
  }
  ASSIGN_OR_RETURN(auto results, others_->helpers.run(tasks));
  std::string all;
  for (const std::string& r : results) all += r;
  return all;
}

Minimiser::Item Minimiser::read_item(ByteReader& in) {
  Item item;
  item.level = in.number<int32_t>();
  item.known = in.number<ClassId>();
  for (uint64_t bits : in.numbers<uint64_t>()) item.applications.push_back({bits});
  return item;
}

Result<std::string> Minimiser::connect_for(std::string_view groups) const {
  ByteReader in(groups);
  std::string out;
  for (size_t left = in.count(20); left > 0 && in.fits(); --left) {
    Item item = read_item(in);
    auto equal = in.numbers<uint32_t>();
    bool fits = in.fits() && (equal.empty() || equal.size() == item.applications.size());
    for (size_t k = 0; fits && k < equal.size(); ++k) fits = equal[k] <= k + 1;
    if (!fits || item.applications.empty()) break;
    out += connected(item, equal);
  }
  if (!in.at_end()) return error("groups to connect that are none");
  return out;
}

Result<std::string> Minimiser::judge_for(std::string_view group) const {
  ByteReader in(group);
  Item item = read_item(in);
  if (!in.at_end() || item.applications.empty()) return error("a group to judge that is none");
  return to_bytes(verdict(item, item.applications.size() - 1));
}

/// As connect() with all rules, of the groups from `position` on that are not large.
Status Minimiser::connect_by_others(size_t position, std::vector<Links>& links) {
  std::vector<size_t> items;
  for (size_t k = 0; k < links.size(); ++k) {
    links[k] = links_of(items_[position + k]);
    if (!items_[position + k].is_large()) items.push_back(position + k);  // those later
  }
  ASSIGN_OR_RETURN(std::string answers, ask_others(items));
  ByteReader in(answers);
  for (size_t item : items) {
    Links& l = links[item - position];
    for (size_t* n : {&l.parts, &l.renaming, &l.common, &l.derivable}) *n = in.number<uint64_t>();
    auto parent = in.numbers<uint32_t>();
    l.rules = rewrites_.size();
    if (l.connected()) continue;
    bool fits = parent.size() == l.parent.size();
    for (size_t k = 0; fits && k < parent.size(); ++k) fits = parent[k] <= k;  // no circles
    if (!fits) return error("a part of minimising that is none");
    std::ranges::copy(parent, l.parent.begin());
  }
  return in.at_end() ? Status() : error("a part of minimising that is none");
}

/// The first loose applications of these groups, each with what it is compared with. When a group's
/// turn comes it may be connected by then.
Status Minimiser::judge_by_others(size_t position, const std::vector<size_t>& chosen,
                                  std::vector<Ahead>& ahead) const {
  std::vector<Task> tasks;
  for (size_t j : chosen) {
    const Item& item = items_[position + j];
    ByteWriter group;
    write(group, item, {item.applications[0], item.applications[ahead[j].application]});
    ByteWriter input;
    input.text(others_->part).text(others_->tuples).text(group.finish());
    tasks.push_back({"judge", input.finish()});
  }
  if (tasks.empty()) return {};
  ASSIGN_OR_RETURN(auto results, others_->helpers.run(tasks));
  for (size_t k = 0; k < chosen.size(); ++k) {
    ASSIGN_OR_RETURN(ahead[chosen[k]].verdict, verdict_of(results[k]));
  }
  return {};
}

std::string Minimiser::connected(const Item& item, const std::vector<uint32_t>& equal) const {
  Links links(item, equal);
  connect(item, 0, links, nullptr);
  std::vector<uint32_t> parent;
  if (!links.connected()) parent.assign(links.parent.begin(), links.parent.end());
  ByteWriter out;
  for (size_t n : {links.parts, links.renaming, links.common, links.derivable})
    out.number<uint64_t>(n);
  return out.numbers(parent).finish();
}

}  // namespace regraft::gen
