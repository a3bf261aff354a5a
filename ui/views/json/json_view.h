// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the query as JSON. A change of the text changes the canvas, and the other way round. Text that is no
// query is kept with its document as it was typed (ui/document/unread_text.h).
#pragma once

#include "ui/document/unread_text.h"
#include "ui/session/problem_finder.h"
#include "ui/views/common/input_view.h"
#include "ui/views/json/json_sync.h"

#include <QPointer>
#include <QTimer>

#include <vector>

class QLabel;
class QListWidget;
class QToolButton;

namespace spanscope::ui {

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
  /// Reads typed text before the pause is over.
  void settle();
  void followUnread();
  /// Shows the present state of a large document.
  void follow();
  void keepTyping();
  void followCursor();
  /// Finds what the list of problems says of the document.
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
  QTimer m_typing;     ///< ends when the person has paused
  QTimer m_checking;   ///< ends when changes have paused
  ProblemFinder m_finder;
  std::vector<Problem> m_problems;
  QPointer<UnreadText> m_unread;  ///< of the document; null: none is open
  bool m_isTelling = false;       ///< m_unread changes on behalf of this view
  JsonText m_text;                ///< what was last read from the editor's text
  bool m_isOther = true;          ///< the text belongs to another document
  bool m_isTyped = false;         ///< the editor holds changes that the document does not have yet
  bool m_isConflict = false;      ///< and the document has changed meanwhile too
  bool m_isSetting = false;
  document::NodeId m_shownNode = document::kNoNode;
  QString m_seen;  ///< the editor's text when it changed last
  QString m_summary;
};

}  // namespace spanscope::ui
