// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/unread_text.h"

#include "engine/base/problem_sentence.h"
#include "ui/words/tr.h"

#include <QFileInfo>

#include <algorithm>
#include <iterator>
#include <utility>

namespace spanscope::ui {
namespace {

/// Returns the text with an upper case first letter, as hints in the list of problems have it.
QString capitalized(const std::string& text) {
  QString sentence = QString::fromStdString(text);
  if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
  return sentence;
}

}  // namespace

UnreadText& UnreadText::of(DocumentModel& model) {
  if (auto* known = model.findChild<UnreadText*>(QString(), Qt::FindDirectChildrenOnly)) return *known;
  auto* made = new UnreadText(model);  // NOLINT(cppcoreguidelines-owning-memory): the model owns it.
  return *made;
}

const UnreadText* UnreadText::find(const DocumentModel& model) {
  return model.findChild<UnreadText*>(QString(), Qt::FindDirectChildrenOnly);
}

UnreadText::UnreadText(DocumentModel& model) : QObject(&model), m_model(model) {
  connect(&model.undoStack(), &QUndoStack::indexChanged, this, &UnreadText::followUndo);
}

void UnreadText::note(Source source, std::vector<query::Diagnostic> diagnostics) {
  if (source != Source::Paste) {
    for (const char* pointer : {"", "/query"}) removeKept(diagnostics, m_model.document(), pointer);
  }
  for (const query::Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::Warning) continue;
    QString hint = diagnostic.hint.empty() && !diagnostic.expected.empty()
                       ? tr("Expected: %1").arg(QString::fromStdString(diagnostic.expected))
                       : capitalized(diagnostic.hint);
    if (source == Source::File && m_file != nullptr && m_file->chat != query::ChatForm::None &&
        !diagnostic.pointer.empty())
      hint = tr("%1. If you save, this part stays in the file").arg(hint);
    m_leftOut.push_back({.source = source,
                         .line = diagnostic.position.line,
                         .found = QString::fromStdString(diagnostic.found),
                         .hint = hint,
                         .undoIndex = m_model.undoStack().index()});
  }
}

void UnreadText::noteFile(const std::vector<query::Diagnostic>& diagnostics,
                          std::shared_ptr<const QueryFile> file) {
  std::erase_if(m_leftOut, [](const LeftOut& part) { return part.source == Source::File; });
  m_file = std::move(file);
  m_fileIndex = m_model.undoStack().index();
  note(Source::File, diagnostics);
  Q_EMIT changed();
}

void UnreadText::notePaste(const std::vector<query::Diagnostic>& diagnostics) {
  note(Source::Paste, diagnostics);
  Q_EMIT changed();
}

void UnreadText::noteJson(const std::vector<query::Diagnostic>& diagnostics) {
  const std::size_t before = m_leftOut.size();
  std::erase_if(m_leftOut, [](const LeftOut& part) { return part.source == Source::Json; });
  const bool hasRemoved = m_leftOut.size() != before;
  const std::size_t kept = m_leftOut.size();
  note(Source::Json, diagnostics);
  if (hasRemoved || m_leftOut.size() != kept) Q_EMIT changed();
}

void UnreadText::noteSavedAsChat(const QString& path, const std::vector<query::Diagnostic>& diagnostics) {
  QueryFile file = *m_file;
  file.path = path;
  m_file = std::make_shared<const QueryFile>(std::move(file));
  m_leftOut.clear();
  note(Source::File, diagnostics);
  Q_EMIT changed();
}

void UnreadText::forgetNodes() {
  if (m_file == nullptr || m_file->nodes.empty()) return;
  QueryFile file = *m_file;
  file.nodes.clear();
  m_file = std::make_shared<const QueryFile>(std::move(file));
}

void UnreadText::noteSaved(const QString& path, std::optional<query::QueryForm> form) {
  QueryFile file;
  file.path = path;
  file.form = form.value_or(file.form);
  m_file = form ? std::make_shared<const QueryFile>(std::move(file)) : nullptr;
  if (m_leftOut.empty()) return;
  m_leftOut.clear();
  Q_EMIT changed();
}

bool UnreadText::hasOwnSettings() const {
  // hasOwnSettings() reads the usual policy of a model from the model's files, so its result is cached.
  const document::RunSettings& settings = m_model.document().settings;
  if (m_judged != settings) {
    m_judged = settings;
    m_isOwn = ui::hasOwnSettings(settings);
  }
  return m_isOwn;
}

/// Removes the warnings of undone changes, because the text of these changes is no longer in the document.
void UnreadText::followUndo(int index) {
  // Before a reload, the document had other nodes.
  if (index < m_fileIndex) forgetNodes();
  const auto removed = std::erase_if(m_leftOut, [index](const LeftOut& part) {
    return part.source != Source::File && part.undoIndex > index;
  });
  if (removed > 0) Q_EMIT changed();
}

QString UnreadText::sentence(const LeftOut& part) const {
  const QString line = QString::number(part.line);
  switch (part.source) {
    case Source::File: {
      const QString file = QFileInfo(m_model.filePath()).fileName();
      const QString name = file.isEmpty() ? m_model.title() : file;
      return part.line == 0 ? tr("%1 contains %2").arg(name, part.found)
                            : tr("Line %1 of %2 contains %3").arg(line, name, part.found);
    }
    case Source::Paste:
      return part.line == 0 ? tr("The pasted text contains %1").arg(part.found)
                            : tr("Line %1 of the pasted text contains %2").arg(line, part.found);
    case Source::Json:
      return part.line == 0 ? tr("The JSON text contained %1").arg(part.found)
                            : tr("Line %1 of the JSON text contained %2").arg(line, part.found);
  }
  return {};
}

QStringList UnreadText::leftOutOfFile() const {
  QStringList texts;
  for (const LeftOut& part : m_leftOut) {
    if (part.source != Source::File) continue;
    texts += part.line == 0 ? part.found : tr("line %1: %2").arg(QString::number(part.line), part.found);
  }
  return texts;
}

void UnreadText::setTyped(const QString& text) {
  if (m_typed == text) return;
  const bool isFirst = !m_typed.has_value();
  m_typed = text;
  if (isFirst) m_base = m_model.snapshot();
  Q_EMIT changed();
  if (isFirst) Q_EMIT m_model.stateChanged();
}

void UnreadText::setTypedErrors(std::vector<query::Diagnostic> errors) {
  if (errors == m_errors) return;
  m_errors = std::move(errors);
  Q_EMIT changed();
}

void UnreadText::takeBase() {
  m_base = m_model.snapshot();
}

void UnreadText::discardTyped() {
  if (!m_typed) return;
  m_typed.reset();
  m_errors.clear();
  m_base.reset();
  Q_EMIT changed();
  Q_EMIT m_model.stateChanged();
}

void UnreadText::settle() {
  if (m_typed) Q_EMIT settling();
}

QString UnreadText::refusal() const {
  if (!m_typed) return {};
  const std::vector<Problem> list = problems(false);
  return saidOf(list.front());
}

std::vector<Problem> UnreadText::problems(bool withJson) const {
  std::vector<Problem> list;
  if (m_typed) {
    const auto error = std::find_if(
        m_errors.begin(), m_errors.end(),
        [](const query::Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
    Problem& problem = list.emplace_back();
    problem.text = error == m_errors.end()
                       ? tr("The text in the JSON dock is not in the query")
                       : tr("The text in the JSON dock is not a query. Line %1: %2")
                             .arg(QString::number(error->position.line),
                                  QString::fromStdString(problemSentence(error->found, error->expected)));
    problem.hint = tr("Correct the text in the JSON dock, or discard this text");
  }
  for (const LeftOut& part : m_leftOut) {
    if (part.source == Source::Json && !withJson) continue;
    Problem& problem = list.emplace_back();
    problem.severity = Severity::Warning;
    problem.text = sentence(part);
    problem.hint = part.hint;
  }
  return list;
}

void removeKept(std::vector<query::Diagnostic>& warnings, const document::Document& document,
                const std::string& pointer) {
  if (warnings.empty()) return;
  const std::vector<Problem> listed = findProblems(document);
  std::erase_if(warnings, [&](const query::Diagnostic& warning) {
    return std::any_of(listed.begin(), listed.end(), [&](const Problem& problem) {
      return !problem.place.empty() && warning.pointer == pointer + problem.place;
    });
  });
}

std::vector<Problem> withUnread(const UnreadText& unread, std::vector<Problem> problems) {
  std::vector<Problem> all = unread.problems();
  all.insert(all.end(), std::make_move_iterator(problems.begin()), std::make_move_iterator(problems.end()));
  return all;
}

}  // namespace spanscope::ui
