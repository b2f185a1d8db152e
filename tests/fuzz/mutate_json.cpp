#include "tests/fuzz/mutate_json.h"

#include <nlohmann/json.hpp>

#include "base/nesting.h"
#include "base/rng.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace regraft::fuzz {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostPlaces = 5000;
constexpr size_t kMostText = 256;

void collect(Json& j, std::vector<Json*>& places) {
  if (places.size() >= kMostPlaces) return;
  places.push_back(&j);
  if (!j.is_structured()) return;
  for (Json& part : j) collect(part, places);
}

class Mutation {
 public:
  Mutation(std::span<const std::string> words, uint64_t seed) : words_(words), rng_(seed) {}

  void change(Json& whole) {
    std::vector<Json*> places;
    collect(whole, places);
    Json& at = *places[rng_.below(places.size())];
    if (rng_.below(10) == 0) {
      at = Json(*places[rng_.below(places.size())]);  // a copy: one may hold the other
    } else if (at.is_structured() && !at.empty() && rng_.below(2) == 0) {
      change_list(at);
    } else if (at.is_string()) {
      at = text(at.get<std::string>());
    } else {
      at = scalar(at);
    }
  }

 private:
  void change_list(Json& list) {
    auto at = list.begin();
    std::advance(at, static_cast<int64_t>(rng_.below(list.size())));
    Json part = *at;
    if (rng_.below(2) == 0) {
      list.erase(at);
    } else if (list.is_array()) {
      list.push_back(std::move(part));
    } else {
      list[words_.empty() ? "x" : words_[rng_.below(words_.size())]] = std::move(part);
    }
  }
  std::string text(std::string old) {
    if (rng_.below(3) == 0 && !words_.empty()) return words_[rng_.below(words_.size())];
    size_t size = old.size();
    old.resize(size + kMostText);
    old.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(old.data()), size, old.size()));
    return old;
  }
  Json scalar(const Json& old) {
    const Json made[] = {
        0,    1,    -1,      2147483648, 9223372036854775807, 18446744073709551615u, 1e300, -1e18,
        1e-9, true, nullptr, "",         Json::array(),       Json::object()};
    bool whole = old.is_number_integer() && rng_.below(3) > 0;
    if (!whole) return made[rng_.below(std::size(made))];
    auto n = static_cast<uint64_t>(old.get<int64_t>());
    return static_cast<int64_t>(n + rng_.below(5) - 2);
  }

  std::span<const std::string> words_;
  Rng rng_;
};

}  // namespace

size_t mutate_json(uint8_t* data, size_t size, size_t most, std::span<const std::string> words,
                   uint64_t seed) {
  constexpr uint64_t kRaw = 8;      // one in so many is mutated as bytes
  constexpr size_t kGrowth = 2048;  // small inputs stay so: they are tried faster
  most = std::min(most, std::max(size, kGrowth));
  Rng rng(seed);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  bool raw = rng.below(kRaw) == 0 || nested_too_deep(text);
  Json j = raw ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
  if (j.is_discarded()) return LLVMFuzzerMutate(data, size, most);
  for (uint64_t n = 1 + rng.below(4); n > 0; --n) Mutation(words, rng.next()).change(j);
  std::string bytes = j.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (bytes.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace regraft::fuzz
