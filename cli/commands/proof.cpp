// Prints the proof of a rule as a person would write it.
#include <fmt/format.h>

#include <algorithm>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "cli/derivations/kernel_report.h"
#include "cli/pages/page.h"
#include "cli/pages/rule_view.h"
#include "cli/pages/told_proof.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/rule_set.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

struct FoundRule {
  Rule rule;
  std::string file;
};

Result<FoundRule> find_rule(const std::string& name, const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(auto file, substitutions::read_rules(path, substitutions::Admit::Bounded));
    for (Rule& rule : file.rules) {
      if (rule.name == name) return FoundRule{std::move(rule), path};
      names.push_back(rule.name);
    }
  }
  return error("there is no proved rule " + name + suggestion(name, names));
}

std::string page_of(const Rule& rule, const ToldProof& proof) {
  Page p;
  p.title = "Proof of " + rule.name;
  p.body = "<p>" + verdict_badge(rule.verdict) + "</p>" + formula_box(rule) + draw_rule(rule, "g") +
           to_html(proof, false);
  return to_html(p);
}

}  // namespace

int run_rules_proof(const ProofFlags& flags) {
  auto files = rule_files(flags.rules);
  auto inputs = named("a rule file", files);
  inputs.push_back({"the derivations", flags.derivations});
  if (flags.derivations.empty())
    for (const std::string& file : files)
      inputs.push_back({"the derivations", derivations_beside(file)});
  if (auto s = require_distinct(inputs, {{"the page", flags.html}}); !s)
    return bad_input(s.error());
  auto found = find_rule(flags.name, files);
  if (!found) return bad_input(found.error());
  auto page = OutputFile::open(flags.html);
  if (!page) return bad_input(page.error());
  std::shared_ptr<const verify::DerivationBook> book;
  if (flags.derivations.empty()) {
    book = book_beside({&found->file, 1});
  } else {
    auto read = verify::read_derivations(flags.derivations);
    if (!read) return bad_input(read.error());
    book = std::make_shared<const verify::DerivationBook>(*std::move(read));
  }
  auto proof = tell_proof(found->rule, book.get(), flags.proof);
  if (!proof) return bad_input(proof.error());
  if (flags.html.empty()) fmt::print(results(), "{}", to_text(*proof));
  Status written = page->write(page_of(found->rule, *proof));
  if (written) written = page->commit();
  return written ? kDone : bad_input(written.error());
}

}  // namespace regraft::cli
