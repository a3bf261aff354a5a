// SPDX-License-Identifier: GPL-3.0-or-later
// The prefix tree and the index of repeats.
#include "engine/doctor/alignment.h"

#include "engine/base/hash.h"

#include <algorithm>
#include <bit>

namespace spanscope::doctor {
namespace {

constexpr std::uint64_t kBase = 0x9FB21C651E98DF25U;  // odd, so that powers never become 0

std::uint64_t valueOf(TokenId token) {
  return mixBits(static_cast<std::uint32_t>(token));
}

std::uint64_t childKey(std::uint32_t node, TokenId token) {
  return (std::uint64_t{node} << 32U) | static_cast<std::uint32_t>(token);
}

}  // namespace

Alignment::Alignment(std::size_t repeatTokens)
    : m_least(std::max<std::size_t>(repeatTokens, 2)), m_block((m_least + 1) / 2) {
  for (std::size_t i = 0; i + 1 < m_block; ++i) m_drop *= kBase;
}

Alignment::NodeId Alignment::rootOf(std::uint64_t realm) {
  const auto [root, isNew] = m_roots.emplace(realm, static_cast<NodeId>(m_nodes.size()));
  if (isNew) {
    m_nodes.emplace_back();
    m_nodes.back().parent = root->second;
  }
  return root->second;
}

void Alignment::append(std::span<const TokenId> tokens) {
  while (!tokens.empty()) {
    // The chunks stay uninitialized until they are used.
    if (m_end / kChunk == m_store.size())
      m_store.push_back(
          std::make_unique_for_overwrite<TokenId[]>(kChunk));  // NOLINT(modernize-avoid-c-arrays)
    const std::size_t count = std::min(tokens.size(), kChunk - m_end % kChunk);
    std::ranges::copy(tokens.first(count), m_store[m_end / kChunk].get() + m_end % kChunk);
    tokens = tokens.subspan(count);
    m_end += count;
  }
}

Alignment::Found Alignment::add(const Added& added) {
  Found found;
  const std::span<const TokenId> tokens = added.tokens;
  const auto request = static_cast<std::uint32_t>(m_ends.size());
  NodeId node = rootOf(added.realm);
  std::optional<NodeId> cut;  // the node whose tokens differ
  std::size_t cutAt = 0;      // number of its common tokens
  std::size_t depth = 0;
  bool isAlive = true;
  // The prompt is looked up before the answer. The walk goes on into the answer to insert it.
  while (depth < tokens.size()) {
    const auto child = m_children.find(childKey(node, tokens[depth]));
    if (child == m_children.end()) break;
    Node& next = m_nodes[child->second];
    std::size_t same = 0;
    const std::size_t most = std::min(next.length, tokens.size() - depth);
    while (same < most && token(next.begin + same) == tokens[depth + same]) ++same;
    isAlive = isAlive && next.time >= added.oldest;
    if (depth < added.prompt) {
      found.common = std::min(added.prompt, depth + same);
      found.best = next.last;
      if (isAlive) found.alive = found.common;
    }
    if (same < next.length) {
      cut = child->second;
      cutAt = same;
      break;
    }
    node = child->second;
    depth += same;
    next.visited = request + 1;
  }
  if (added.previous) {
    for (NodeId at = m_ends[*added.previous];; at = m_nodes[at].parent) {
      if (cut == at) {
        found.withPrevious = depth + cutAt;
        break;
      }
      if (m_nodes[at].visited == request + 1) {
        found.withPrevious = m_nodes[at].depth + m_nodes[at].length;
        break;
      }
      if (m_nodes[at].parent == at) break;
    }
    found.withPrevious = std::min(found.withPrevious, added.prompt);
    if (found.withPrevious == found.common && found.common > 0) found.best = added.previous;
  }
  found.repeats = repeatsOf(tokens.first(added.prompt), found.common - std::min(found.common, m_least - 1));

  if (cut) {
    const auto upper = static_cast<NodeId>(m_nodes.size());
    Node made = m_nodes[*cut];
    made.length = cutAt;
    m_children[childKey(node, token(made.begin))] = upper;
    m_nodes.push_back(made);
    Node& lower = m_nodes[*cut];
    lower.parent = upper;
    lower.begin += cutAt;
    lower.length -= cutAt;
    lower.depth += cutAt;
    m_children[childKey(upper, token(lower.begin))] = *cut;
    node = upper;
    depth += cutAt;
  }
  if (depth < tokens.size()) {
    // The tokens before the new ones are stored again, so that no repeat is cut at this place.
    const std::size_t context = std::min(depth, m_least - 1);
    while (m_end % m_block != 0) append(std::span(tokens).first(1));
    const Region region{
        .begin = m_end, .length = tokens.size() - depth + context, .request = request, .at = depth - context};
    append(tokens.subspan(depth - context));
    m_stored += tokens.size() - depth;
    const auto leaf = static_cast<NodeId>(m_nodes.size());
    m_children[childKey(node, tokens[depth])] = leaf;
    m_nodes.push_back(
        {.parent = node, .begin = region.begin + context, .length = tokens.size() - depth, .depth = depth});
    node = leaf;
    m_regions.push_back(region);
    index(region, tokens, found.repeats);
  }
  m_ends.push_back(node);
  for (NodeId at = node;; at = m_nodes[at].parent) {
    m_nodes[at].last = request;
    m_nodes[at].time = std::max(m_nodes[at].time, added.time);
    if (m_nodes[at].parent == at) break;
  }
  return found;
}

std::vector<TokenId> Alignment::tokensOf(std::uint32_t request) const {
  std::vector<NodeId> path;
  for (NodeId at = m_ends[request]; m_nodes[at].parent != at; at = m_nodes[at].parent) path.push_back(at);
  std::vector<TokenId> tokens;
  for (auto at = path.rbegin(); at != path.rend(); ++at)
    for (std::size_t i = 0; i < m_nodes[*at].length; ++i) tokens.push_back(token(m_nodes[*at].begin + i));
  return tokens;
}

std::uint64_t Alignment::hashAt(std::size_t begin) const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < m_block; ++i) hash = hash * kBase + valueOf(token(begin + i));
  return hash;
}

bool Alignment::isSame(std::size_t left, std::size_t right) const {
  for (std::size_t i = 0; i < m_block; ++i)
    if (token(left + i) != token(right + i)) return false;
  return true;
}

const Alignment::Region& Alignment::regionAt(std::size_t begin) const {
  return *std::prev(std::ranges::upper_bound(m_regions, begin, {}, &Region::begin));
}

void Alignment::put(std::size_t block) {
  if (m_slots.size() < 2 * (m_used + 1)) grow();
  const std::size_t mask = m_slots.size() - 1;
  std::size_t alike = 0;
  std::size_t slot = mixBits(hashAt(block * m_block)) & mask;
  for (; m_slots[slot] != 0; slot = (slot + 1) & mask) {
    if (isSame((m_slots[slot] - 1) * m_block, block * m_block) && ++alike == kMostAlike) return;
  }
  m_slots[slot] = static_cast<std::uint32_t>(block + 1);
  ++m_used;
}

void Alignment::grow() {
  std::vector<std::uint32_t> before(std::max<std::size_t>(1024, m_slots.size() * 2));
  before.swap(m_slots);
  const std::size_t mask = m_slots.size() - 1;
  for (const std::uint32_t entry : before) {
    if (entry == 0) continue;
    std::size_t slot = mixBits(hashAt((entry - 1) * m_block)) & mask;
    while (m_slots[slot] != 0) slot = (slot + 1) & mask;
    m_slots[slot] = entry;
  }
}

void Alignment::index(const Region& region, std::span<const TokenId> /*tokens*/,
                      const std::vector<Repeat>& repeats) {
  // Tokens deep inside a repeat are in the index already. Runs of n tokens that leave the repeat contain a
  // block near its ends.
  for (std::size_t at = 0; at + m_block <= region.length; at += m_block) {
    const std::size_t begin = region.at + at;
    const bool isKnown = std::ranges::any_of(repeats, [&](const Repeat& repeat) {
      return begin >= repeat.begin + m_least && begin + m_block + m_least <= repeat.begin + repeat.count;
    });
    if (!isKnown) put((region.begin + at) / m_block);
  }
}

std::vector<Repeat> Alignment::repeatsOf(std::span<const TokenId> prompt, std::size_t from) const {
  std::vector<Repeat> repeats;
  if (m_slots.empty() || prompt.size() < from + m_block) return repeats;
  const std::size_t mask = m_slots.size() - 1;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < m_block; ++i) hash = hash * kBase + valueOf(prompt[from + i]);
  for (std::size_t at = from;; ++at) {
    for (std::size_t slot = mixBits(hash) & mask; m_slots[slot] != 0; slot = (slot + 1) & mask) {
      const std::size_t stored = (m_slots[slot] - 1) * m_block;
      if (token(stored) != prompt[at]) continue;
      const Region& region = regionAt(stored);
      const std::size_t place = region.at + (stored - region.begin);
      // A longer run is possible only if the tokens around the last run are equal, too.
      if (!repeats.empty()) {
        const Repeat& last = repeats.back();
        const std::size_t end = last.begin + last.count;
        if (at >= last.begin && at + m_block <= end) {
          const bool isSameRun = last.request == region.request && place - at == last.at - last.begin;
          const auto equalAt = [&](std::size_t index) {
            const std::size_t inStore = stored + index - at;
            return inStore >= region.begin && inStore < region.begin + region.length &&
                   token(inStore) == prompt[index];
          };
          if (isSameRun) continue;
          if (!(end < prompt.size() && equalAt(end)) && !(last.begin > from && equalAt(last.begin - 1)))
            continue;
        }
      }
      std::size_t same = 0;
      while (same < m_block && token(stored + same) == prompt[at + same]) ++same;
      if (same < m_block) continue;
      const std::size_t regionEnd = region.begin + region.length;
      while (at + same < prompt.size() && stored + same < regionEnd &&
             token(stored + same) == prompt[at + same])
        ++same;
      std::size_t before = 0;
      while (before < at - from && stored - before > region.begin &&
             token(stored - before - 1) == prompt[at - before - 1])
        ++before;
      const Repeat repeat{
          .begin = at - before, .count = before + same, .request = region.request, .at = place - before};
      if (repeat.count < m_least) continue;
      // The last run is replaced if the new one covers it.
      if (!repeats.empty() && repeats.back().begin >= repeat.begin &&
          repeats.back().begin + repeats.back().count <= repeat.begin + repeat.count) {
        repeats.back() = repeat;
      } else if (repeats.empty() ||
                 repeats.back().begin + repeats.back().count < repeat.begin + repeat.count ||
                 repeat.begin < repeats.back().begin) {
        repeats.push_back(repeat);
      }
    }
    if (at + m_block >= prompt.size()) break;
    hash = (hash - valueOf(prompt[at]) * m_drop) * kBase + valueOf(prompt[at + m_block]);
  }
  return repeats;
}

}  // namespace spanscope::doctor
