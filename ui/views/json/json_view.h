// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the query as JSON. A change of the text changes the canvas, and a change of the canvas changes the
// text. A document keeps typed text even if the text is no query (ui/document/unread_text.h).
#pragma once

#include "engine/query/json/json.h"
#include "engine/workbench/document/document.h"
#include "ui/document/problems.h"
#include "ui/document/unread_text.h"
#include "ui/session/problem_finder.h"
#include "ui/views/common/input_view.h"

#include <QPointer>
#include <QString>
#include <QTimer>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

class QLabel;
class QListWidget;
class QToolButton;

namespace spanscope::ui {

// Turns the query of a document into JSON text and back.

/// A text and the query that was read from it.
struct JsonText {
  std::string text;                  ///< UTF-8
  std::optional<query::Node> query;  ///< nothing if the text is no query
  std::vector<query::Diagnostic> diagnostics;
  query::SourceMap sources;
  bool isEmpty = false;  ///< there is no text at all, which means an empty document
};

JsonText readJsonText(std::string text);
/// The document's query as indented JSON, with an empty seq in place of a missing input. Empty if there is no
/// query.
std::string jsonOf(const document::Document& document);
/// Whether the text means the same query as the document.
bool saysTheSame(const JsonText& text, const document::Document& document);
/// Gives the document this query, which was read from the text. If the text has an empty seq in place of a
/// missing input, the input stays missing.
void applyJson(document::Document& document, const query::Node& query);

/// The place of the node in the text, in bytes. Nothing: the node is not in the text.
std::optional<query::SourceRange> rangeOf(const JsonText& text, const document::Document& document,
                                          document::NodeId node);
/// For each node that a run leaves out, the range of its text, with all descendants.
std::vector<query::SourceRange> mutedRanges(const JsonText& text, const document::Document& document);
/// The innermost node of the document around this byte; kNoNode: none.
document::NodeId nodeAtOffset(const JsonText& text, const document::Document& document, std::size_t offset);

/// One line under the text.
struct JsonRemark {
  Severity severity = Severity::Error;
  std::optional<std::size_t> offset;  ///< byte of the text that the remark is about; nothing: none
  QString text;
};

/// Returns the remarks on the text. Text that is not in sync has only its own errors. Text that is in sync
/// has the problems of the document, and warnings about unknown fields that were left out.
std::vector<JsonRemark> remarksOn(const JsonText& text, bool isInStep, const document::Document& document,
                                  const std::vector<Problem>& problems);

/// A summary: "in sync ✓" or "line 7: expected …", and the numbers of errors and warnings.
QString jsonSummary(const JsonText& text, bool isInStep, const std::vector<JsonRemark>& remarks);

class JsonEditor;

class JsonView : public InputView {
  Q_OBJECT
 public:
  explicit JsonView(QWidget* parent = nullptr);

  QWidget* takeTitleControls() override;
  QString summary() const { return m_summary; }

 protected:
  void refresh() override;
  void modelChanged() override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void noteTyping();
  void applyTyped();
  void takeCanvas();
  /// Shows the text that was typed into this document before.
  void showTyped();
  /// Reads typed text immediately, without waiting for a pause in typing.
  void settle();
  void followUnread();
  /// Shows the current state of a large document.
  void follow();
  void keepTyping();
  void followCursor();
  /// Finds the problems of the document for the list.
  void check();
  void showState();
  void showSelection();
  bool isInStep() const { return !m_isTyped && !m_isConflict; }

  JsonEditor* m_editor;
  QWidget* m_bar;
  QLabel* m_barText;
  QWidget* m_pending;  ///< below text that is no query
  QLabel* m_pendingText;
  QListWidget* m_errors;
  QTimer m_following;  ///< ends when a large document has stopped changing
  QTimer m_typing;     ///< ends when the user stops typing
  QTimer m_checking;   ///< ends when changes have paused
  ProblemFinder m_finder;
  std::vector<Problem> m_problems;
  QPointer<UnreadText> m_unread;  ///< typed text of the document; null: no document is open
  bool m_isReporting = false;     ///< m_unread changes on behalf of this view
  JsonText m_text;                ///< the result of the last reading of the editor's text
  bool m_isOther = true;          ///< the text belongs to another document
  bool m_isTyped = false;         ///< the editor holds changes that the document does not have yet
  bool m_isConflict = false;      ///< in addition, the document has changed meanwhile
  bool m_isSetting = false;
  document::NodeId m_shownNode = document::kNoNode;
  QString m_seen;  ///< the editor's text when it changed last
  QString m_summary;
};

}  // namespace spanscope::ui
