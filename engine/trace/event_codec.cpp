// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event_codec.h"

#include "engine/base/hash.h"
#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/memory_bytes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
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

/// The schema of the first sizeof...(I) payloads.
template <std::size_t... I>
void describePayloads(std::string& out, std::size_t count, std::index_sequence<I...>) {
  (..., (I < count ? (out.append(kNames[I]), describeType<std::variant_alternative_t<I, Payload>>(out),
                      (void)out.append("\n"))
                   : void()));
}

/// Older files have replay states between the events. The schema of these files therefore includes the fields
/// of a state.
constexpr const char* kKeyframeFields =
    "keyframe{all:bool;progress:{program:text;model:text;backend:text;threads:i32;layers:i32;"
    "heads:i32;sequence:u64;time:i64;lost:u64;whole:bool;gap:bool;passes:i64;rows:i64;passTime:i64;"
    "stored:u64;evicted:u64;copied:u64;preemptions:i64;recomputedTokens:i64;warnings:u64;errors:u64;"
    "runs:map(u32,{queryJson:text;policy:text;seed:u64;retrieved:map(text,{question:text;"
    "ranking:enum(lexical,embedding,hybrid,);documents:u64;fragments:list({hash:text;source:text;"
    "place:text;level:u32;text:text;rank:u32;score:f64;lexicalRank:u32;lexicalScore:f64;"
    "embeddingRank:u32;embeddingScore:f64;pinned:bool;dropped:bool;inPrompt:bool;});});plan:{"
    "steps:list({step:u32;node:text;copy:u32;ply:u32;needs:list(u32);});explain:text;};requests:list("
    "u32);attentionLeftOut:optional({leftOut:u64;recorded:u64;limit:u64;});outcome:optional(enum("
    "finished,stopped,failed,));answer:text;startedAt:i64;finishedAt:i64;});requests:map(u32,{"
    "run:u32;node:text;step:u32;copy:u32;phase:enum(started,waiting,running,finished,);"
    "outcome:optional(enum(end_token,token_limit,context_limit,stopped,failed,));waitReason:text;"
    "waitFor:u32;segments:list({node:text;independent:bool;hidden:bool;scope:u32;depth:u32;base:i64;"
    "visibleBegin:i32;sees:list(u32);tokens:list(i32);texts:list(text);runs:list({count:i32;"
    "source:enum(template,text,output,);node:text;});});blocks:map({segment:u32;virtualIndex:i32;},{"
    "block:i32;allocated:bool;outcome:enum(hit,relocated,partial,miss,);reason:enum(none,never_seen,"
    "tokens_differ,context_differs,evicted,after_miss,last_token,cache_off,);lookup:u64;});"
    "promptTokens:i64;cachedTokens:i64;relocatedTokens:i64;computedTokens:i64;generatedTokens:i64;"
    "preemptions:i64;recomputedTokens:i64;text:text;metrics:optional({step:u32;promptTokens:i64;"
    "cachedTokens:i64;relocatedTokens:i64;computedTokens:i64;generatedTokens:i64;"
    "timeToFirstToken:f64;interTokenLatency:f64;queueTime:f64;preemptions:i64;recomputedTokens:i64;"
    "});startedAt:i64;admittedAt:i64;firstTokenAt:i64;lastTokenAt:i64;finishedAt:i64;complete:bool;"
    "});};sameRuns:list(u32);sameTables:list(u32);pool:{blockSize:i32;blocks:list({references:i32;"
    "cached:bool;key:{high:u64;low:u64;};parent:{high:u64;low:u64;};fill:i32;base:i64;"
    "virtualIndex:i32;storedByRun:u32;storedByRequest:u32;storedByNode:text;tokens:list(i32);});"
    "freeOrder:list(i32);};}";
/// Fields that only the later of these files have.
constexpr const char* kKeyframeReportFields =
    "{reported:map(u32,{step:u32;server:text;model:text;promptTokens:optional(i64);cached:enum(found,"
    "measured_zero,not_reported,cannot_be_reported,);cachedTokens:i64;generatedTokens:optional(i64);"
    "timeToFirstToken:optional(f64);seconds:f64;finish:text;brokenBy:text;});windows:list(i32);}";

std::string schemaTextOf(std::size_t payloads, bool withReports) {
  std::string out;
  describePayloads(out, payloads, std::make_index_sequence<kPayloadCount>());
  out += kKeyframeFields;
  if (withReports) out += kKeyframeReportFields;
  out += "\n";
  return out;
}

/// Number of payloads in the oldest readable files. Every later payload was added at the end of the variant,
/// so the numbers of older payloads did not change.
constexpr std::size_t kOldestPayloadCount = 26;
/// Number of payloads when keyframes got reports.
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
    if (timeStep > timeLeft)
      reader.fail(/*id:time-more-bits*/ "a time of more than 63 bits", "nanoseconds in 63 bits");
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

std::string schemaText() {
  return schemaTextOf(kPayloadCount, true);
}

std::uint64_t schemaFingerprint() {
  static const std::uint64_t kFingerprint = checksum64(schemaText());
  return kFingerprint;
}

bool isReadableSchema(std::uint64_t fingerprint) {
  static const auto kReadable = [] {
    std::set<std::uint64_t> readable;
    for (std::size_t count = kOldestPayloadCount; count <= kPayloadCount; ++count) {
      readable.insert(checksum64(schemaTextOf(count, false)));
      if (count >= kPayloadCountWithReports) readable.insert(checksum64(schemaTextOf(count, true)));
    }
    return readable;
  }();
  return kReadable.contains(fingerprint);
}

namespace {

using Json = nlohmann::ordered_json;

std::string hex(const BlockKey& key) {
  std::string out;
  for (const std::uint64_t half : {key.high, key.low}) appendHex(out, half, 16);
  return out;
}

/// Returns hexadecimal digits, because the bytes of a value are not text.
std::string hex(const PackedValue& value) {
  std::string out;
  out.reserve(2 * value.bytes->size());
  for (const char byte : *value.bytes) appendHex(out, static_cast<unsigned char>(byte), 2);
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
  return compactJson(toJson(event));
}

}  // namespace spanscope::trace
