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
  /// `area` is in pixels of the parent. `done` gets the text if it is kept.
  void open(const QRect& area, const QString& text, const Theme& theme,
            std::function<void(const QString&)> done);

  /// What an editor needs that gives on every change at once, so that nothing typed is ever lost.
  struct Live {
    QString hint;
    std::function<void(const QString&)> typed;
    std::function<void()> ended;
    /// Whether a key is left to the window, e.g. for Save and Run.
    std::function<bool(const QKeySequence&)> passes;
  };
  void openLive(const QRect& area, const QString& text, const Theme& theme, Live live);
  bool isLive() const { return m_live.typed != nullptr; }
  /// Moves a live editor to this area, or shows a text that was changed elsewhere.
  void place(const QRect& area);
  void take(const QString& text);
  /// Ends a live editor.
  void end() { finish(true); }

 Q_SIGNALS:
  void closed();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void setHint(const QString& hint, const QString& keys);
  void finish(bool keep);
  std::function<void(const QString&)> m_done;
  Live m_live;
};

}  // namespace spanscope::ui
