// The last level of an enumeration in parts that several processes make: shares of the classes give
// sorted runs of applications by partitions of their keys; partitions are merged each by itself.
#include <algorithm>

#include "base/files/bytes.h"
#include "gen/enumerate/enumerator.h"

namespace regraft::gen {
namespace {

constexpr size_t kPartitions = 32;  // of the keys, by their upper bits
constexpr size_t kShards = Sink::kShards / kPartitions;
constexpr size_t kMostShares = 128;
constexpr size_t kLeastClasses = 32;  // of a share

size_t partition_of(uint64_t key) { return (key >> 56) / kShards; }

/// A sorted run; the name of no object where it is empty.
Result<std::string> keep_run(std::vector<Found> found, const Objects& objects) {
  if (found.empty()) return std::string();
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<uint64_t> words;
  words.reserve(2 * found.size());
  for (const Found& f : found) {
    words.push_back(f.key);
    words.push_back(f.application.bits);
  }
  return objects.keep(ByteWriter().numbers(words).finish());
}

/// One name for each partition.
Result<std::vector<std::string>> keep_runs(Sink& sink, const Objects& objects) {
  std::vector<std::string> names(kPartitions);
  for (size_t p = 0; p < kPartitions; ++p) {
    std::vector<Found> all;
    for (size_t s = p * kShards; s < (p + 1) * kShards; ++s) {
      all.insert(all.end(), sink.shards[s].begin(), sink.shards[s].end());
      std::vector<Found>().swap(sink.shards[s]);
    }
    ASSIGN_OR_RETURN(names[p], keep_run(std::move(all), objects));
  }
  return names;
}

void write(ByteWriter& out, const FoundWide& f) {
  out.number(f.key).number(f.instance).number(f.output).number(f.a);
  for (ClassId c : f.rest) out.number(c);
}

FoundWide read_wide(ByteReader& in) {
  FoundWide f;
  f.key = in.number<uint64_t>();
  f.instance = in.number<int>();
  f.output = in.number<int>();
  f.a = in.number<ClassId>();
  for (ClassId& c : f.rest) c = in.number<ClassId>();
  return f;
}

const char* const kNone = "a part of an enumeration that is none";

}  // namespace

Result<std::string> Enumerator::share(size_t number, size_t of, const Objects& objects) {
  Sink sink;
  Worker worker(*graph_, store_, *index_, options_.max_size, options_.seed, sink);
  if (number == 0 && options_.max_size == 1) worker.nullary();
  for (size_t c = number; c < graph_->size(); c += of) worker.from(static_cast<ClassId>(c));
  ByteWriter out;
  out.number(sink.evaluations).number<uint64_t>(sink.wide.size());
  for (const FoundWide& f : sink.wide) write(out, f);
  ASSIGN_OR_RETURN(auto names, keep_runs(sink, objects));
  for (const std::string& name : names) out.text(name);
  return out.finish();
}

Result<std::string> Enumerator::merge(size_t partition, const std::vector<std::string>& runs,
                                      const Objects& objects) {
  std::vector<Found> all;
  for (ClassId c = 0; c < graph_->size(); ++c)
    if (partition_of(graph_->key(c)) == partition) all.push_back({graph_->key(c), Application{c}});
  for (const std::string& name : runs) {
    ASSIGN_OR_RETURN(std::string bytes, objects.fetch(name));
    ByteReader in(bytes);
    auto words = in.numbers<uint64_t>();
    if (!in.at_end() || words.size() % 2 != 0) return error(kNone);
    for (size_t k = 0; k < words.size(); k += 2) all.push_back({words[k], {words[k + 1]}});
  }
  Shard shard = to_shard(std::move(all));
  uint64_t collisions = 0, fresh = 0;
  std::vector<uint32_t> known, sizes;
  std::vector<uint64_t> applications;
  for (const Bucket& b : shard.buckets) {
    bool is_new = b.known == kNoClass;
    collisions += b.end - b.begin - (is_new ? 1 : 0);
    fresh += is_new;
    if (is_new && b.end - b.begin < 2) continue;
    known.push_back(b.known);
    sizes.push_back(static_cast<uint32_t>(b.end - b.begin));
    for (size_t k = b.begin; k < b.end; ++k) applications.push_back(shard.applications[k].bits);
  }
  return ByteWriter()
      .number<uint64_t>(shard.applications.size())
      .number(collisions)
      .number(fresh)
      .numbers(known)
      .numbers(sizes)
      .numbers(applications)
      .finish();
}

Status Enumerator::take_groups(std::string_view merged) {
  ByteReader in(merged);
  result_.counts.applications += in.number<uint64_t>();
  result_.counts.collisions += in.number<uint64_t>();
  result_.counts.classes += in.number<uint64_t>();
  auto known = in.numbers<uint32_t>(), sizes = in.numbers<uint32_t>();
  auto applications = in.numbers<uint64_t>();
  if (!in.at_end() || known.size() != sizes.size()) return error(kNone);
  size_t at = 0;
  for (size_t k = 0; k < known.size(); ++k) {
    if (sizes[k] > applications.size() - at) return error(kNone);
    Group group{known[k], {}};
    for (size_t end = at + sizes[k]; at < end; ++at)
      group.applications.push_back({applications[at]});
    graph_->groups.push_back(std::move(group));
  }
  return {};
}

/// Runs are by share, then by partition.
Status Enumerator::merge_by_others(std::vector<std::vector<std::string>> runs) {
  std::vector<Task> tasks;
  for (size_t p = 0; p < kPartitions; ++p) {
    ByteWriter input;
    input.text(options_.part).number<uint64_t>(p);
    std::vector<std::string> names;
    for (const auto& share : runs)
      if (!share[p].empty()) names.push_back(share[p]);
    input.number<uint64_t>(names.size());
    for (const std::string& name : names) input.text(name);
    tasks.push_back({"merge", input.finish()});
  }
  ASSIGN_OR_RETURN(auto merged, options_.helpers.run(tasks));
  for (const std::string& m : merged) RETURN_IF_ERROR(take_groups(m));
  std::sort(graph_->groups.begin(), graph_->groups.end(), [](const Group& a, const Group& b) {
    return a.applications.front() < b.applications.front();
  });
  return {};
}

Status Enumerator::run_last_by_others() {
  first_tuple_ = graph_->tuples_.size();
  size_t shares = std::clamp<size_t>(graph_->size() / kLeastClasses, 1, kMostShares);
  std::vector<Task> tasks;
  for (size_t k = 0; k < shares; ++k)
    tasks.push_back(
        {"enumerate",
         ByteWriter().text(options_.part).number<uint64_t>(k).number<uint64_t>(shares).finish()});
  ASSIGN_OR_RETURN(auto results, options_.helpers.run(tasks));
  std::vector<std::vector<std::string>> runs;
  std::vector<Sink> wide(1);
  for (const std::string& bytes : results) {
    ByteReader in(bytes);
    result_.counts.evaluations += in.number<uint64_t>();
    for (size_t n = in.count(sizeof(uint64_t)); n > 0; --n) wide[0].wide.push_back(read_wide(in));
    auto& names = runs.emplace_back(kPartitions);
    for (std::string& name : names) name = in.text();
    if (!in.at_end()) return error(kNone);
  }
  place_wide(wide);
  ASSIGN_OR_RETURN(auto own, keep_runs(wide[0], options_.helpers.objects));
  runs.push_back(std::move(own));
  ByteWriter tuples;
  for (size_t k = first_tuple_; k < graph_->tuples_.size(); ++k)
    for (ClassId c : graph_->tuples_[k]) tuples.number(c);
  result_.last_tuples = tuples.finish();
  return merge_by_others(std::move(runs));
}

Status Enumerator::set_last_tuples(std::string_view bytes) {
  while (graph_->tuples_.size() > first_tuple_) {
    graph_->tuple_ids_.erase(graph_->tuples_.back());
    graph_->tuples_.pop_back();
  }
  ByteReader in(bytes);
  while (in.fits() && !in.at_end()) {
    std::array<ClassId, kMaxArity - 1> rest{};
    for (ClassId& c : rest) c = in.number<ClassId>();
    if (!in.fits()) return error(kNone);
    graph_->tuple_ids_[rest] = static_cast<ClassId>(graph_->tuples_.size());
    graph_->tuples_.push_back(rest);
  }
  return {};
}

}  // namespace regraft::gen
