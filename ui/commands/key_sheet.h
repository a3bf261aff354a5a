// SPDX-License-Identifier: GPL-3.0-or-later
// Lists all keys on one sheet. The sheet can be shown, printed and saved as PDF. Also paints key caps.
#pragma once

#include "engine/base/error.h"
#include "ui/commands/command_table.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QPainter>
#include <QRectF>
#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

class QLabel;
class QKeySequenceEdit;
class QLineEdit;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace spanscope::ui {

struct KeyRow {
  QStringList keys;  ///< as native text; each of these keys works
  QString text;
  bool onCanvas = false;  ///< the keys work only while the canvas has the focus
  bool operator==(const KeyRow&) const = default;
};

struct KeySection {
  QString title;
  std::vector<KeyRow> rows;
  bool operator==(const KeySection&) const = default;
};

/// Makes a section for each category that has commands with keys. The last section has keys and gestures of
/// the canvas that are not commands.
std::vector<KeySection> keySheetSections(const std::vector<CommandInfo>& table);

/// Arranges the sections in columns of about equal height. Each section stays in one column.
std::vector<std::vector<KeySection>> keySheetColumns(std::vector<KeySection> sections, int columns);

/// The size of the columns in pixels with this theme's fonts.
QSize keySheetSize(const std::vector<std::vector<KeySection>>& columns, const Theme& theme);
void paintKeySheet(QPainter& painter, const std::vector<std::vector<KeySection>>& columns,
                   const Theme& theme);

/// The key sheet as text, one line per row.
QString keySheetText(const std::vector<KeySection>& sections);

/// Writes a PDF file with one page that is as large as the sheet. Writes the whole file or changes nothing.
std::optional<Error> writeKeySheetPdf(const QString& path,
                                      const std::vector<std::vector<KeySection>>& columns);

/// A dialog that shows all keys on one sheet, to read, print and save.
class KeySheet : public QDialog {
  Q_OBJECT
 public:
  /// `table` has the commands with their current keys.
  KeySheet(const std::vector<CommandInfo>& table, const Theme& theme, QWidget* parent = nullptr);

 private:
  void print();
  void save();

  std::vector<std::vector<KeySection>> m_columns;
  QLabel* m_message = nullptr;
};

// Key caps, for the command palette and the key sheet.

inline constexpr double kKeyCapHeight = 20;  ///< pixels

double keyCapWidth(const QString& key, const Theme& theme);
/// Paints a key cap with its left edge at `left`, vertically centred on `middle`.
void paintKeyCap(QPainter& painter, double left, double middle, const QString& key, const Theme& theme);

/// A dialog that shows the command table and changes keys. The changes take effect when the user accepts the
/// dialog.
class KeyEditor : public QDialog {
  Q_OBJECT
 public:
  KeyEditor(const KeyBindings& keys, const Theme& theme, QWidget* parent = nullptr);

  const KeyBindings& keys() const { return m_keys; }

 private:
  const CommandInfo* current() const;
  void fill();
  void fillRow(QTreeWidgetItem* row, const CommandInfo& info);
  void filter(const QString& words);
  void showCurrent();
  void showKey();
  void keysChanged();

  KeyBindings m_keys;
  QLineEdit* m_search = nullptr;
  QTreeWidget* m_table = nullptr;
  QLabel* m_name = nullptr;
  QKeySequenceEdit* m_key = nullptr;
  QLabel* m_message = nullptr;
  QPushButton* m_assign = nullptr;
  QPushButton* m_clear = nullptr;
  QPushButton* m_reset = nullptr;
  QPushButton* m_resetAll = nullptr;
};

}  // namespace spanscope::ui
