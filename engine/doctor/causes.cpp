// SPDX-License-Identifier: GPL-3.0-or-later
// The table of the causes, and the search in it.
#include "engine/doctor/causes.h"

#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/causes/changed_text.h"
#include "engine/doctor/prompt_tokens.h"

#include <algorithm>
#include <array>

namespace spanscope::doctor {

std::span<const Cause> causes() {
  static const std::array rows{modelCause(),
                               otherInputCause(),
                               toolsCause(),
                               historyCutCause(),
                               templateCause(),
                               documentOrderCause(),
                               whiteSpaceCause(),
                               keyOrderCause(),
                               timeCause(),
                               idCause(),
                               documentElsewhereCause(),
                               systemEditedCause(),
                               messageEditedCause(),
                               expiredCause(),
                               otherSlotCause(),
                               evictedCause(),
                               unknownCause(),
                               shorterThanBlockCause(),
                               afterLastBlockCause(),
                               neverSeenCause()};
  return rows;
}

const Cause& causeOf(CauseId id) {
  return *std::ranges::find(causes(), id, &Cause::id);
}

std::vector<Finding> findCauses(const Difference& given) {
  constexpr int kMostAtOnce = 6;
  // Unrelated texts of two conversations can differ at a time by chance.
  const bool isChance = !given.isSameConversation && given.change == Difference::Change::Edited &&
                        given.nowSection != kToolsSection &&
                        !areVersions(given.beforeText, given.nowText, 60);
  std::vector<Finding> found;
  Difference difference = given;
  for (int round = 0; round < kMostAtOnce; ++round) {
    const std::size_t at = firstDifference(difference.beforeText, difference.nowText);
    if (round > 0 && difference.beforeText == difference.nowText) break;
    Finding finding{.cause = CauseId::Unknown, .section = given.nowSection};
    bool isFound = false;
    for (const Cause& cause : causes()) {
      const bool isAboutPlace = cause.remove != nullptr;
      if (cause.matches == nullptr || (isChance && isAboutPlace)) continue;
      if (!cause.matches(difference, at, finding)) continue;
      finding.cause = cause.id;
      isFound = true;
      break;
    }
    if (!isFound && difference.nowSection == kToolsSection) {
      finding.cause = CauseId::Tools;
      finding.detail = "a definition changed";
      setExcerpts(difference.beforeText, difference.nowText, at, {}, {}, finding);
      isFound = true;
    }
    if (!isFound) break;
    if (std::ranges::find(found, finding.cause, &Finding::cause) == found.end()) found.push_back(finding);
    const auto remove = causeOf(finding.cause).remove;
    if (difference.beforeText.empty() || remove == nullptr || !remove(difference, at)) break;
  }
  return found;
}

std::optional<Finding> findCause(const LookupFacts& facts) {
  for (const Cause& cause : causes()) {
    Finding finding{.cause = cause.id, .section = kEndSection};
    if (cause.explains != nullptr && cause.explains(facts, finding)) return finding;
  }
  return {};
}

}  // namespace spanscope::doctor
