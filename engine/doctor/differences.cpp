// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the places at which two requests differ.
#include "engine/doctor/causes.h"
#include "engine/doctor/causes/changed_text.h"
#include "engine/doctor/prompt_tokens.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::doctor {
namespace {

/// The messages of a request, with its answer at the end.
struct History {
  explicit History(const LoggedRequest& request, bool hasAnswer)
      : m_request(&request), m_hasAnswer(hasAnswer) {}
  std::size_t size() const { return m_request->messages.size() + (m_hasAnswer ? 1 : 0); }
  const Message& at(std::size_t index) const {
    return index < m_request->messages.size() ? m_request->messages[index] : *m_request->answer;
  }

 private:
  const LoggedRequest* m_request;
  bool m_hasAnswer;
};

/// A run of messages that are paired or differ.
struct Step {
  std::size_t before = 0;
  std::size_t beforeCount = 0;
  std::size_t now = 0;
  std::size_t nowCount = 0;
  bool isEqual = false;
  bool isPermuted = false;
};

bool isPermutation(const History& before, std::size_t j, const History& now, std::size_t i,
                   std::size_t& count) {
  constexpr std::size_t kMost = 64;
  std::map<std::string, int> open;
  int unpaired = 0;
  const auto change = [&](const std::string& text, int by) {
    int& number = open[text];
    unpaired -= std::abs(number);
    number += by;
    unpaired += std::abs(number);
  };
  for (count = 1; count <= kMost && i + count <= now.size() && j + count <= before.size(); ++count) {
    const Message& one = before.at(j + count - 1);
    const Message& other = now.at(i + count - 1);
    change(one.writtenRole() + "\n" + messageText(one), 1);
    change(other.writtenRole() + "\n" + messageText(other), -1);
    if (count > 1 && unpaired == 0) return true;
  }
  return false;
}

std::vector<Step> alignMessages(const LoggedRequest& earlier, const LoggedRequest& later) {
  constexpr std::size_t kFar = 200;
  const History before(earlier, earlier.answer.has_value());
  const History now(later, false);
  std::vector<Step> steps;
  std::size_t j = 0;
  std::size_t i = 0;
  while (i < now.size() && j < before.size()) {
    if (now.at(i) == before.at(j)) {
      steps.push_back({j++, 1, i++, 1, true, false});
      continue;
    }
    std::size_t count = 0;
    if (isPermutation(before, j, now, i, count)) {
      steps.push_back({j, count, i, count, false, true});
      j += count;
      i += count;
      continue;
    }
    // The nearest pair of equal messages ends the difference.
    bool isFound = false;
    for (std::size_t sum = 1; sum <= kFar && !isFound && sum <= now.size() - i + (before.size() - j); ++sum) {
      for (std::size_t step = 0; step <= 2 * sum + 1; ++step) {
        // Edits come before removals: (1, 1) before (0, 2) and (2, 0).
        const std::size_t gone =
            sum / 2 + (step % 2 == 0 ? step / 2 : static_cast<std::size_t>(0) - (step + 1) / 2);
        if (gone > sum) continue;
        const std::size_t added = sum - gone;
        if (i + added >= now.size() || j + gone >= before.size() || now.at(i + added) != before.at(j + gone))
          continue;
        steps.push_back({j, gone, i, added, false, false});
        i += added;
        j += gone;
        isFound = true;
        break;
      }
    }
    if (!isFound) {
      steps.push_back({j, 1, i, 1, false, false});
      ++i;
      ++j;
    }
  }
  return steps;
}

/// Whether two conversations share a tool or nearly a system message.
bool areOfOneProgram(const LoggedRequest& before, const LoggedRequest& now) {
  constexpr std::size_t kAlike = 60;  // percent
  const auto isShared = [&](const Tool& tool) {
    return std::ranges::find(before.tools, tool.name, &Tool::name) != before.tools.end();
  };
  if (std::ranges::any_of(now.tools, isShared)) return true;
  const auto hasSystem = [](const LoggedRequest& one) {
    return !one.messages.empty() && one.messages.front().role == "system";
  };
  return hasSystem(before) && hasSystem(now) &&
         areVersions(messageText(before.messages.front()), messageText(now.messages.front()), kAlike);
}

}  // namespace

std::vector<std::optional<std::size_t>> pairsOf(const LoggedRequest& before, const LoggedRequest& now) {
  std::vector<std::optional<std::size_t>> pairs(now.messages.size());
  for (const Step& step : alignMessages(before, now))
    for (std::size_t i = 0; i < std::min(step.beforeCount, step.nowCount); ++i)
      pairs[step.now + i] = step.before + i;
  return pairs;
}

std::vector<Difference> differencesOf(const LoggedRequest& before, const LoggedRequest& now,
                                      bool isSameConversation) {
  std::vector<Difference> found;
  const auto add = [&](Difference::Change change, std::int32_t beforeSection,
                       std::int32_t nowSection) -> Difference& {
    Difference difference{.change = change,
                          .before = &before,
                          .now = &now,
                          .beforeSection = beforeSection,
                          .nowSection = nowSection,
                          .beforeText = {},
                          .nowText = {},
                          .isSameConversation = isSameConversation};
    found.push_back(std::move(difference));
    return found.back();
  };
  const History history(before, before.answer.has_value());
  const auto textAt = [&](std::size_t index) { return messageText(history.at(index)); };
  if (before.servedModel() != now.servedModel() || before.salt != now.salt || before.adapter != now.adapter)
    add(Difference::Change::Edited, now.tools.empty() ? 0 : kToolsSection,
        now.tools.empty() ? 0 : kToolsSection);
  if (before.tools != now.tools && (isSameConversation || areOfOneProgram(before, now))) {
    Difference& difference = add(Difference::Change::Edited, kToolsSection, kToolsSection);
    difference.beforeText = sectionText(before, kToolsSection);
    difference.nowText = sectionText(now, kToolsSection);
  }
  const std::size_t first = !now.messages.empty() && now.messages.front().role == "system" ? 1 : 0;
  for (const Step& step : alignMessages(before, now)) {
    if (step.isEqual) continue;
    const auto beforeSection = static_cast<std::int32_t>(step.before);
    const auto nowSection = static_cast<std::int32_t>(step.now);
    if (step.isPermuted) {
      add(Difference::Change::Permuted, beforeSection, nowSection);
      continue;
    }
    // A shorter history that goes on with an earlier message was cut.
    const bool isCut = step.beforeCount > step.nowCount;
    const std::size_t paired =
        isCut && step.nowCount <= 1 && step.now == first ? 0 : std::min(step.beforeCount, step.nowCount);
    for (std::size_t i = 0; i < paired; ++i) {
      Difference& difference = add(Difference::Change::Edited, beforeSection + static_cast<std::int32_t>(i),
                                   nowSection + static_cast<std::int32_t>(i));
      difference.beforeText = textAt(step.before + i);
      difference.nowText = messageText(now.messages[step.now + i]);
      difference.isFirstOfHistory = step.now + i == first;
      difference.isAtEnd = step.now + i + 1 == now.messages.size();
    }
    if (step.beforeCount > paired) {
      Difference& difference =
          add(Difference::Change::Removed, beforeSection + static_cast<std::int32_t>(paired),
              nowSection + static_cast<std::int32_t>(paired));
      difference.beforeText = textAt(step.before + paired);
      difference.isFirstOfHistory = step.now + paired == first;
      if (step.nowCount > paired) difference.nowText = messageText(now.messages[step.now + paired]);
    } else if (step.nowCount > paired) {
      Difference& difference =
          add(Difference::Change::Inserted, beforeSection + static_cast<std::int32_t>(paired),
              nowSection + static_cast<std::int32_t>(paired));
      difference.nowText = messageText(now.messages[step.now + paired]);
      difference.isFirstOfHistory = step.now + paired == first;
      difference.isAtEnd = step.now + step.nowCount == now.messages.size();
    }
  }
  return found;
}

}  // namespace spanscope::doctor
