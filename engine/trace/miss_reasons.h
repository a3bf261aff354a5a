// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the reasons of misses: their names in files and their texts for the user. Open this file to add a
// reason.
#pragma once

#include "engine/base/translation.h"
#include "engine/trace/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spanscope::trace {

/// Texts of the window are marked by forTranslation("Misses", …). %1 is the block's segment.
struct MissReasonInfo {
  MissReason reason = MissReason::None;
  std::string_view name;        ///< name in files
  const char* words = "";       ///< the only name for the user, in window, listings and manual: "evicted"
  const char* prediction = "";  ///< text of a prediction for such a block: "computed (evicted)"
  const char* sentence = "";    ///< The explanation. For TokensDiffer, %2 is the first token that differs.
  /// The explanation if the nearest block ends earlier, this block is partial, or only the position differs.
  const char* specialCase = "";
  bool tokensAreStored = false;  ///< a stored block has the same tokens, but cannot be reused here
};

/// In the order of MissReason.
inline constexpr std::array kMissReasons = {
    MissReasonInfo{
        .reason = MissReason::None, .name = "none", .prediction = forTranslation("Misses", "computed")},
    MissReasonInfo{
        .reason = MissReason::NeverSeen,
        .name = "never_seen",
        .words = forTranslation("Misses", "never seen"),
        .prediction = forTranslation("Misses", "computed (never seen)"),
        .sentence = forTranslation(
            "Misses",
            "No similar block was stored after the same prefix, so this block of %1 was computed.")},
    MissReasonInfo{
        .reason = MissReason::TokensDiffer,
        .name = "tokens_differ",
        .words = forTranslation("Misses", "tokens differ"),
        .prediction = forTranslation("Misses", "computed (tokens differ)"),
        .sentence = forTranslation("Misses",
                                   "After the same prefix, the nearest stored block differs from this "
                                   "block of %1 from token %2 on."),
        .specialCase = forTranslation(
            "Misses", "After the same prefix, the nearest stored block ends earlier than this block of %1.")},
    MissReasonInfo{.reason = MissReason::ContextDiffers,
                   .name = "context_differs",
                   .words = forTranslation("Misses", "context differs"),
                   .prediction = forTranslation(
                       "Misses", /*id:computed-attends-elsewhere*/ "computed (context differs)"),
                   .sentence = forTranslation(
                       "Misses",
                       "The same tokens are stored, but attended to other text than the tokens of %1. Keys "
                       "and values depend on this text, so the stored tokens cannot be reused."),
                   .specialCase = forTranslation(
                       "Misses",
                       "The same tokens are stored, but at other positions than in %1. "
                       "This model scales query vectors in large steps of the position, and a "
                       "step is between the two positions. The stored tokens therefore cannot be reused."),
                   .tokensAreStored = true},
    MissReasonInfo{.reason = MissReason::Evicted,
                   .name = "evicted",
                   .words = forTranslation("Misses", "evicted"),
                   .prediction = forTranslation("Misses", "computed (was evicted)"),
                   .sentence = forTranslation(
                       "Misses", "This block of %1 was stored, but was evicted before its next use.")},
    MissReasonInfo{
        .reason = MissReason::AfterMiss,
        .name = "after_miss",
        .words = forTranslation("Misses", "after a miss"),
        .prediction = forTranslation("Misses", "computed (after a miss)"),
        .sentence = forTranslation("Misses",
                                   "An earlier block in the segment of %1 was not a full hit. Keys and "
                                   "values depend on all earlier tokens, so this block was computed, "
                                   "too."),
        .tokensAreStored = true},
    MissReasonInfo{.reason = MissReason::LastToken,
                   .name = "last_token",
                   .words = forTranslation("Misses", "last token"),
                   .prediction = forTranslation("Misses", "computed (last token)"),
                   .sentence = forTranslation(
                       "Misses",
                       "This block of %1 is stored, but contains the last token of the prompt. This "
                       "token is always computed, because the answer continues from its result."),
                   .tokensAreStored = true},
    MissReasonInfo{
        .reason = MissReason::CacheOff,
        .name = "cache_off",
        .words = forTranslation("Misses", "caching is off"),
        .prediction = forTranslation("Misses", "computed (caching is off)"),
        .sentence = forTranslation("Misses", "Caching is off, so every block is computed."),
        .specialCase = forTranslation(
            "Misses", "The cache does not store this block: caching is off, or off for partial blocks.")},
};

static_assert([] {
  for (std::size_t i = 0; i < kMissReasons.size(); ++i)
    if (kMissReasons[i].reason != static_cast<MissReason>(i)) return false;
  return kMissReasons.size() == static_cast<std::size_t>(MissReason::CacheOff) + 1;
}());

/// Returns the row of None for an invalid value, which a file may contain.
constexpr const MissReasonInfo& infoOf(MissReason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return kMissReasons[index < kMissReasons.size() ? index : 0];
}

/// Returns the sentence for a lookup. Full blocks have `blockSize` token slots.
constexpr const char* sentenceOf(const BlockLookedUp& lookup, std::int32_t blockSize) {
  const MissReasonInfo& info = infoOf(lookup.reason);
  const bool isSpecial = lookup.reason == MissReason::TokensDiffer     ? lookup.tokenStored < 0
                         : lookup.reason == MissReason::ContextDiffers ? lookup.contextDiffersAt < 0
                         : lookup.reason == MissReason::CacheOff       ? lookup.wanted < blockSize
                                                                       : false;
  return isSpecial ? info.specialCase : info.sentence;
}

}  // namespace spanscope::trace
