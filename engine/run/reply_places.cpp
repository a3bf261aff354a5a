// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/reply_places.h"

#include "engine/run/prediction.h"

#include <algorithm>

namespace spanscope::run {
namespace {

/// If more segments than this see unknown tokens, every other segment is taken to be like one of them.
constexpr std::size_t kMostUncertain = 64;

/// One step of SplitMix64, applied to the state so far and the next value.
std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  state += 0x9E3779B97F4A7C15ULL + value;
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBULL;
  return state ^ (state >> 31U);
}

std::uint64_t mixed(std::uint64_t state, TokenId token) {
  return mixed(state, static_cast<std::uint64_t>(static_cast<std::int64_t>(token)));
}

std::int32_t knownBeginning(const std::vector<TokenId>& tokens) {
  return static_cast<std::int32_t>(std::find_if(tokens.begin(), tokens.end(), isUnknown) - tokens.begin());
}

/// The hash of a context before its tokens. The context is compared with each beginning of the tokens, so
/// hashes are made token by token.
std::uint64_t beginning(std::uint64_t identity) {
  return mixed(identity, std::uint64_t{1});
}

}  // namespace

std::vector<ReplyPlaces::Context> ReplyPlaces::contextsOf(const layout::SpanTable& table) {
  std::vector<Context> contexts;
  contexts.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) {
    Context context;
    for (const std::uint32_t index : segment.sees) {
      const layout::Segment& seen = table.segments[index];
      const Context& other = contexts[index];
      context.known = context.known && other.known && other.knownTokens == seen.length();
      context.identity = mixed(context.identity, static_cast<std::uint64_t>(segment.base - seen.base));
      context.identity = mixed(context.identity, seen.visibleBegin);
      context.identity = mixed(context.identity, other.content);
    }
    context.knownTokens = knownBeginning(segment.tokens);
    context.content = beginning(context.identity);
    for (const TokenId token : segment.tokens) context.content = mixed(context.content, token);
    contexts.push_back(context);
  }
  return contexts;
}

void ReplyPlaces::add(const layout::SpanTable& table) {
  const std::vector<Context> contexts = contextsOf(table);
  bool isBehindReply = false;
  for (std::size_t i = 0; i < table.segments.size(); ++i) {
    const layout::Segment& segment = table.segments[i];
    const Context& context = contexts[i];
    if (isBehindReply && context.known) addMoved(segment, context);
    isBehindReply =
        isBehindReply || std::any_of(segment.runs.begin(), segment.runs.end(), [](const auto& run) {
          return run.source == layout::TokenRun::Source::Output;
        });
    const auto known = segment.tokens.begin() + context.knownTokens;
    if (!context.known) {
      std::vector<Uncertain>& alike = m_uncertain[segment.sees.size()];
      if (alike.size() >= kMostUncertain) continue;
      Uncertain entry;
      entry.tokens.assign(segment.tokens.begin(), known);
      for (const std::uint32_t index : segment.sees) {
        const std::vector<TokenId>& tokens = table.segments[index].tokens;
        entry.seen.emplace_back(tokens.begin(), tokens.begin() + contexts[index].knownTokens);
        entry.whole.push_back(contexts[index].knownTokens == table.segments[index].length());
      }
      alike.push_back(std::move(entry));
      continue;
    }
    const bool isLast = i + 1 == table.segments.size();
    if (!isLast && context.knownTokens == segment.length()) continue;
    const std::int32_t blockBegin = context.knownTokens / m_blockSize * m_blockSize;
    std::uint64_t hash = beginning(context.identity);
    for (std::int32_t token = 0; token < context.knownTokens; ++token) {
      hash = mixed(hash, segment.tokens[static_cast<std::size_t>(token)]);
      if (token + 1 > blockBegin) m_ended.insert(hash);
    }
    m_continued.insert(hash);
  }
}

void ReplyPlaces::addMoved(const layout::Segment& segment, const Context& context) {
  std::uint64_t hash = beginning(context.identity);
  for (std::int32_t token = 0; token < context.knownTokens; ++token) {
    hash = mixed(hash, segment.tokens[static_cast<std::size_t>(token)]);
    m_moved.insert(hash);
  }
}

ReplyPlaces::Reach ReplyPlaces::reach(const layout::SpanTable& table) const {
  Reach reach;
  const std::vector<Context> contexts = contextsOf(table);
  for (std::size_t i = 0; i < table.segments.size(); ++i) {
    const layout::Segment& segment = table.segments[i];
    reach.continues = reach.continues || meetsUncertain(table, segment);
    if (!contexts[i].known) continue;
    std::uint64_t hash = beginning(contexts[i].identity);
    const auto blockSize = static_cast<std::size_t>(m_blockSize);
    for (std::size_t token = 0; token < segment.tokens.size(); ++token) {
      reach.continues = reach.continues || m_continued.contains(hash);
      hash = mixed(hash, segment.tokens[token]);
      if ((token + 1) % blockSize == 0) reach.ends = reach.ends || m_moved.contains(hash);
    }
    const bool isLast = i + 1 == table.segments.size();
    reach.ends = reach.ends || (!isLast && (m_ended.contains(hash) || m_moved.contains(hash)));
  }
  return reach;
}

bool ReplyPlaces::meetsUncertain(const layout::SpanTable& table, const layout::Segment& segment) const {
  const auto found = m_uncertain.find(segment.sees.size());
  if (found == m_uncertain.end()) return false;
  return found->second.size() >= kMostUncertain ||
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const Uncertain& other) { return canBeAlike(table, segment, other); });
}

/// Distances are not compared: they depend on how long the unknown replies get.
bool ReplyPlaces::canBeAlike(const layout::SpanTable& table, const layout::Segment& segment,
                             const Uncertain& other) {
  if (!other.tokens.empty() && !segment.tokens.empty() && other.tokens.front() != segment.tokens.front()) {
    return false;
  }
  for (std::size_t i = 0; i < segment.sees.size(); ++i) {
    const std::vector<TokenId>& tokens = table.segments[segment.sees[i]].tokens;
    const std::vector<TokenId>& begins = other.seen[i];
    const bool unknown = std::any_of(tokens.begin(), tokens.end(), isUnknown);
    const auto common = std::mismatch(tokens.begin(), tokens.end(), begins.begin(), begins.end());
    if (common.second != begins.end() &&
        !(unknown && common.first != tokens.end() && isUnknown(*common.first)))
      return false;
    if (other.whole[i] && !unknown && common.first != tokens.end()) return false;
  }
  return true;
}

}  // namespace spanscope::run
