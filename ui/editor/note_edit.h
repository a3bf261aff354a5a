// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QKeySequence>
#include <QPlainTextEdit>

#include <functional>

namespace spanscope::ui {

/// Edits the text of a note or of a message in its place. Ctrl+Enter, Tab and losing the focus end it, and so
/// does Escape, which leaves a note as it was.
class NoteEdit : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit NoteEdit(QWidget* parent);
  /// Every change is given on at once, so that nothing typed is ever lost.
  struct Use {
    QString hint;
    QString keys;  ///< what ends it, as a tool tip
    std::function<void(const QString&)> typed;
    std::function<void()> ended;
    /// Whether a key is left to the window, e.g. for Save and Run. Null: none is.
    std::function<bool(const QKeySequence&)> passes{};
    bool reverts = false;  ///< Escape brings back the text that was there first
  };
  /// `area` is in pixels of the parent.
  void open(const QRect& area, const QString& text, const Theme& theme, Use use);
  /// Moves the open editor to this area, or shows a text that was changed elsewhere.
  void place(const QRect& area);
  void take(const QString& text);
  void end() { finish(true); }

 Q_SIGNALS:
  void closed();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void finish(bool keep);
  Use m_use;         ///< of the open editor; without functions: it is closed
  QString m_before;  ///< the text that was there first
};

}  // namespace spanscope::ui
