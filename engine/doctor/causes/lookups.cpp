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
  if (f.alive + f.block > f.common || f.cached >= f.withoutLimits) return false;
  finding.detail = std::to_string(f.withoutLimits - f.cached) + " tokens";
  return true;
}

/// Servers count blocks of up to 128 tokens. A smaller difference of a reported count is no loss.
constexpr std::size_t kLeastReportedLoss = 256;

bool isReportedLess(const LookupFacts& f, std::size_t allowed) {
  return f.reported &&
         static_cast<std::size_t>(std::max<std::int64_t>(0, *f.reported)) + kLeastReportedLoss <=
             f.asReported(allowed);
}

/// The log or the user must name slots or replicas. Otherwise, the cause would be a guess.
bool isOtherSlot(const LookupFacts& f, Finding& finding) {
  const bool isOther = !f.replica.empty() && !f.bestReplica.empty() && f.replica != f.bestReplica;
  // Each named server has a simulated cache, which shows whether the tokens were there.
  const bool wasElsewhere =
      f.hasServers ? f.onServer < f.withoutLimits : f.cached < f.withoutLimits || isReportedLess(f, f.cached);
  // The server can have more than the log shows.
  const bool isContradicted = f.reported && !isReportedLess(f, f.withoutLimits);
  if (isOther && wasElsewhere && !isContradicted) {
    finding.before = redacted(f.bestReplica);
    finding.after = redacted(f.replica);
    return true;
  }
  if (!f.areSlotsKnown || !f.isInOtherSlot || f.cached >= f.withoutLimits) return false;
  finding.detail = f.slot;
  return true;
}

bool isEvicted(const LookupFacts& f, Finding& finding) {
  if (!f.isLimited || f.cached + f.block > f.withoutLimits) return false;
  if (f.isInOtherSlot && !f.areSlotsKnown) return false;
  finding.detail = std::to_string(f.withoutLimits - f.cached) + " tokens";
  return true;
}

bool isUnreported(const LookupFacts& f, Finding& finding) {
  if (f.isInOtherSlot && !f.areSlotsKnown && f.cached + f.block <= f.withoutLimits) {
    finding.detail = "the log does not name the slots of the server";
    return true;
  }
  if (!isReportedLess(f, f.cached)) return false;
  finding.detail = "the server reported " + std::to_string(*f.reported) +
                   " cached tokens, the caching rules allow " + std::to_string(f.asReported(f.cached));
  return true;
}

bool isShorterThanBlock(const LookupFacts& f, Finding& finding) {
  if (f.common == 0 || f.common >= f.block || !(f.sharesSection || f.isWholeKnown)) return false;
  finding.detail = std::to_string(f.common) + " common tokens, blocks of " + std::to_string(f.block);
  return true;
}

bool isAfterLastBlock(const LookupFacts& f, Finding& finding) {
  if (!f.isWholeKnown || f.cached + 1 >= f.prompt) return false;
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

Cause expiredCause() {
  return {.id = CauseId::Expired,
          .key = "expired",
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
          .sentence = forTranslation("Causes", "No earlier prompt contains this text."),
          .example = "the first request",
          .cure = "",
          .isEdit = false,
          .matches = nullptr,
          .explains = isNeverSeen};
}

}  // namespace spanscope::doctor
