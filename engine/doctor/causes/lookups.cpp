// SPDX-License-Identifier: GPL-3.0-or-later
// The causes about the lookup of equal texts: blocks, slots, the size of the pool, and the time.
#include "engine/base/translation.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace spanscope::doctor {
namespace {

bool isExpired(const LookupFacts& f, Finding& finding) {
  if (f.alive + f.block > f.common || f.cached >= f.withoutLimits || f.isContradicted()) return false;
  finding.detail = std::to_string(f.withoutLimits - f.cached) + " tokens";
  return true;
}

/// The log or the user must name slots or replicas. Otherwise, the cause would be a guess.
bool isOtherSlot(const LookupFacts& f, Finding& finding) {
  const bool isOther = !f.replica.empty() && !f.bestReplica.empty() && f.replica != f.bestReplica;
  // Each named server has a simulated cache, which shows whether the tokens were there.
  const bool wasElsewhere =
      f.hasServers ? f.onServer < f.withoutLimits : f.cached < f.withoutLimits || f.isReportedLess(f.cached);
  // The server can have more than the log shows.
  if (f.isContradicted()) return false;
  if (isOther && wasElsewhere) {
    finding.before = redacted(f.bestReplica);
    finding.after = redacted(f.replica);
    return true;
  }
  const bool isSure = f.doubt == SlotDoubt::None && !f.isConcurrent;
  if (!isSure || !f.isInOtherSlot || f.cached >= f.withoutLimits) return false;
  finding.detail = f.slot;
  return true;
}

bool isEvicted(const LookupFacts& f, Finding& finding) {
  if (!f.isLimited || f.cached + f.block > f.withoutLimits || f.isContradicted()) return false;
  if (f.isInOtherSlot && f.doubt != SlotDoubt::None) return false;
  finding.detail = std::to_string(f.withoutLimits - f.cached) + " tokens";
  return true;
}

/// The detail of an unknown cause.
std::string reportedText(const LookupFacts& f) {
  std::string text = "the server reported " + std::to_string(*f.reported) +
                     " cached tokens, the caching rules allow " + std::to_string(f.asReported(f.byRules));
  if (f.isConcurrent) text += "; other requests ran at the same time";
  return text;
}

bool isUnreported(const LookupFacts& f, Finding& finding) {
  const bool hasLoss = f.cached + f.block <= f.withoutLimits;
  const bool isSlotUnknown = f.isInOtherSlot && f.doubt != SlotDoubt::None;
  if (hasLoss && isSlotUnknown && f.doubt != SlotDoubt::Contradicted) {
    finding.detail = f.doubt == SlotDoubt::NoCount
                         ? "the log does not name the slots of the server"
                         : "requests ran at the same time, so the log does not show their slots";
    return true;
  }
  const bool isContradicted = f.isContradicted() || isSlotUnknown;
  const bool isMuch = f.cached + kLeastReportedLoss <= f.withoutLimits;
  if (!f.isReportedLess(f.cached) && !(f.reported && isMuch && isContradicted)) return false;
  finding.detail = reportedText(f);
  return true;
}

bool isShorterThanBlock(const LookupFacts& f, Finding& finding) {
  if (f.common == 0 || f.common >= f.block || !(f.sharesSection || f.isWholeKnown)) return false;
  if (f.reported.value_or(0) > 0) return false;  // the server has smaller blocks
  finding.detail = std::to_string(f.common) + " common tokens, blocks of " + std::to_string(f.block);
  return true;
}

bool isAfterLastBlock(const LookupFacts& f, Finding& finding) {
  const bool hasBlocks = f.block > 1 && f.cached >= f.withoutLimits;
  if (!f.isWholeKnown || f.cached + 1 >= f.prompt || !hasBlocks) return false;
  // The server computed only the last token.
  if (f.reported && f.reportedPrompt && *f.reported + 1 >= *f.reportedPrompt) return false;
  finding.detail = std::to_string(f.prompt - f.cached) + " tokens";
  return true;
}

bool isNeverSeen(const LookupFacts& f, Finding&) {
  return !f.isWholeKnown && !f.isExtension;
}

}  // namespace

std::size_t LookupFacts::asReported(std::size_t tokens) const {
  // A longer prompt has parts that the log lacks, such as the tools of a transcript. A count of less than
  // half is not about this prompt.
  if (!reportedPrompt || *reportedPrompt < static_cast<std::int64_t>(prompt / 2) ||
      *reportedPrompt >= static_cast<std::int64_t>(prompt))
    return tokens;
  return static_cast<std::size_t>(static_cast<double>(tokens) * static_cast<double>(*reportedPrompt) /
                                  static_cast<double>(prompt));
}

bool LookupFacts::isReportedLess(std::size_t allowed) const {
  return reported && static_cast<std::size_t>(std::max<std::int64_t>(0, *reported)) + kLeastReportedLoss <=
                         asReported(allowed);
}

bool LookupFacts::isContradicted() const {
  if (!reported || byRules >= withoutLimits) return false;
  return 2 * surelyReused({.prompt = reportedPrompt, .cached = reported}, prompt) > byRules + withoutLimits;
}

std::size_t surelyReused(const Usage& usage, std::size_t prompt) {
  const std::int64_t cached = std::max<std::int64_t>(0, usage.cached.value_or(0));
  const auto counted = static_cast<std::int64_t>(prompt);
  const std::int64_t all = usage.prompt.value_or(counted);
  // The server counts sections that the log lacks, such as the tools of a transcript. They come first.
  if (all > counted) return static_cast<std::size_t>(std::max<std::int64_t>(0, cached - (all - counted)));
  // A count of less than half is not about this prompt.
  if (2 * all < counted) return 0;
  return static_cast<std::size_t>(static_cast<double>(cached) * static_cast<double>(counted) /
                                  static_cast<double>(std::max<std::int64_t>(1, all)));
}

Cause expiredCause() {
  return {.id = CauseId::Expired,
          .key = "expired",
          .name = forTranslation("Causes", "expired"),
          .sentence =
              forTranslation("Causes", "The cached tokens had expired: their time to live (TTL) had passed."),
          .example = "400 s after the last use",
          .cure = forTranslation("Causes", "Send the next request sooner, or increase the TTL."),
          .isEdit = false,
          .matches = nullptr,
          .explains = isExpired};
}

Cause otherSlotCause() {
  return {
      .id = CauseId::OtherSlot,
      .key = "other_slot",
      .name = forTranslation("Causes", "other slot or replica"),
      .sentence = forTranslation("Causes", "The tokens were cached in another slot or replica."),
      .example = "slot 1 instead of slot 0",
      .cure = forTranslation("Causes", "Send all requests of a conversation to the same slot or replica."),
      .isEdit = false,
      .matches = nullptr,
      .explains = isOtherSlot};
}

Cause evictedCause() {
  return {.id = CauseId::Evicted,
          .key = "evicted",
          .name = forTranslation("Causes", "evicted"),
          .sentence = forTranslation("Causes", "The pool was full, and the tokens were evicted."),
          .example = "the pool has 512 blocks",
          .cure = forTranslation("Causes", "Make the block pool of the server larger."),
          .isEdit = false,
          .matches = nullptr,
          .explains = isEvicted};
}

Cause unknownCause() {
  return {.id = CauseId::Unknown,
          .key = "unknown",
          .name = forTranslation("Causes", "unknown"),
          .sentence = forTranslation("Causes", "The log does not show the cause."),
          .example = "the server reported fewer cached tokens",
          .cure = "",
          .isEdit = false,
          .matches = nullptr,
          .explains = isUnreported};
}

Cause shorterThanBlockCause() {
  return {.id = CauseId::ShorterThanBlock,
          .key = "shorter_than_block",
          .name = forTranslation("Causes", "no common full block"),
          .sentence = forTranslation("Causes", "The common prefix is shorter than a block."),
          .example = "12 common tokens, blocks of 16",
          .cure = forTranslation("Causes", "Use smaller blocks, or a longer common prefix."),
          .isEdit = false,
          .matches = nullptr,
          .explains = isShorterThanBlock};
}

Cause afterLastBlockCause() {
  return {.id = CauseId::AfterLastBlock,
          .key = "after_last_block",
          .name = forTranslation("Causes", "after the last block"),
          .sentence = forTranslation(
              "Causes", "The server caches only full blocks, so the last tokens of the prompt are computed."),
          .example = "40 tokens, blocks of 16",
          .cure = "",
          .isEdit = false,
          .matches = nullptr,
          .explains = isAfterLastBlock};
}

Cause neverSeenCause() {
  return {.id = CauseId::NeverSeen,
          .key = "never_seen",
          .name = forTranslation("Causes", "never seen"),
          .sentence = forTranslation("Causes", "No earlier prompt contains this text."),
          .example = "the first request",
          .cure = "",
          .isEdit = false,
          .matches = nullptr,
          .explains = isNeverSeen};
}

}  // namespace spanscope::doctor
