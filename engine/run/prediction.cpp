// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/prediction.h"

#include "engine/run/trace_values.h"

#include <algorithm>

namespace spanscope::run {
namespace {

CountRange exactly(std::int64_t count) {
  return {.least = count, .most = count};
}

metrics::RequestTokens tokensOf(const StepPrediction& step, std::span<const trace::SegmentInfo> segments,
                                std::int32_t blockSize) {
  metrics::RequestTokens tokens;
  tokens.takeTable(segments);
  tokens.take(layoutEvent(step.table, nullptr));
  for (const trace::BlockLookedUp& block : step.blocks) tokens.take(block, std::max(1, blockSize));
  tokens.setRead();
  return tokens;
}

/// Counts the hits of a prompt. Hits that the policy recomputes are counted separately.
class FoundRows {
 public:
  explicit FoundRows(const ChosenRows& chosen) : m_chosen(chosen), m_found(chosen.groups.size()) {}

  void add(std::uint32_t segment, const metrics::TokenAccount& tokens) {
    m_all += tokens;
    if (segment < m_chosen.groupOf.size() && m_chosen.groupOf[segment])
      m_found[*m_chosen.groupOf[segment]] += tokens;
  }

  AccountPrediction account() const {
    CountRange again = exactly(0);
    CountRange twice = exactly(0);
    CountRange relocated = exactly(m_all.relocated);
    for (std::size_t i = 0; i < m_found.size(); ++i) {
      const auto& [rows, kept] = m_chosen.groups[i];
      const metrics::TokenAccount& found = m_found[i];
      const CountRange own{.least = std::max<std::int64_t>(0, kept - (rows - found.cached())),
                           .most = std::min(kept, found.cached())};
      again += own;
      twice += {.least = std::max<std::int64_t>(0, kept - (rows - found.computed)),
                .most = std::min(kept, found.computed)};
      relocated.least -= std::min(found.relocated, own.most);
      relocated.most -= std::max<std::int64_t>(0, own.least - found.hit);
    }
    return {.prompt = exactly(m_all.total()),
            .cached = {.least = m_all.cached() - again.most, .most = m_all.cached() - again.least},
            .relocated = relocated,
            .again = {.least = m_all.again + again.least, .most = m_all.again + again.most},
            .computed = exactly(m_all.computed),
            .beside = twice,
            .padding = m_all.padding,
            .delimiters = m_all.delimiters,
            .cropped = m_all.cropped};
  }

 private:
  const ChosenRows& m_chosen;
  metrics::TokenAccount m_all;
  std::vector<metrics::TokenAccount> m_found;  ///< by group
};

}  // namespace

const char* doubtName(Doubt doubt) {
  switch (doubt) {
    case Doubt::None:
      break;
    case Doubt::HoldsAnswer:
      return "holds_reply";
    case Doubt::ContinuesAnswer:
      return "continues_reply";
    case Doubt::SeveralBlocks:
      return "several_blocks";
    case Doubt::FullPool:
      return "full_pool";
    case Doubt::Tiers:
      return "tiers";
  }
  return "none";
}

const char* doubtReason(Doubt doubt) {
  switch (doubt) {
    case Doubt::None:
      break;
    case Doubt::HoldsAnswer:
      return /*id:prompt-holds-reply*/ "the prompt contains an answer that is not sampled yet";
    case Doubt::ContinuesAnswer:
      return "a segment overlaps the positions of an answer to an earlier prompt";
    case Doubt::SeveralBlocks:
      return "a block is stored at several positions, and the order in which answers end decides which copy "
             "is the hit";
    case Doubt::FullPool:
      return "the pool is full, and the lengths of answers decide which blocks are evicted and which "
             "requests wait";
    case Doubt::Tiers:
      return "which blocks are in host memory or on disk is known only during a run";
  }
  return "";
}

metrics::RequestTokens tokensOf(const StepPrediction& step, std::int32_t blockSize) {
  return tokensOf(step, segmentsOf(step.table), blockSize);
}

AccountPrediction accountOf(const StepPrediction& step, const metrics::RequestTokens& served,
                            std::span<const trace::PartRange> ranges) {
  FoundRows found(step.chosen);
  for (const trace::PartRange& range : ranges)
    found.add(range.segment, served.of(range.segment, range.begin, range.end));
  return found.account();
}

AccountPrediction accountOf(const StepPrediction& step, std::int32_t blockSize) {
  const std::vector<trace::SegmentInfo> segments = segmentsOf(step.table);
  const std::int64_t visible = step.table.tokenCount();
  if (step.prompt.known() && step.cached.known()) {
    const metrics::RequestTokens served = tokensOf(step, segments, blockSize);
    FoundRows found(step.chosen);
    for (std::uint32_t i = 0; i < segments.size(); ++i) {
      const layout::Segment& segment = step.table.segments[i];
      if (!segment.hidden) found.add(i, served.of(i, segment.visibleBegin, segment.length()));
    }
    AccountPrediction account = found.account();
    const metrics::PromptAccount whole = served.account(segments, step.prompt.most);
    account.beside += exactly(whole.beside);
    account.cropped = whole.prompt.cropped;
    // The same tokens are hits, but it is unknown which of them are relocated.
    if (!step.relocated.known())
      account.relocated = {.least = 0, .most = std::min(step.relocated.most, account.cached.most)};
    return account;
  }
  // The step's table belongs only to the upper bound. Tokens beside the prompt may be hits or misses. The
  // same is true for the originals of recomputed copies.
  std::int64_t beside = -visible;
  for (std::size_t i = 0; i < step.table.segments.size(); ++i) {
    const bool isCopy = i < step.chosen.groupOf.size() && step.chosen.groupOf[i];
    beside += isCopy ? 0 : step.table.segments[i].length();
  }
  // A prompt may become longer than its table. If the table has tokens beside copies, the prompt may then
  // have more of these tokens.
  const std::int64_t mostBeside =
      beside == 0 ? 0 : std::max<std::int64_t>(beside, step.prompt.most - visible);
  const std::int64_t links = metrics::RequestTokens::linkedTokens(segments);
  const std::int64_t chosen = std::min(step.mostChosen, step.cached.most);
  const auto fewer = [](std::int64_t count, std::int64_t by) {
    return std::max<std::int64_t>(0, count - by);
  };
  const std::optional<std::int64_t> layout = step.isExactLayout ? std::optional(0) : std::nullopt;
  return {
      .prompt = {.least = fewer(step.prompt.least, mostBeside), .most = fewer(step.prompt.most, beside)},
      .cached = {.least = fewer(step.cached.least, mostBeside + chosen), .most = step.cached.most},
      .relocated = {.least = fewer(step.relocated.least, mostBeside + chosen), .most = step.relocated.most},
      .again = {.least = 0, .most = links + chosen},
      .computed = {.least = fewer(step.computed.least, mostBeside + links), .most = step.computed.most},
      .beside = {.least = 0, .most = mostBeside + step.mostChosen},
      .padding = layout,
      .delimiters = layout,
      .cropped = layout};
}

}  // namespace spanscope::run
