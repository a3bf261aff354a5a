// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event_codec.h"

#include "engine/base/hash.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/memory_bytes.h"
#include "engine/trace/replay_fields.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::trace {

namespace {

constexpr std::size_t kPayloadCount = std::variant_size_v<Payload>;
static_assert(kPayloadCount <= 256, "the payload's index is written as one byte");

using PayloadReader = void (*)(ByteReader&, Payload&);

template <std::size_t... I>
constexpr std::array<PayloadReader, kPayloadCount> makeReaders(std::index_sequence<I...>) {
  return {[](ByteReader& reader, Payload& payload) { readValue(reader, payload.emplace<I>()); }...};
}

template <std::size_t... I>
constexpr std::array<const char*, kPayloadCount> makeNames(std::index_sequence<I...>) {
  return {Facts<std::variant_alternative_t<I, Payload>>::kName...};
}

constexpr auto kReaders = makeReaders(std::make_index_sequence<kPayloadCount>());
constexpr auto kNames = makeNames(std::make_index_sequence<kPayloadCount>());

template <class T>
void describeType(std::string& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out += "bool";
  } else if constexpr (std::is_enum_v<T>) {
    out += "enum(";
    for (const std::string_view name : EnumNames<T>::kNames) out.append(name).append(",");
    out += ")";
  } else if constexpr (std::is_floating_point_v<T>) {
    out += "f" + std::to_string(8 * sizeof(T));
  } else if constexpr (std::is_integral_v<T>) {
    out += (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
  } else if constexpr (std::is_same_v<T, std::string>) {
    out += "text";
  } else if constexpr (IsVector<T>::value || IsOptional<T>::value) {
    out += IsVector<T>::value ? "list(" : "optional(";
    describeType<typename T::value_type>(out);
    out += ")";
  } else if constexpr (IsShared<T>::value) {
    describeType<typename IsShared<T>::Value>(out);
  } else if constexpr (IsMap<T>::value) {
    out += "map(";
    describeType<typename T::key_type>(out);
    out += ",";
    describeType<typename T::mapped_type>(out);
    out += ")";
  } else {
    out += "{";
    const T value{};
    fields(
        [&out]<class M>(const char* name, const M&) {
          out.append(name).append(":");
          describeType<M>(out);
          out += ";";
        },
        value);
    out += "}";
  }
}

/// The first so many of them.
template <std::size_t... I>
void describePayloads(std::string& out, std::size_t count, std::index_sequence<I...>) {
  (..., (I < count ? (out.append(kNames[I]), describeType<std::variant_alternative_t<I, Payload>>(out),
                      (void)out.append("\n"))
                   : void()));
}

std::string schemaTextOf(std::size_t payloads, KeyframeForm form) {
  std::string out;
  describePayloads(out, payloads, std::make_index_sequence<kPayloadCount>());
  out += "keyframe";
  describeType<Keyframe>(out);
  if (form == KeyframeForm::WithReports) describeType<KeyframeReports>(out);
  out += "\n";
  return out;
}

/// How many payloads the oldest files had that can be read: every later one was put at the end of the
/// variant, which leaves the numbers of the others as they are.
constexpr std::size_t kOldestPayloadCount = 26;
/// And how many they had when keyframes got reports.
constexpr std::size_t kPayloadCountWithReports = 49;

}  // namespace

const char* eventName(const Payload& payload) {
  return payload.valueless_by_exception() ? "?" : kNames[payload.index()];
}

std::vector<std::string> eventNames() {
  return {kNames.begin(), kNames.end()};
}

std::uint64_t memoryBytes(const Event& event) {
  return sizeof(Event) + heapBytes(event.node) +
         std::visit([](const auto& payload) { return heapBytes(payload); }, event.payload);
}

void encodeEvent(ByteWriter& writer, EventCursor& cursor, const Event& event) {
  writer.byte(static_cast<std::uint8_t>(event.payload.index()));
  writer.number(event.sequence - cursor.sequence);
  writer.number(static_cast<std::uint64_t>(event.time) - static_cast<std::uint64_t>(cursor.time));
  writer.number(event.session);
  writer.number(event.run);
  writer.number(event.request);
  writer.text(event.node);
  std::visit([&writer](const auto& payload) { writeValue(writer, payload); }, event.payload);
  cursor = {event.sequence, event.time};
}

void decodeEvent(ByteReader& reader, EventCursor& cursor, Event& event) {
  reader.setField("event");
  const std::uint8_t index = reader.byte();
  if (index >= kPayloadCount) {
    reader.fail("kind " + std::to_string(index), "a kind below " + std::to_string(kPayloadCount));
  }
  try {
    reader.setField("sequence");
    const std::uint64_t sequenceStep = reader.number();
    if (sequenceStep > std::numeric_limits<std::uint64_t>::max() - cursor.sequence) {
      reader.fail("a sequence number of more than 64 bits", "a number of 64 bits");
    }
    reader.setField("time");
    const std::uint64_t timeStep = reader.number();
    const auto timeLeft = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) -
                          static_cast<std::uint64_t>(cursor.time);
    if (timeStep > timeLeft) reader.fail("a time of more than 63 bits", "nanoseconds in 63 bits");
    event.sequence = cursor.sequence + sequenceStep;
    event.time = cursor.time + static_cast<std::int64_t>(timeStep);
    reader.setField("session");
    readValue(reader, event.session);
    reader.setField("run");
    readValue(reader, event.run);
    reader.setField("request");
    readValue(reader, event.request);
    reader.setField("node");
    readValue(reader, event.node);
    kReaders[index](reader, event.payload);
  } catch (const Failure& failure) {
    Error error = failure.error();
    error.place = std::string(kNames[index]) + (error.place.empty() ? "" : "." + error.place);
    throw Failure(std::move(error));
  }
  cursor = {event.sequence, event.time};
}

void encodeKeyframe(ByteWriter& writer, const Keyframe& keyframe) {
  KeyframeReports reports;
  for (const auto& [id, request] : keyframe.progress.requests) {
    if (request.reported) reports.reported.emplace(id, *request.reported);
  }
  reports.windows = keyframe.progress.windows;
  writeValue(writer, keyframe.all);
  writeValue(writer, keyframe.progress);
  writeValue(writer, keyframe.sameRuns);
  writeValue(writer, keyframe.sameTables);
  writeValue(writer, reports);
  writeValue(writer, keyframe.pool);
}

Keyframe decodeKeyframe(ByteReader& reader, KeyframeForm form, bool withPool) {
  Keyframe keyframe;
  readValue(reader, keyframe.all);
  readValue(reader, keyframe.progress);
  readValue(reader, keyframe.sameRuns);
  readValue(reader, keyframe.sameTables);
  if (form == KeyframeForm::WithReports) {
    KeyframeReports reports;
    readValue(reader, reports);
    keyframe.progress.windows = std::move(reports.windows);
    for (auto& [id, reported] : reports.reported) {
      const std::string place = "request " + std::to_string(id);
      if (!keyframe.progress.requests.contains(id))
        throw Failure(errorAt(place, "a report of it", "one of a request that the state holds"));
      if (std::optional<Error> fault = Facts<ServerReported>::fault(reported)) {
        fault->place = place + ", " + fault->place;
        throw Failure(std::move(*fault));
      }
      keyframe.progress.requests.edit(id).reported = std::move(reported);
    }
  }
  if (withPool) readValue(reader, keyframe.pool);
  return keyframe;
}

std::string schemaText() {
  return schemaTextOf(kPayloadCount, KeyframeForm::WithReports);
}

std::uint64_t schemaFingerprint(KeyframeForm form) {
  static const std::uint64_t kWithReports = checksum64(schemaText());
  static const std::uint64_t kBare = checksum64(schemaTextOf(kPayloadCount, KeyframeForm::Bare));
  return form == KeyframeForm::WithReports ? kWithReports : kBare;
}

std::optional<KeyframeForm> readableSchema(std::uint64_t fingerprint) {
  static const auto kReadable = [] {
    std::map<std::uint64_t, KeyframeForm> readable;
    for (std::size_t count = kOldestPayloadCount; count <= kPayloadCount; ++count) {
      readable[checksum64(schemaTextOf(count, KeyframeForm::Bare))] = KeyframeForm::Bare;
      if (count >= kPayloadCountWithReports)
        readable[checksum64(schemaTextOf(count, KeyframeForm::WithReports))] = KeyframeForm::WithReports;
    }
    return readable;
  }();
  const auto found = kReadable.find(fingerprint);
  return found == kReadable.end() ? std::nullopt : std::optional(found->second);
}

namespace {

using Json = nlohmann::ordered_json;

std::string hex(const BlockKey& key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    out[15 - i] = kDigits[(key.high >> (4 * i)) & 15];
    out[31 - i] = kDigits[(key.low >> (4 * i)) & 15];
  }
  return out;
}

/// The bytes of a value are no text.
std::string hex(const PackedValue& value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * value.bytes->size());
  for (const char byte : *value.bytes) {
    const auto bits = static_cast<unsigned char>(byte);
    out += kDigits[bits >> 4U];
    out += kDigits[bits & 15U];
  }
  return out;
}

template <class T>
Json jsonOf(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(enumName(value));
  } else if constexpr (std::is_same_v<T, BlockKey> || std::is_same_v<T, PackedValue>) {
    return hex(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (IsVector<T>::value) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(jsonOf(element));
    return list;
  } else if constexpr (IsOptional<T>::value) {
    return value ? jsonOf(*value) : Json(nullptr);
  } else if constexpr (IsShared<T>::value) {
    return jsonOf(*value);
  } else {
    Json object = Json::object();
    fields([&object](const char* name, const auto& member) { object[name] = jsonOf(member); }, value);
    return object;
  }
}

}  // namespace

Json toJson(const PoolState& pool) {
  return jsonOf(pool);
}

Json toJson(const Event& event) {
  Json object;
  object["sequence"] = event.sequence;
  object["time"] = event.time;
  object["session"] = event.session;
  object["run"] = event.run;
  object["request"] = event.request;
  object["node"] = event.node;
  object["event"] = eventName(event.payload);
  object["data"] = std::visit([](const auto& payload) { return jsonOf(payload); }, event.payload);
  return object;
}

std::string jsonLine(const Event& event) {
  return toJson(event).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spanscope::trace
