// SPDX-License-Identifier: GPL-3.0-or-later
// The causes about messages: edited, removed, or rendered in another form.
#include "engine/base/translation.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/causes/changed_text.h"
#include "engine/doctor/prompt_tokens.h"
#include "engine/doctor/redaction.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::doctor {
namespace {

bool isHistoryCut(const Difference& d, std::size_t, Finding& finding) {
  if (!d.isSameConversation || !d.isFirstOfHistory || d.change != Difference::Change::Removed) return false;
  const auto removed = static_cast<std::size_t>(d.beforeSection);
  if (removed < d.before->messages.size() && d.before->messages[removed].role == "system") return false;
  finding.detail = "the oldest messages removed";
  if (d.nowSection >= 0 && !d.nowText.empty()) finding.detail = "replaced by a summary";
  return true;
}

bool isTemplate(const Difference& d, std::size_t, Finding& finding) {
  if (d.change == Difference::Change::Rendered) {
    finding.detail = "the template writes an earlier message in another form";
    return true;
  }
  if (d.change != Difference::Change::Edited || d.nowSection < 0) return false;
  const auto index = static_cast<std::size_t>(d.beforeSection);
  const Message* before = index < d.before->messages.size() ? &d.before->messages[index]
                          : d.before->answer                ? &*d.before->answer
                                                            : nullptr;
  const Message& now = d.now->messages[static_cast<std::size_t>(d.nowSection)];
  if (before == nullptr) return false;
  if (before->writtenRole() != now.writtenRole() && before->parts == now.parts) {
    finding.detail = "role changed";
    finding.before = redacted(before->writtenRole());
    finding.after = redacted(now.writtenRole());
    return true;
  }
  const auto withoutReasoning = [](const Message& message) {
    std::vector<Part> parts;
    for (const Part& part : message.parts)
      if (part.kind != Part::Kind::Reasoning) parts.push_back(part);
    return parts;
  };
  const auto one = withoutReasoning(*before);
  const auto other = withoutReasoning(now);
  if (one.size() == before->parts.size() && other.size() == now.parts.size()) return false;
  if (one != other) return false;
  finding.detail = one.size() < before->parts.size() && other.size() == now.parts.size() ? "reasoning dropped"
                   : one.size() == before->parts.size()                                  ? "reasoning added"
                                                        : "reasoning changed";
  return true;
}

bool isSystemEdited(const Difference& d, std::size_t at, Finding& finding) {
  const auto isSystem = [](const LoggedRequest& request, std::int32_t section) {
    const auto index = static_cast<std::size_t>(section);
    return section >= 0 && index < request.messages.size() && request.messages[index].role == "system";
  };
  const bool hasNow = isSystem(*d.now, d.nowSection);
  const bool hadBefore = isSystem(*d.before, d.beforeSection);
  if (!hasNow && !hadBefore) return false;
  if (d.change == Difference::Change::Inserted || d.change == Difference::Change::Removed) {
    if (!d.isSameConversation) return false;
    finding.detail = d.change == Difference::Change::Inserted ? "added" : "removed";
    return true;
  }
  // Other conversations can have system messages that were written from one model text.
  if (!d.isSameConversation && !areVersions(d.beforeText, d.nowText, 85)) return false;
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

bool isMessageEdited(const Difference& d, std::size_t at, Finding& finding) {
  if (!d.isSameConversation || d.nowSection == kToolsSection) return false;
  if (d.change == Difference::Change::Removed || d.change == Difference::Change::Inserted) {
    finding.detail = d.change == Difference::Change::Removed ? "removed" : "inserted";
    return true;
  }
  // Another question in place of the last one is new text, also if the questions differ by a number.
  const bool wasAtEnd = static_cast<std::size_t>(d.beforeSection) + 1 == d.before->messages.size();
  if (d.isAtEnd && (wasAtEnd || !areVersions(d.beforeText, d.nowText, 50))) return false;
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

}  // namespace

Cause historyCutCause() {
  return {.id = CauseId::HistoryCut,
          .key = "history_cut",
          .name = forTranslation("Causes", "history cut"),
          .sentence = forTranslation("Causes", "The oldest messages of the conversation were removed."),
          .example = "messages 2 to 5 removed",
          .cure = forTranslation("Causes", "Keep all messages, or rarely remove many messages at once."),
          .isEdit = true,
          .matches = isHistoryCut,
          .explains = nullptr};
}

Cause templateCause() {
  return {
      .id = CauseId::Template,
      .key = "template",
      .name = forTranslation("Causes", "chat template"),
      .sentence = forTranslation("Causes", "The chat template renders an earlier message in another form."),
      .example = "reasoning dropped",
      .cure = forTranslation("Causes", "Send earlier messages unchanged, with the same roles and reasoning."),
      .isEdit = true,
      .matches = isTemplate,
      .explains = nullptr};
}

Cause systemEditedCause() {
  return {.id = CauseId::SystemEdited,
          .key = "system_edited",
          .name = forTranslation("Causes", "system message edited"),
          .sentence = forTranslation("Causes", "The system message was edited."),
          .example = "You are helpful. → You are brief.",
          .cure = forTranslation("Causes",
                                 "Keep the system message unchanged. Put new text at the end of the prompt."),
          .isEdit = true,
          .matches = isSystemEdited,
          .explains = nullptr};
}

Cause messageEditedCause() {
  return {.id = CauseId::MessageEdited,
          .key = "message_edited",
          .name = forTranslation("Causes", "message edited"),
          .sentence = forTranslation("Causes", "An earlier message was edited."),
          .example = "a tool result was shortened",
          .cure = forTranslation("Causes",
                                 "Keep earlier messages unchanged. Put new text at the end of the prompt."),
          .isEdit = true,
          .matches = isMessageEdited,
          .explains = nullptr};
}

}  // namespace spanscope::doctor
