// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/refused_fields.h"

#include "engine/base/ascii.h"
#include "engine/remote/chat/chat_protocol.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace spanscope::remote {
namespace {

using Json = nlohmann::ordered_json;

constexpr long kBadRequest = 400;
constexpr long kUnprocessable = 422;

// OpenAI's reasoning models name the field to use. The other fields are not needed for an answer.
constexpr std::array<RefusedField, 5> kFields{
    {{.name = "max_tokens", .instead = "max_completion_tokens", .warning = nullptr},
     {.name = "stream_options", .instead = nullptr, .warning = nullptr},
     {.name = "return_progress", .instead = nullptr, .warning = nullptr},
     {.name = "temperature",
      .instead = nullptr,
      .warning = "The server refused the field temperature and chose its own temperature."},
     {.name = "seed",
      .instead = nullptr,
      .warning = "The server refused the field seed and chose its own seed."}}};

/// How servers write that a field, and not its value, is the fault.
constexpr std::array<std::string_view, 13> kRefusals{
    "unsupported", "not supported", "does not support", "not permitted", "not allowed",
    "forbidden",   "unknown",       "unrecognized",     "unrecognised",  "unexpected",
    "extra_",      "extra field",   "extra input"};

/// Whether a text has a name that is no part of a longer name.
bool hasName(std::string_view text, std::string_view name) {
  const auto isPart = [](char byte) { return byte == '_' || isDigit(byte) || isLetter(byte); };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !isPart(text[at - 1])) && (end == text.size() || !isPart(text[end]))) return true;
  }
  return false;
}

Json objectOf(std::string_view body) {
  Json json = Json::parse(body, nullptr, false);
  return json.is_object() ? json : Json();
}

}  // namespace

const RefusedField* refusedField(std::string_view body, long status, std::string_view refusal) {
  if (status != kBadRequest && status != kUnprocessable) return nullptr;
  const std::string said = inSmallLetters(refusal);
  const bool isAboutFields = std::ranges::any_of(
      kRefusals, [&said](std::string_view words) { return said.find(words) != std::string::npos; });
  if (!isAboutFields) return nullptr;
  const Json json = objectOf(body);
  for (const RefusedField& field : kFields) {
    if (!json.contains(field.name) || !hasName(said, field.name)) continue;
    // A value that is too large is another fault, which a new name would not correct.
    if (field.instead == nullptr || hasName(said, field.instead)) return &field;
  }
  return nullptr;
}

std::string withoutField(std::string body, const RefusedField& field) {
  Json json = objectOf(body);
  const auto found = json.find(field.name);
  if (found == json.end()) return body;
  if (field.instead != nullptr) json[field.instead] = Json(*found);
  json.erase(field.name);
  return bodyText(json);
}

}  // namespace spanscope::remote
