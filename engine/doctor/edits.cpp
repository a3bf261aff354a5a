// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/edits.h"

#include "engine/base/hash.h"
#include "engine/doctor/causes.h"
#include "engine/doctor/prompt_tokens.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace spanscope::doctor {
namespace {

/// Whether the cure of a finding edits the prompt.
bool isEditable(const RequestReport& report, EditKind kind) {
  return std::ranges::any_of(report.findings, [&](const NamedFinding& one) {
    return causeOf(one.finding.cause).isEdit ||
           (kind == EditKind::Documents && one.finding.cause == CauseId::DocumentElsewhere);
  });
}

/// The changed text of a section, in whole words.
std::string changedText(std::string_view before, std::string_view now) {
  std::size_t begin = 0;
  while (begin < before.size() && begin < now.size() && before[begin] == now[begin]) ++begin;
  while (begin > 0 && now[begin - 1] != ' ' && now[begin - 1] != '\n') --begin;
  std::size_t end = 0;
  while (end < before.size() - std::min(begin, before.size()) && end < now.size() - begin &&
         before[before.size() - 1 - end] == now[now.size() - 1 - end])
    ++end;
  while (end > 0 && now[now.size() - end] != ' ' && now[now.size() - end] != '\n') --end;
  // Without the name before it, a secret could no longer be recognized.
  return redacted(now, begin, now.size() - end);
}

bool needsNote(const RequestReport& report, std::size_t section) {
  for (const NamedFinding& one : report.findings) {
    if (one.finding.section != static_cast<std::int32_t>(section)) continue;
    switch (one.finding.cause) {
      case CauseId::WhiteSpace:
      case CauseId::KeyOrder:
      case CauseId::Template:
      case CauseId::DocumentOrder:
        continue;
      default:
        return true;
    }
  }
  return false;
}

}  // namespace

void ConversationTools::add(std::uint32_t conversation, const LoggedRequest& request) {
  if (request.tools.empty()) return;
  List& list = m_lists[conversation];
  std::vector<Tool> all = list == nullptr ? std::vector<Tool>() : *list;
  for (const Tool& tool : request.tools)
    if (std::ranges::find(all, tool.name, &Tool::name) == all.end()) all.push_back(tool);
  if (list != nullptr && *list == all) return;
  // Most conversations have the same tools.
  Digest digest;
  for (const Tool& tool : all) digest.add(tool.text);
  List& shared = m_shared[digest.value().hex()];
  if (shared == nullptr) shared = std::make_shared<const std::vector<Tool>>(std::move(all));
  list = shared;
}

const std::vector<Tool>* ConversationTools::of(std::uint32_t conversation) const {
  const auto found = m_lists.find(conversation);
  return found == m_lists.end() ? nullptr : found->second.get();
}

bool isEdited(const RequestReport& request, EditKind kind) {
  if (kind == EditKind::Usual) return isEditable(request, kind);
  return std::ranges::any_of(request.findings, [](const NamedFinding& one) {
    return one.finding.cause == CauseId::DocumentElsewhere || one.finding.cause == CauseId::DocumentOrder;
  });
}

LogEditor::LogEditor(const LogReport& report, const ConversationTools& tools, EditKind kind)
    : m_report(report), m_tools(tools), m_kind(kind), m_lastUse(report.requests.size(), 0) {
  for (std::size_t i = 0; i < report.requests.size(); ++i)
    if (report.requests[i].compared) m_lastUse[*report.requests[i].compared] = static_cast<std::uint32_t>(i);
}

LoggedRequest LogEditor::edited(LoggedRequest request) {
  const std::uint32_t number = m_number++;
  const RequestReport& report = m_report.requests[number];
  if (!report.refusal.empty()) return request;
  const Edited* reference = nullptr;
  bool isSame = false;
  if (report.compared) {
    if (const auto found = m_kept.find(*report.compared); found != m_kept.end())
      reference = found->second.get();
    isSame = m_report.requests[*report.compared].conversation == report.conversation;
  }
  auto made = std::make_shared<Edited>(editedOf(request, report, reference, isSame));
  if (report.compared && m_lastUse[*report.compared] == number) m_kept.erase(*report.compared);
  if (m_lastUse[number] <= number) return std::move(made->request);
  m_kept[number] = made;
  return made->request;
}

/// Keeps everything that the compared request has, and puts changes at the end.
LogEditor::Edited LogEditor::editedOf(const LoggedRequest& now, const RequestReport& report,
                                      const Edited* reference, bool isSame) const {
  Edited edited{.original = now, .request = now, .places = {}};
  LoggedRequest& made = edited.request;
  if (const std::vector<Tool>* tools = m_tools.of(report.conversation); tools != nullptr) made.tools = *tools;
  for (std::size_t i = 0; i < now.messages.size(); ++i) edited.places.push_back(i);
  if (reference == nullptr || now.messages.empty() || reference->original.messages.empty()) return edited;
  std::string notes;
  const auto note = [&](const std::string& text) {
    if (!text.empty()) notes += "\n" + text;
  };
  const LoggedRequest& before = reference->original;
  if (!isSame) {
    if (!isEditable(report, m_kind)) return edited;
    // Only tools and system message are shared with other conversations.
    if (std::ranges::any_of(report.findings,
                            [](const NamedFinding& one) { return one.finding.section == kToolsSection; }))
      made.tools = reference->request.tools;
    if (now.messages.front().role == "system" && before.messages.front().role == "system" &&
        now.messages.front() != before.messages.front()) {
      if (needsNote(report, 0))
        note(changedText(messageText(before.messages.front()), messageText(now.messages.front())));
      made.messages.front() = reference->request.messages.front();
    }
  } else {
    made.model = reference->request.model;
    made.answeredModel = reference->request.answeredModel;
    made.salt = reference->request.salt;
    made.adapter = reference->request.adapter;
    const auto pairs = pairsOf(before, now);
    std::size_t last = 0;
    bool isPaired = false;
    for (const auto& pair : pairs) {
      if (!pair || *pair >= before.messages.size()) continue;
      last = std::max(last, reference->places[*pair] + 1);
      isPaired = true;
    }
    if (!isPaired) return edited;
    made.messages.assign(reference->request.messages.begin(),
                         reference->request.messages.begin() + static_cast<std::ptrdiff_t>(last));
    bool hasNew = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i] && *pairs[i] < before.messages.size()) {
        edited.places[i] = reference->places[*pairs[i]];
        if (now.messages[i] != before.messages[*pairs[i]] && needsNote(report, i))
          note(changedText(messageText(before.messages[*pairs[i]]), messageText(now.messages[i])));
        continue;
      }
      edited.places[i] = made.messages.size();
      made.messages.push_back(pairs[i] && before.answer ? *before.answer : now.messages[i]);
      hasNew = true;
    }
    if (!notes.empty() && !hasNew) made.messages.push_back({.role = "user"});
  }
  if (m_kind == EditKind::Documents) orderDocuments(report, now, *reference, edited);
  if (!notes.empty()) {
    std::vector<Part>& parts = made.messages.back().parts;
    if (!parts.empty() && parts.back().kind == Part::Kind::Text) {
      parts.back().text += notes;
    } else {
      parts.push_back({.kind = Part::Kind::Text, .text = notes.substr(1)});
    }
  }
  return edited;
}

void LogEditor::orderDocuments(const RequestReport& report, const LoggedRequest& now, const Edited& reference,
                               Edited& edited) {
  for (const NamedFinding& one : report.findings) {
    if (one.finding.cause != CauseId::DocumentElsewhere && one.finding.cause != CauseId::DocumentOrder)
      continue;
    if (one.finding.section < 0) continue;
    const auto section = static_cast<std::size_t>(one.finding.section);
    if (section >= now.messages.size() || section >= reference.original.messages.size()) continue;
    Message& message = edited.request.messages[edited.places[section]];
    if (message.parts.size() != 1 || message.parts.front().kind != Part::Kind::Text) continue;
    const std::string before = messageText(reference.request.messages[reference.places[section]]);
    if (auto text = reordered(before, message.parts.front().text))
      message.parts.front().text = std::move(*text);
  }
}

}  // namespace spanscope::doctor
