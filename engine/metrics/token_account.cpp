// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/token_account.h"

#include "engine/base/counted.h"
#include "engine/base/saturated.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::metrics {
namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns the number of tokens begin … end − 1 that are outside of all ranges.
std::int64_t uncovered(Ranges ranges, std::int64_t begin, std::int64_t end) {
  std::ranges::sort(ranges);
  std::int64_t count = 0;
  std::int64_t at = begin;
  for (const auto& [from, to] : ranges) {
    if (from >= end) break;
    if (from > at) count += from - at;
    at = std::max(at, to);
  }
  return count + std::max<std::int64_t>(0, end - at);
}

/// Whether `link` repeats tokens begin, begin + 1, … of `original` at the same positions, but attends to more
/// tokens.
bool repeats(const trace::SegmentInfo& link, const trace::SegmentInfo& original, std::int64_t begin) {
  const auto count = static_cast<std::int64_t>(link.tokens.size());
  return !link.hidden && !link.independent && link.scope != 0 && link.visibleBegin == 0 && count > 0 &&
         link.scope == original.scope && link.node == original.node && link.base == original.base + begin &&
         begin >= 0 && begin + count <= static_cast<std::int64_t>(original.tokens.size()) &&
         std::equal(link.tokens.begin(), link.tokens.end(), original.tokens.begin() + begin);
}

}  // namespace

TokenAccount& TokenAccount::operator+=(const TokenAccount& other) {
  addSaturated(hit, other.hit);
  addSaturated(relocated, other.relocated);
  addSaturated(computed, other.computed);
  addSaturated(again, other.again);
  addSaturated(padding, other.padding);
  addSaturated(delimiters, other.delimiters);
  addSaturated(cropped, other.cropped);
  return *this;
}

PromptAccount& PromptAccount::operator+=(const PromptAccount& other) {
  prompt += other.prompt;
  unread += other.unread;
  beside += other.beside;
  return *this;
}

PredictedAccount& PredictedAccount::operator+=(const PredictedAccount& other) {
  prompt += other.prompt;
  cached += other.cached;
  relocated += other.relocated;
  again += other.again;
  computed += other.computed;
  beside += other.beside;
  evicted += other.evicted;
  const auto add = [](std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& count) {
    sum = sum && count ? std::optional(*sum + *count) : std::nullopt;
  };
  add(padding, other.padding);
  add(delimiters, other.delimiters);
  add(cropped, other.cropped);
  return *this;
}

FoundTokens foundTokens(const trace::BlockLookedUp& block, std::int64_t blockSize) {
  return {.begin = block.virtualIndex * blockSize,
          .count = block.tokens,
          .relocated = block.outcome == trace::LookupOutcome::Relocated ||
                       (block.outcome == trace::LookupOutcome::Partial && block.base != block.storedBase)};
}

TokenAccount accountOf(const std::vector<FoundTokens>& found, const std::vector<std::int32_t>& again,
                       std::int64_t begin, std::int64_t end) {
  TokenAccount account;
  const auto recomputed = [&again](std::int64_t from, std::int64_t to) {
    return std::ranges::lower_bound(again, to) - std::ranges::lower_bound(again, from);
  };
  std::int64_t known = 0;
  for (const FoundTokens& block : found) {
    const std::int64_t from = std::max(begin, block.begin);
    const std::int64_t to = std::min(end, block.begin + block.count);
    if (from >= to) continue;
    const std::int64_t own = recomputed(from, to);
    (block.relocated ? account.relocated : account.hit) += to - from - own;
    account.again += own;
    known += to - from;
  }
  account.computed = std::max<std::int64_t>(0, end - begin - known);
  return account;
}

void RequestTokens::takeTable(std::span<const trace::SegmentInfo> segments) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto place = static_cast<std::uint32_t>(i);
    const auto length = static_cast<std::int64_t>(segments[i].tokens.size());
    // The rest of the segment follows, or the whole segment is hidden before.
    if (i + 1 < segments.size() && segments[i + 1].visibleBegin > 0 &&
        repeats(segments[i], segments[i + 1], segments[i + 1].visibleBegin - length)) {
      m_originals[place] = {
          .segment = place + 1, .shift = segments[i + 1].visibleBegin - length, .length = length};
    } else if (i > 0 && segments[i - 1].hidden &&
               repeats(segments[i], segments[i - 1], segments[i - 1].visibleBegin)) {
      m_originals[place] = {.segment = place - 1, .shift = segments[i - 1].visibleBegin, .length = length};
    }
  }
}

std::int64_t RequestTokens::linkedTokens(std::span<const trace::SegmentInfo> segments) {
  RequestTokens tokens;
  tokens.takeTable(segments);
  std::int64_t count = 0;
  for (const auto& [segment, original] : tokens.m_originals) count += original.length;
  return count;
}

void RequestTokens::take(const trace::LayoutApplied& applied) {
  m_padding.clear();
  m_delimiters.clear();
  m_cropped.clear();
  for (const trace::LayoutRun& run : applied.runs) {
    auto& ranges = run.role == trace::LayoutRole::Pad ? m_padding : m_delimiters;
    ranges[run.segment].emplace_back(run.begin, std::int64_t{run.begin} + run.count);
  }
  for (const trace::CroppedRun& run : applied.cropped)
    m_cropped[run.node] += static_cast<std::int64_t>(run.tokens.size());
}

void RequestTokens::take(const trace::BlockLookedUp& block, std::int64_t blockSize) {
  Segment& segment = m_segments[block.segment];
  if (!segment.lookedUp.insert(block.virtualIndex).second) return;
  if (block.tokens > 0) segment.found.push_back(foundTokens(block, blockSize));
}

void RequestTokens::take(const trace::TokensRecomputed& recomputed) {
  for (auto& [index, segment] : m_segments) segment.again.clear();
  for (const trace::RecomputedTokens& segment : recomputed.segments)
    m_segments[segment.segment].again = segment.tokens;
}

void RequestTokens::take(const trace::BatchEntry& entry) {
  if (entry.decode) return;
  auto& computed = m_segments[entry.segment].computed;
  const std::int64_t end = std::int64_t{entry.begin} + entry.count;
  if (!computed.empty() && computed.back().second == entry.begin) {
    computed.back().second = end;
  } else {
    computed.emplace_back(entry.begin, end);
  }
}

TokenAccount RequestTokens::of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const {
  const auto known = m_segments.find(segment);
  TokenAccount account = known == m_segments.end()
                             ? accountOf({}, {}, begin, end)
                             : accountOf(known->second.found, known->second.again, begin, end);
  if (m_originals.contains(segment)) {
    const std::int64_t again = repeated(segment, foundIn(segment), begin, end);
    account.again += again;
    account.computed -= again;
  }
  const auto covered = [&](const std::map<std::uint32_t, Ranges>& added) {
    const auto own = added.find(segment);
    return own == added.end() || begin >= end ? 0 : end - begin - uncovered(own->second, begin, end);
  };
  account.padding = covered(m_padding);
  account.delimiters = covered(m_delimiters);
  return account;
}

std::vector<std::int32_t> RequestTokens::again(std::uint32_t segment) const {
  std::vector<std::int32_t> tokens;
  const Ranges found = foundIn(segment);
  const auto isFound = [&found](std::int64_t token) {
    return std::ranges::any_of(
        found, [token](const auto& range) { return range.first <= token && token < range.second; });
  };
  if (const auto known = m_segments.find(segment); known != m_segments.end())
    std::ranges::copy_if(known->second.again, std::back_inserter(tokens), isFound);
  if (const auto original = m_originals.find(segment); original != m_originals.end()) {
    const auto& [other, shift, length] = original->second;
    for (const auto& [from, to] : foundIn(other)) {
      for (std::int64_t token = std::max<std::int64_t>(0, from - shift); token < std::min(length, to - shift);
           ++token) {
        if (!isFound(token)) tokens.push_back(static_cast<std::int32_t>(token));
      }
    }
  }
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

std::int64_t RequestTokens::cropped(const NodePath& node) const {
  const auto found = m_cropped.find(node);
  return found == m_cropped.end() ? 0 : found->second;
}

RequestTokens::Ranges RequestTokens::foundIn(std::uint32_t segment) const {
  Ranges ranges;
  const auto known = m_segments.find(segment);
  if (known == m_segments.end()) return ranges;
  for (const FoundTokens& block : known->second.found)
    ranges.emplace_back(block.begin, block.begin + block.count);
  return ranges;
}

std::int64_t RequestTokens::repeated(std::uint32_t segment, const Ranges& known, std::int64_t begin,
                                     std::int64_t end) const {
  const auto original = m_originals.find(segment);
  if (original == m_originals.end() || begin >= end) return 0;
  Ranges with = known;
  for (const auto& [from, to] : foundIn(original->second.segment))
    with.emplace_back(from - original->second.shift, to - original->second.shift);
  return uncovered(known, begin, end) - uncovered(std::move(with), begin, end);
}

std::int64_t RequestTokens::unread(std::uint32_t segment, std::int64_t begin, std::int64_t end) const {
  if (m_isRead || begin >= end) return 0;
  const auto known = m_segments.find(segment);
  if (known == m_segments.end()) return end - begin;
  Ranges read = known->second.computed;
  for (const auto& range : foundIn(segment)) read.push_back(range);
  return uncovered(std::move(read), begin, end);
}

TokenAccount RequestTokens::prompt(std::span<const trace::SegmentInfo> segments) const {
  TokenAccount account;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    const trace::SegmentInfo& segment = segments[i];
    if (!segment.hidden)
      account += of(i, segment.visibleBegin, static_cast<std::int64_t>(segment.tokens.size()));
  }
  for (const auto& [node, count] : m_cropped) account.cropped += count;
  return account;
}

std::int64_t visibleTokens(std::span<const trace::SegmentInfo> segments) {
  std::int64_t visible = 0;
  for (const trace::SegmentInfo& segment : segments) {
    if (!segment.hidden) visible += static_cast<std::int64_t>(segment.tokens.size()) - segment.visibleBegin;
  }
  return visible;
}

PromptAccount accountOf(const trace::RequestAdmitted& admitted) {
  return {.prompt = {.hit = admitted.cachedTokens - admitted.relocatedTokens,
                     .relocated = admitted.relocatedTokens,
                     .computed = admitted.promptTokens - admitted.cachedTokens}};
}

PromptAccount RequestTokens::account(std::span<const trace::SegmentInfo> segments,
                                     std::int64_t promptTokens) const {
  PromptAccount account{.prompt = prompt(segments)};
  for (std::uint32_t i = 0; i < segments.size() && !m_isRead; ++i) {
    const trace::SegmentInfo& segment = segments[i];
    if (segment.hidden) continue;
    const auto end = static_cast<std::int64_t>(segment.tokens.size());
    const std::int64_t left = unread(i, segment.visibleBegin, end);
    Ranges read = foundIn(i);
    if (const auto known = m_segments.find(i); known != m_segments.end())
      read.insert(read.end(), known->second.computed.begin(), known->second.computed.end());
    const std::int64_t leftAgain = repeated(i, read, segment.visibleBegin, end);
    account.unread += left;
    account.prompt.again -= leftAgain;
    account.prompt.computed -= left - leftAgain;
  }
  account.prompt.computed = std::max<std::int64_t>(0, account.prompt.computed);
  account.beside = std::max<std::int64_t>(0, promptTokens - visibleTokens(segments));
  // The engine's sums do not include copies. In these sums, a miss that is computed twice counts once.
  for (const auto& [index, known] : m_segments) {
    if (known.again.empty() || index >= segments.size() || segments[index].hidden) continue;
    const Ranges found = foundIn(index);
    for (const std::int64_t token : known.again) {
      const bool isVisible = token >= segments[index].visibleBegin;
      if (isVisible) account.beside += uncovered(found, token, token + 1);
    }
  }
  return account;
}

trace::RequestAdmitted admittedBy(const trace::StepMetrics& metrics) {
  return {.promptTokens = metrics.promptTokens,
          .cachedTokens = metrics.cachedTokens,
          .relocatedTokens = metrics.relocatedTokens};
}

void TokenAccounts::take(RequestId request, const trace::Payload& payload) {
  if (const auto* session = std::get_if<trace::SessionStarted>(&payload)) {
    m_blockSize = std::max(1, session->pool.blockSize);
  } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&payload)) {
    m_blockSize = std::max(1, snapshot->pool.blockSize);
  } else if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&payload)) {
    m_requests[request].segments = table->segments;
    m_requests[request].tokens.take(*table);
  } else if (const auto* applied = std::get_if<trace::LayoutApplied>(&payload)) {
    m_requests[request].tokens.take(*applied);
  } else if (const auto* block = std::get_if<trace::BlockLookedUp>(&payload)) {
    m_requests[request].tokens.take(*block, m_blockSize);
  } else if (const auto* recomputed = std::get_if<trace::TokensRecomputed>(&payload)) {
    m_requests[request].tokens.take(*recomputed);
  } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&payload)) {
    std::optional<trace::RequestAdmitted>& first = m_requests[request].admitted;
    if (!first) first = *admitted;
  } else if (const auto* pass = std::get_if<trace::BatchComputed>(&payload)) {
    for (const trace::BatchEntry& entry : pass->entries) m_requests[entry.request].tokens.take(entry);
  } else if (std::holds_alternative<trace::TokenGenerated>(payload)) {
    m_requests[request].tokens.setRead();
  } else if (const auto* ended = std::get_if<trace::StepFinished>(&payload)) {
    if (ended->outcome != trace::StepOutcome::Stopped && ended->outcome != trace::StepOutcome::Failed)
      m_requests[request].tokens.setRead();
  } else if (const auto* metrics = std::get_if<trace::StepMetrics>(&payload)) {
    // Some sources report only step metrics of a request.
    std::optional<trace::RequestAdmitted>& first = m_requests[request].admitted;
    if (!first) first = admittedBy(*metrics);
  }
}

PromptAccount TokenAccounts::of(RequestId request) const {
  const auto found = m_requests.find(request);
  if (found == m_requests.end() || !found->second.admitted) return {};
  const Request& own = found->second;
  if (own.segments.empty()) return accountOf(*own.admitted);
  return own.tokens.account(own.segments, own.admitted->promptTokens);
}

namespace {

std::string percentText(double share) {
  return trace::fixedPoint(std::abs(share) * 100, 1) + " %";
}

}  // namespace

double LayoutMetrics::added() const {
  return exactTokens() <= 0
             ? 0
             : static_cast<double>(pads + markers - cropped) / static_cast<double>(exactTokens());
}

LayoutMetrics& LayoutMetrics::operator+=(const LayoutMetrics& other) {
  tokens += other.tokens;
  pads += other.pads;
  padBlocks += other.padBlocks;
  markers += other.markers;
  cropped += other.cropped;
  return *this;
}

LayoutMetrics layoutMetrics(const trace::LayoutApplied& applied, std::span<const trace::SegmentInfo> segments,
                            std::int32_t blockSize) {
  LayoutMetrics counts;
  std::vector<std::int64_t> begins;  // by segment, number of visible tokens before the segment
  for (const trace::SegmentInfo& segment : segments) {
    begins.push_back(counts.tokens);
    if (!segment.hidden)
      counts.tokens += static_cast<std::int64_t>(segment.tokens.size()) - segment.visibleBegin;
  }
  std::set<std::int64_t> padded;
  for (const trace::LayoutRun& run : applied.runs) {
    if (run.segment >= segments.size()) continue;
    const trace::SegmentInfo& segment = segments[run.segment];
    if (segment.hidden) continue;
    const std::int64_t end = std::min<std::int64_t>(std::int64_t{run.begin} + run.count,
                                                    static_cast<std::int64_t>(segment.tokens.size()));
    const std::int64_t begin = std::max(run.begin, segment.visibleBegin);
    if (begin >= end) continue;
    if (run.role != trace::LayoutRole::Pad) {
      counts.markers += end - begin;
      continue;
    }
    counts.pads += end - begin;
    const std::int64_t place = begins[run.segment] - segment.visibleBegin;
    for (std::int64_t block = (place + begin) / blockSize; block <= (place + end - 1) / blockSize; ++block)
      padded.insert(block);
  }
  counts.padBlocks = static_cast<std::int64_t>(padded.size());
  for (const trace::CroppedRun& run : applied.cropped)
    counts.cropped += static_cast<std::int64_t>(run.tokens.size());
  return counts;
}

std::string layoutText(const LayoutMetrics& counts) {
  std::string text = counted(counts.pads, "padding token");
  if (counts.pads > 0) text += " in " + counted(counts.padBlocks, "block");
  text += ", " + counted(counts.markers, "delimiter token") + ", " + counted(counts.cropped, "token") +
          " truncated: ";
  const double added = counts.added();
  if (added == 0) return text + /*id:many-tokens-exact*/ "as many tokens as the exact layout";
  return text + percentText(added) + (added > 0 ? " more" : " fewer") +
         /*id:than-exact-layout*/ " tokens than the exact layout";
}

}  // namespace spanscope::metrics
