// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/operators/vocabulary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace spanscope::query {
namespace {

struct OperatorName {
  std::string_view key;
  Operator op;
};

constexpr std::array kOperators = {
    OperatorName{"user", Operator::User},
    OperatorName{"system", Operator::System},
    OperatorName{"assistant", Operator::Assistant},
    OperatorName{"g", Operator::Generate},
    OperatorName{"seq", Operator::Seq},
    OperatorName{"par", Operator::Par},
    OperatorName{"cross", Operator::Cross},
    OperatorName{"plus", Operator::Plus},
    OperatorName{"monad", Operator::Monad},
    OperatorName{"zip", Operator::Zip},
    OperatorName{"print", Operator::Print},
    OperatorName{"repeat", Operator::Repeat},
    OperatorName{"map", Operator::Map},
    OperatorName{"augment", Operator::Augment},
    OperatorName{"ask", Operator::Ask},
    OperatorName{"file", Operator::File},
};

/// What other formats, the Lisp form and everyday speech call the same thing.
struct OtherName {
  std::string_view name;
  std::string_view key;
};
constexpr std::array kOtherNames = {
    OtherName{"generate", "g"},   OtherName{"gen", "g"},
    OtherName{"text", "user"},    OtherName{"human", "user"},
    OtherName{"prompt", "user"},  OtherName{"model", "g"},
    OtherName{"ai", "assistant"}, OtherName{"sequence", "seq"},
    OtherName{"parallel", "par"}, OtherName{"foreach", "map"},
    OtherName{"with", "augment"}, OtherName{"fetch", "file"},
    OtherName{"loop", "repeat"},  OtherName{"commutative", "plus"},
};

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return lowered(c); });
  return lower;
}

/// Number of characters to insert, drop or replace to turn one into the other; case and underscores count
/// nothing.
std::size_t editDistance(std::string_view a, std::string_view b) {
  const auto plain = [](std::string_view text) {
    std::string letters = lowered(text);
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

std::optional<Operator> findOperator(std::string_view key) {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [key](const OperatorName& name) { return name.key == key; });
  if (found == kOperators.end()) return std::nullopt;
  return found->op;
}

std::string operatorKeys() {
  std::string keys;
  for (const OperatorName& name : kOperators) {
    if (!keys.empty()) keys += ", ";
    keys += name.key;
  }
  return keys;
}

std::string hintForOperator(std::string_view key) {
  if (key == "role" || key == "content") return "a message is written {\"user\": \"text\"}";
  std::optional<std::string> meant;
  const std::string lower = lowered(key.substr(0, 32));
  for (const OtherName& other : kOtherNames) {
    if (other.name == lower) meant = std::string(other.key);
  }
  if (!meant) {
    std::vector<std::string> keys;
    for (const OperatorName& name : kOperators) keys.emplace_back(name.key);
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
    // Most of a short name must be right, or every word would be near to it.
    if (distance < least && 2 * distance < candidate.size()) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace spanscope::query
