// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/operators/vocabulary.h"

#include "engine/base/ascii.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace spanscope::query {
namespace {

/// Calls f(key) for the key of every operator.
template <class F>
void forEachName(F f) {
  forEachOperator([&]<class Operator>() {
    forEachKey<Operator>([&](std::string_view key, const auto& /*make*/) { f(key); });
  });
}

/// Returns the key of the operator that other formats, the Lisp form or everyday speech call `name`. Empty if
/// unknown.
std::string_view keyOfOtherName(std::string_view name) {
  std::string_view key;
  forEachOperator([&]<class Operator>() {
    for (const OtherName& other : Operator::kInfo.otherNames) {
      if (!other.name.empty() && other.name == name) key = other.key;
    }
  });
  return key;
}

/// Number of characters to insert, drop or replace to turn one name into the other. Case and underscores do
/// not count.
std::size_t editDistance(std::string_view a, std::string_view b) {
  const auto plain = [](std::string_view text) {
    std::string letters = inSmallLetters(text);
    letters.erase(std::remove_if(letters.begin(), letters.end(), [](char c) { return c == '_' || c == '-'; }),
                  letters.end());
    return letters;
  };
  const std::string from = plain(a);
  const std::string to = plain(b);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string operatorKeys() {
  std::string keys;
  forEachName([&](std::string_view name) {
    if (!keys.empty()) keys += ", ";
    keys += name;
  });
  return keys;
}

std::string hintForOperator(std::string_view key) {
  if (key == "role" || key == "content")
    return /*id:message-written-user*/ "A message is written {\"user\": \"text\"}";
  std::optional<std::string> meant;
  if (const std::string_view other = keyOfOtherName(inSmallLetters(key.substr(0, 32))); !other.empty()) {
    meant = std::string(other);
  } else {
    std::vector<std::string> keys;
    forEachName([&](std::string_view name) { keys.emplace_back(name); });
    meant = nearestName(key, keys);
  }
  return meant ? "did you mean \"" + *meant + "\"?" : std::string();
}

std::optional<std::string> nearestName(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestName = 64;
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t least = 3;
  for (const std::string& candidate : names) {
    const std::size_t distance = editDistance(name, candidate);
    // Most letters of a short name must match. Otherwise every word would be near to a short name.
    if (distance < least && 2 * distance < candidate.size()) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace spanscope::query
