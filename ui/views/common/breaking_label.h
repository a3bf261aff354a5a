// SPDX-License-Identifier: GPL-3.0-or-later
// A label that breaks words which are wider than the label.
#pragma once

#include <QLabel>
#include <QString>

namespace spanscope::ui {

/// Returns the text with invisible places for line breaks (U+200B) in words of more than 30 characters.
QString withBreaks(const QString& text);

/// A selectable label of plain text with word wrap. QLabel alone breaks lines only between words. Then a long
/// address would run out of the label. Copied text has no invisible characters.
class BreakingLabel : public QLabel {
 public:
  explicit BreakingLabel(QWidget* parent = nullptr);

  /// Sets a text, if it is new: setting the same text again would drop the user's selection.
  void setWhole(const QString& text);
  const QString& whole() const { return m_whole; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void copySelected() const;

  QString m_whole;
};

}  // namespace spanscope::ui
