// SPDX-License-Identifier: GPL-3.0-or-later
// Finds secrets by their beginnings and by the names before them.
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace spanscope::doctor {
namespace {

/// Beginnings of keys, and how many characters must follow.
struct KeyForm {
  std::string_view beginning;
  std::size_t least;
};
constexpr std::array kKeyForms{
    KeyForm{"sk-", 8},   KeyForm{"sk_", 8},   KeyForm{"pk_live_", 8},     KeyForm{"ghp_", 16},
    KeyForm{"gho_", 16}, KeyForm{"ghs_", 16}, KeyForm{"github_pat_", 16}, KeyForm{"glpat-", 8},
    KeyForm{"hf_", 16},  KeyForm{"xoxb-", 8}, KeyForm{"xoxp-", 8},        KeyForm{"xapp-", 8},
    KeyForm{"AKIA", 12}, KeyForm{"AIza", 20}, KeyForm{"gsk_", 16},        KeyForm{"eyJ", 20}};
/// Names of secrets in lower case, with "-" for "_".
constexpr std::array<std::string_view, 15> kNames{
    "authorization", "api-key",    "apikey",        "x-api-key",   "cookie",
    "set-cookie",    "password",   "passwd",        "secret",      "client-secret",
    "access-token",  "auth-token", "refresh-token", "private-key", "token"};

bool isKeyCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '+' ||
         c == '/' || c == '=' || c == '~';
}
bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

std::size_t endOfKey(std::string_view text, std::size_t at) {
  while (at < text.size() && isKeyCharacter(text[at])) ++at;
  return at;
}

bool isOneOf(std::string_view name) {
  constexpr std::size_t kLongest = 32;
  if (name.size() > kLongest) return false;
  std::string small;
  for (const char c : name)
    small += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::any_of(kNames, [&](std::string_view one) {
    return small == one || small.ends_with(std::string("-") + std::string(one));
  });
}

/// Returns the end of the value after a name of a secret, and sets `begin` to its first character.
std::size_t valueAfter(std::string_view text, std::size_t at, bool isHeader, std::size_t& begin) {
  while (at < text.size() && (text[at] == '"' || text[at] == '\'' || text[at] == '\\' || text[at] == ' '))
    ++at;
  if (at == text.size() || (text[at] != ':' && text[at] != '=')) return at;
  ++at;
  const std::size_t sign = at;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\\')) ++at;
  char quote = '\0';
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) quote = text[at++];
  begin = at;
  if (quote != '\0') {
    while (at < text.size() && text[at] != quote && text[at] != '\n') ++at;
  } else {
    // A header goes on to the end of its line, another value to the next space.
    const std::string_view ends = isHeader ? "\n\r\"'" : "\n\r\"'&, ";
    while (at < text.size() && ends.find(text[at]) == std::string_view::npos) ++at;
    for (const std::string_view scheme : {"Bearer", "Basic", "bearer", "basic"}) {
      if (text.substr(begin, at - begin) != scheme) continue;
      if (at < text.size()) ++at;
      at = endOfKey(text, at);
    }
  }
  // An ordinary sentence may have such a name and a short word.
  constexpr std::size_t kLeast = 4;
  return at - begin < kLeast ? sign : at;
}

}  // namespace

std::vector<SecretRange> secretsIn(std::string_view text) {
  std::vector<SecretRange> found;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!isNameCharacter(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && isNameCharacter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    std::size_t next = end;
    const auto add = [&](std::size_t begin, std::size_t last) {
      if (last > begin) {
        found.push_back({begin, last});
        next = std::max(next, last);
      }
    };
    const auto form =
        std::ranges::find_if(kKeyForms, [&](const KeyForm& one) { return word.starts_with(one.beginning); });
    const std::size_t keyEnd = endOfKey(text, at);
    if (form != kKeyForms.end() && keyEnd - at >= form->beginning.size() + form->least &&
        (form->beginning != "eyJ" || std::ranges::count(text.substr(at, keyEnd - at), '.') >= 2)) {
      add(at, keyEnd);
    } else if (word == "Bearer" || word == "bearer" || word == "Basic") {
      if (end + 1 < text.size() && text[end] == ' ') {
        constexpr std::size_t kLeast = 8;
        const std::size_t last = endOfKey(text, end + 1);
        if (last - end > kLeast) add(end + 1, last);
      }
    } else if (isOneOf(word)) {
      std::size_t begin = end;
      const bool isHeader = word.size() > 5 && (word.ends_with("ookie") || word.ends_with("uthorization"));
      const std::size_t last = valueAfter(text, end, isHeader, begin);
      if (begin > end && last > begin) add(begin, last);
    }
    at = std::max(next, at + 1);
  }
  return found;
}

std::string redacted(std::string_view text, std::size_t begin, std::size_t end) {
  end = std::min(end, text.size());
  begin = std::min(begin, end);
  std::string shown;
  std::size_t at = begin;
  for (const SecretRange& secret : secretsIn(text)) {
    if (secret.end <= begin || secret.begin >= end) continue;
    if (secret.begin > at) shown += text.substr(at, secret.begin - at);
    shown += kRedacted;
    at = std::max(at, secret.end);
  }
  if (at < end) shown += text.substr(at, end - at);
  return shown;
}

}  // namespace spanscope::doctor
