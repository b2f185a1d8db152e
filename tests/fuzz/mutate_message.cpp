#include "tests/fuzz/mutate_message.h"

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace regraft::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMostPlaces = 5000;
constexpr size_t kMostText = 256;

/// A field of a message somewhere within the whole.
struct Place {
  Message* message;
  const FieldDescriptor* field;
};

void collect(Message& m, std::vector<Place>& places) {
  const Reflection& r = *m.GetReflection();
  for (int k = 0; k < m.GetDescriptor()->field_count() && places.size() < kMostPlaces; ++k) {
    const FieldDescriptor* f = m.GetDescriptor()->field(k);
    places.push_back({&m, f});
    if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (f->is_repeated()) {
      for (int i = 0; i < r.FieldSize(m, f); ++i)
        collect(*r.MutableRepeatedMessage(&m, f, i), places);
    } else if (r.HasField(m, f)) {
      collect(*r.MutableMessage(&m, f), places);
    }
  }
}

class Mutation {
 public:
  Mutation(std::span<const std::string> words, uint64_t seed) : words_(words), rng_(seed) {}

  void change(Message& whole) {
    std::vector<Place> places;
    collect(whole, places);
    // Most fields of a message are not set: those that are get half of the attention.
    std::vector<Place> set;
    for (const Place& p : places)
      if (filled(p)) set.push_back(p);
    bool to_set = !set.empty() && rng_.below(4) > 0;
    const auto& from = to_set ? set : places;
    if (from.empty()) return;
    Place p = from[rng_.below(from.size())];
    if (p.field->is_repeated())
      change_list(p, places);
    else
      change_one(p, places);
  }

 private:
  static bool filled(const Place& p) {
    const Reflection& r = *p.message->GetReflection();
    return p.field->is_repeated() ? r.FieldSize(*p.message, p.field) > 0
                                  : r.HasField(*p.message, p.field);
  }

  int64_t number() {
    constexpr std::array<int64_t, 20> kNumbers = {0,
                                                  1,
                                                  2,
                                                  3,
                                                  4,
                                                  7,
                                                  8,
                                                  16,
                                                  -1,
                                                  -2,
                                                  127,
                                                  128,
                                                  1024,
                                                  2147483647,
                                                  1LL << 31,
                                                  1LL << 32,
                                                  1LL << 46,
                                                  1LL << 62,
                                                  std::numeric_limits<int64_t>::max(),
                                                  std::numeric_limits<int64_t>::min()};
    return kNumbers[rng_.below(kNumbers.size())];
  }
  int64_t near(int64_t old) {
    auto word = static_cast<uint64_t>(old);
    switch (rng_.below(4)) {
      case 0:
        return static_cast<int64_t>(word + 1);
      case 1:
        return static_cast<int64_t>(word - 1);
      case 2:
        return static_cast<int64_t>(word ^ (uint64_t{1} << rng_.below(64)));
      default:
        return number();
    }
  }
  double real(double old) {
    constexpr std::array<double, 10> kReals = {0,     1,      -1,  1e-38, 1e38,
                                               1e300, 5e-324, 0.5, -0.0,  1e-5};
    switch (rng_.below(5)) {
      case 0:
        return old * 2;
      case 1:
        return -old;
      case 2:
        return std::numeric_limits<double>::quiet_NaN();
      case 3:
        return std::numeric_limits<double>::infinity();
      default:
        return kReals[rng_.below(kReals.size())];
    }
  }
  std::string text(std::string old, const std::vector<Place>& places) {
    switch (rng_.below(4)) {
      case 0:
        return words_.empty() ? old : words_[rng_.below(words_.size())];
      case 1: {
        size_t size = old.size();
        old.resize(size + kMostText);
        old.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(old.data()), size, old.size()));
        return old;
      }
      default:
        return text_elsewhere(places).value_or(std::move(old));
    }
  }
  /// One that stands somewhere in the whole: names that meet are what graphs are made of.
  std::optional<std::string> text_elsewhere(const std::vector<Place>& places) {
    for (int tries = 0; tries < 50; ++tries) {
      const Place& p = places[rng_.below(places.size())];
      if (p.field->cpp_type() != FieldDescriptor::CPPTYPE_STRING || !filled(p)) continue;
      const Reflection& r = *p.message->GetReflection();
      if (!p.field->is_repeated()) return r.GetString(*p.message, p.field);
      auto n = static_cast<uint64_t>(r.FieldSize(*p.message, p.field));
      return r.GetRepeatedString(*p.message, p.field, static_cast<int>(rng_.below(n)));
    }
    return std::nullopt;
  }
  /// A message of this type that stands somewhere, or an empty one.
  std::unique_ptr<Message> message_elsewhere(const Message& like,
                                             const std::vector<Place>& places) {
    std::unique_ptr<Message> made(like.New());
    for (int tries = 0; tries < 50; ++tries) {
      const Place& p = places[rng_.below(places.size())];
      if (p.message->GetDescriptor() != like.GetDescriptor()) continue;
      made->CopyFrom(*p.message);
      break;
    }
    return made;
  }

  void change_one(const Place& p, const std::vector<Place>& places) {
    Message* m = p.message;
    const Reflection& r = *m->GetReflection();
    if (rng_.below(8) == 0) return r.ClearField(m, p.field);
    switch (p.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.SetInt32(m, p.field, static_cast<int32_t>(near(r.GetInt32(*m, p.field))));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.SetInt64(m, p.field, near(r.GetInt64(*m, p.field)));
      case FieldDescriptor::CPPTYPE_UINT32:
        return r.SetUInt32(m, p.field, static_cast<uint32_t>(near(r.GetUInt32(*m, p.field))));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r.SetUInt64(
            m, p.field,
            static_cast<uint64_t>(near(static_cast<int64_t>(r.GetUInt64(*m, p.field)))));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r.SetDouble(m, p.field, real(r.GetDouble(*m, p.field)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.SetFloat(m, p.field, static_cast<float>(real(r.GetFloat(*m, p.field))));
      case FieldDescriptor::CPPTYPE_BOOL:
        return r.SetBool(m, p.field, !r.GetBool(*m, p.field));
      case FieldDescriptor::CPPTYPE_ENUM:
        return r.SetEnumValue(m, p.field, enum_value(*p.field));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.SetString(m, p.field, text(r.GetString(*m, p.field), places));
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        auto other = message_elsewhere(r.GetMessage(*m, p.field), places);
        return r.MutableMessage(m, p.field)->CopyFrom(*other);
      }
    }
  }
  /// Mostly one of the enumeration's own.
  int enum_value(const FieldDescriptor& f) {
    auto n = static_cast<uint64_t>(f.enum_type()->value_count());
    if (rng_.below(8) == 0) return static_cast<int>(rng_.below(40));
    return f.enum_type()->value(static_cast<int>(rng_.below(n)))->number();
  }

  void change_list(const Place& p, const std::vector<Place>& places) {
    Message* m = p.message;
    const Reflection& r = *m->GetReflection();
    int n = r.FieldSize(*m, p.field);
    switch (n == 0 ? 0 : rng_.below(5)) {
      case 0:
        return add(p, places);
      case 1:
        r.SwapElements(m, p.field, index(n), n - 1);
        return r.RemoveLast(m, p.field);
      case 2:
        return r.SwapElements(m, p.field, index(n), index(n));
      default:
        return set(p, index(n), places);
    }
  }
  int index(int n) { return static_cast<int>(rng_.below(static_cast<uint64_t>(n))); }

  void add(const Place& p, const std::vector<Place>& places) {
    Message* m = p.message;
    const Reflection& r = *m->GetReflection();
    switch (p.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.AddInt32(m, p.field, static_cast<int32_t>(number()));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.AddInt64(m, p.field, number());
      case FieldDescriptor::CPPTYPE_UINT32:
        return r.AddUInt32(m, p.field, static_cast<uint32_t>(number()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r.AddUInt64(m, p.field, static_cast<uint64_t>(number()));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r.AddDouble(m, p.field, real(1));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.AddFloat(m, p.field, static_cast<float>(real(1)));
      case FieldDescriptor::CPPTYPE_BOOL:
        return r.AddBool(m, p.field, rng_.below(2) == 1);
      case FieldDescriptor::CPPTYPE_ENUM:
        return r.AddEnumValue(m, p.field, enum_value(*p.field));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.AddString(m, p.field, text({}, places));
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        // Copied before it is added: the place may be in the list that grows.
        const Message& like = *r.GetMessageFactory()->GetPrototype(p.field->message_type());
        auto other = message_elsewhere(like, places);
        r.AddMessage(m, p.field)->CopyFrom(*other);
        return;
      }
    }
  }

  void set(const Place& p, int k, const std::vector<Place>& places) {
    Message* m = p.message;
    const Reflection& r = *m->GetReflection();
    switch (p.field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return r.SetRepeatedInt32(m, p.field, k,
                                  static_cast<int32_t>(near(r.GetRepeatedInt32(*m, p.field, k))));
      case FieldDescriptor::CPPTYPE_INT64:
        return r.SetRepeatedInt64(m, p.field, k, near(r.GetRepeatedInt64(*m, p.field, k)));
      case FieldDescriptor::CPPTYPE_STRING:
        return r.SetRepeatedString(m, p.field, k,
                                   text(r.GetRepeatedString(*m, p.field, k), places));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return r.SetRepeatedFloat(m, p.field, k,
                                  static_cast<float>(real(r.GetRepeatedFloat(*m, p.field, k))));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return r.SetRepeatedDouble(m, p.field, k, real(r.GetRepeatedDouble(*m, p.field, k)));
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        auto other = message_elsewhere(r.GetRepeatedMessage(*m, p.field, k), places);
        return r.MutableRepeatedMessage(m, p.field, k)->CopyFrom(*other);
      }
      default:
        return add(p, places);
    }
  }

  std::span<const std::string> words_;
  Rng rng_;
};

}  // namespace

void mutate(Message& message, std::span<const std::string> words, uint64_t seed) {
  Rng rng(seed);
  for (uint64_t n = 1 + rng.below(4); n > 0; --n) Mutation(words, rng.next()).change(message);
}

size_t mutate_bytes(Message& message, uint8_t* data, size_t size, size_t most,
                    std::span<const std::string> words, uint64_t seed) {
  constexpr uint64_t kRaw = 16;     // one in so many is mutated as bytes
  constexpr size_t kGrowth = 2048;  // small inputs stay so: they are tried faster
  most = std::min(most, std::max(size, kGrowth));
  message.Clear();
  bool parsed =
      Rng(seed).below(kRaw) > 0 && message.ParsePartialFromArray(data, static_cast<int>(size));
  if (!parsed) return LLVMFuzzerMutate(data, size, most);
  mutate(message, words, seed);
  if (message.ByteSizeLong() > most) return LLVMFuzzerMutate(data, size, most);
  std::string bytes = message.SerializePartialAsString();
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace regraft::fuzz
