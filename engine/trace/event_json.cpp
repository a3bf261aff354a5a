// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event_json.h"

#include "engine/trace/binary_codec.h"
#include "engine/trace/event_fields.h"

#include <nlohmann/json.hpp>

#include <array>
#include <type_traits>
#include <variant>

namespace spanscope::trace {

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
