// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/first_words.h"

#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace spanscope::cache {
namespace {

constexpr std::size_t kMostBytes = 400;
constexpr std::string_view kBetween = " · ";

/// By the name of what stands before them.
using Followers = std::unordered_map<ContentName, const WordedBlock*, ContentNameHasher>;

/// The end of the chain that begins with a block: of a long one, its last two blocks.
std::string endOf(const WordedBlock& first, const Followers& next) {
  std::string text(first.text);
  const WordedBlock* last = &first;
  for (std::size_t steps = 0; steps < next.size(); ++steps) {
    const auto on = next.find(last->facts->name);
    if (on == next.end()) break;
    text = last == &first ? std::string() : std::string(last->text) + " ";
    text += on->second->text;
    last = on->second;
  }
  return text;
}

}  // namespace

std::string firstWords(std::span<const WordedBlock> blocks) {
  std::unordered_set<ContentName, ContentNameHasher> names;
  Followers next;
  for (const WordedBlock& block : blocks) {
    names.insert(block.facts->name);
    next.emplace(block.facts->parent, &block);
  }
  std::string joined;
  std::unordered_set<std::string> known;
  // False when there is no room for more.
  const auto add = [&joined, &known](std::string text) {
    if (text.empty() || !known.insert(text).second) return true;
    if (!joined.empty()) joined += kBetween;
    if (joined.size() + text.size() > kMostBytes) {
      joined += "…";
      return false;
    }
    joined += text;
    return true;
  };
  const auto begins = [&names](const WordedBlock& block) { return !names.contains(block.facts->parent); };
  for (const WordedBlock& block : blocks) {
    if (begins(block) && block.facts->base != 0 && !add(std::string(block.text))) return joined;
  }
  for (const WordedBlock& block : blocks) {
    if (begins(block) && block.facts->base == 0 && !add(endOf(block, next))) return joined;
  }
  return joined;
}

}  // namespace spanscope::cache
