// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "ui/export/view_picture.h"
#include "ui/theme/theme.h"

#include <QDialog>

#include <cstddef>
#include <optional>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace spanscope::ui {

/// A dialog in which the user chooses a view, a format and a size. The dialog writes the picture or the table
/// to a file or the clipboard.
class ViewExportDialog : public QDialog {
  Q_OBJECT
 public:
  /// `items` must not be empty. `current` is the id of the item that is chosen at first. `documentText` is
  /// the document that PNG and SVG files can carry; empty: none.
  ViewExportDialog(std::vector<ExportItem> items, const QString& current, const Theme& theme,
                   QWidget* parent = nullptr, std::string documentText = {});

  /// Writes the chosen item to a file. The Save button asks for the path and calls this function.
  std::optional<Error> saveTo(const QString& path);
  std::optional<Error> copy();
  /// The file name that Save proposes: "block-table.png".
  QString proposedName() const;

 private:
  const ExportItem& item() const;
  bool isTable() const;
  Theme pictureTheme() const;
  PictureOptions pictureOptions() const;
  QSize pictureSize() const;
  PaintFunction paintFunction() const;
  PictureFormat pictureFormat() const;
  void itemChanged();
  void updateControls();
  void updatePreview();
  void say(const std::optional<Error>& error, const QString& otherwise);

  std::vector<ExportItem> m_items;
  std::string m_document;
  Theme m_theme;
  QComboBox* m_view = nullptr;
  QComboBox* m_format = nullptr;
  QSpinBox* m_width = nullptr;
  QSpinBox* m_height = nullptr;
  QComboBox* m_scale = nullptr;
  QComboBox* m_scheme = nullptr;
  QCheckBox* m_transparent = nullptr;
  QCheckBox* m_carries = nullptr;
  QLabel* m_preview = nullptr;
  QLabel* m_result = nullptr;
  QLabel* m_message = nullptr;
  QPushButton* m_copy = nullptr;
  QPushButton* m_save = nullptr;
};

}  // namespace spanscope::ui
