// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/prediction.h"

#include "engine/run/trace_values.h"

#include <algorithm>

namespace spanscope::run {
namespace {

CountRange exactly(std::int64_t count) {
  return {.least = count, .most = count};
}

trace::RequestTokens tokensOf(const StepPrediction& step, std::span<const trace::SegmentInfo> segments,
                              std::int32_t blockSize) {
  trace::RequestTokens tokens;
  tokens.takeTable(segments);
  tokens.take(layoutEvent(step.table, nullptr));
  for (const trace::BlockLookedUp& block : step.blocks) tokens.take(block, std::max(1, blockSize));
  tokens.setRead();
  return tokens;
}

}  // namespace

const char* doubtName(Doubt doubt) {
  switch (doubt) {
    case Doubt::None:
      break;
    case Doubt::HoldsReply:
      return "holds_reply";
    case Doubt::ContinuesReply:
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
    case Doubt::HoldsReply:
      return "the prompt holds a reply that has yet to be sampled";
    case Doubt::ContinuesReply:
      return "a segment reaches to where a reply to an earlier prompt will stand";
    case Doubt::SeveralBlocks:
      return "what is found stands at several positions, and when replies end decides which of these is "
             "found";
    case Doubt::FullPool:
      return "the pool is full, and how long replies get decides what is evicted or has to wait";
    case Doubt::Tiers:
      return "what is loaded from host memory or the disk turns out when it is read";
  }
  return "";
}

trace::RequestTokens tokensOf(const StepPrediction& step, std::int32_t blockSize) {
  return tokensOf(step, segmentsOf(step.table), blockSize);
}

AccountForecast& AccountForecast::operator+=(const AccountForecast& other) {
  prompt += other.prompt;
  cached += other.cached;
  relocated += other.relocated;
  again += other.again;
  computed += other.computed;
  beside += other.beside;
  const auto add = [](std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& count) {
    sum = sum && count ? std::optional(*sum + *count) : std::nullopt;
  };
  add(padded, other.padded);
  add(cropped, other.cropped);
  return *this;
}

AccountForecast accountOf(const StepPrediction& step, std::int32_t blockSize) {
  const std::vector<trace::SegmentInfo> segments = segmentsOf(step.table);
  const std::int64_t visible = step.table.tokenCount();
  if (step.prompt.known() && step.cached.known() && step.relocated.known()) {
    const trace::PromptAccount account =
        tokensOf(step, segments, blockSize).account(segments, step.prompt.most);
    return {.prompt = exactly(account.total()),
            .cached = exactly(account.prompt.cached()),
            .relocated = exactly(account.prompt.relocated),
            .again = exactly(account.prompt.again),
            .computed = exactly(account.prompt.computed),
            .beside = exactly(account.beside),
            .padded = account.prompt.padded,
            .cropped = account.prompt.cropped};
  }
  // Of bounds, the step's table belongs to the upper one only. What lies beside the prompt may be found or
  // not, and so may the originals of what is computed in view of more.
  const std::int64_t beside = std::max<std::int64_t>(0, step.prompt.most - visible);
  const std::int64_t links = trace::RequestTokens::linkedTokens(segments);
  const auto fewer = [](std::int64_t count, std::int64_t by) {
    return std::max<std::int64_t>(0, count - by);
  };
  return {.prompt = {.least = fewer(step.prompt.least, beside), .most = fewer(step.prompt.most, beside)},
          .cached = {.least = fewer(step.cached.least, beside), .most = step.cached.most},
          .relocated = {.least = fewer(step.relocated.least, beside), .most = step.relocated.most},
          .again = {.least = 0, .most = links},
          .computed = {.least = fewer(step.computed.least, beside + links), .most = step.computed.most},
          .beside = {.least = 0, .most = beside},
          .padded = std::nullopt,
          .cropped = std::nullopt};
}

}  // namespace spanscope::run
