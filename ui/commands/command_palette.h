// SPDX-License-Identifier: GPL-3.0-or-later
// A popup in which a person finds a command by its name.
#pragma once

#include "ui/commands/palette_model.h"
#include "ui/theme/theme.h"

#include <QFrame>

#include <vector>

class QLabel;
class QLineEdit;
class QListView;

namespace spanscope::ui {

class PaletteDelegate;

class CommandPalette : public QFrame {
  Q_OBJECT
 public:
  /// Pops up over the upper part of `parent`'s window.
  explicit CommandPalette(QWidget* parent);

  void setTheme(const Theme& theme);
  /// Opens the popup with these commands and an empty search line.
  void open(std::vector<PaletteEntry> entries);

  QLineEdit* field() const { return m_field; }
  QListView* list() const { return m_list; }
  const PaletteModel& model() const { return *m_model; }

 Q_SIGNALS:
  /// The person has chosen a command. Sent after the popup has closed.
  void chosen(const QString& id);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void applyFilter(const QString& wanted);
  void move(int rows);
  void choose(int row);
  void place();

  Theme m_theme;
  QLineEdit* m_field = nullptr;
  QListView* m_list = nullptr;
  QLabel* m_count = nullptr;
  QLabel* m_nothing = nullptr;
  PaletteModel* m_model = nullptr;
  PaletteDelegate* m_delegate = nullptr;
};

}  // namespace spanscope::ui
