// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QPlainTextEdit>

#include <functional>

namespace spanscope::ui {

/// Edits the text of a note in its place. Ctrl+Enter, Tab and losing the focus keep the new text; Escape
/// drops it.
class NoteEdit : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit NoteEdit(QWidget* parent);
  /// `area` is in pixels of the parent. `done` gets the text if it is kept.
  void open(const QRect& area, const QString& text, const Theme& theme,
            std::function<void(const QString&)> done);

 Q_SIGNALS:
  void closed();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void finish(bool keep);
  std::function<void(const QString&)> m_done;
};

}  // namespace spanscope::ui
