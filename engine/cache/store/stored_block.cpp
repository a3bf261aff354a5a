// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/stored_block.h"

#include "engine/base/utf8.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace spanscope::cache {

namespace {

constexpr std::size_t kMostBytes = 400;
constexpr std::string_view kBetween = " · ";

/// Maps the name of a parent to the block that follows it.
using Followers = std::unordered_map<ContentName, const WordedBlock*, ContentNameHasher>;

/// Returns the text at the end of the chain that begins with `first`. For a long chain, the result is the
/// text of the last two blocks.
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
  // Returns false when there is no space for more text.
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

namespace {

/// Collects the bytes to hash, in little-endian order on every machine. The length precedes every value of
/// variable size. Different contents therefore never give the same bytes.
class Text {
 public:
  Text(char kind, std::size_t expectedSize) {
    m_bytes.reserve(expectedSize);
    m_bytes.push_back(static_cast<std::uint8_t>(kind));
  }
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) m_bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view text) {
    number(text.size(), 8);
    m_bytes.insert(m_bytes.end(), text.begin(), text.end());
  }
  void name(const ContentName& name) { m_bytes.insert(m_bytes.end(), name.bytes.begin(), name.bytes.end()); }

  const std::vector<std::uint8_t>& bytes() const { return m_bytes; }

 private:
  std::vector<std::uint8_t> m_bytes;
};

}  // namespace

std::string ContentName::hex() const {
  return hexOf(bytes);
}

ContentName ContentNaming::root(std::string_view fingerprint, std::string_view salt,
                                std::span<const SeenName> seen, std::int64_t fixedBase) const {
  Text text('r', 32 + fingerprint.size() + salt.size() + 44 * seen.size());
  text.text(fingerprint);
  text.text(salt);
  text.number(seen.size(), 8);
  for (const SeenName& entry : seen) {
    text.name(entry.end);
    text.number(static_cast<std::uint64_t>(entry.distance), 8);
    text.number(static_cast<std::uint32_t>(entry.visibleBegin), 4);
  }
  if (fixedBase != 0) text.number(static_cast<std::uint64_t>(fixedBase), 8);
  return {m_hmac(text.bytes())};
}

ContentName ContentNaming::block(const ContentName& parent, std::span<const TokenId> tokens) const {
  Text text('b', 48 + 4 * tokens.size());
  text.name(parent);
  text.number(tokens.size(), 4);
  for (const TokenId token : tokens) text.number(static_cast<std::uint32_t>(token), 4);
  return {m_hmac(text.bytes())};
}

std::int64_t fileTime(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000 + time.tv_nsec / 1'000'000;
}

}  // namespace spanscope::cache
