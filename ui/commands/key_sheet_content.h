// SPDX-License-Identifier: GPL-3.0-or-later
// What stands on the key sheet, and how it is drawn: on the screen, on paper, in a PDF file.
#pragma once

#include "engine/base/error.h"
#include "ui/commands/command_table.h"
#include "ui/theme/theme.h"

#include <QPainter>
#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace spanscope::ui {

struct KeyRow {
  QStringList keys;  ///< as a person reads them; any of them
  QString text;
  bool onCanvas = false;  ///< only while the canvas has the focus
  bool operator==(const KeyRow&) const = default;
};

struct KeySection {
  QString title;
  std::vector<KeyRow> rows;
  bool operator==(const KeySection&) const = default;
};

/// A section a category of the table, with its commands that have keys, and one for keys and gestures of the
/// canvas that are no commands.
std::vector<KeySection> keySheetSections(const std::vector<CommandInfo>& table);

/// The sections in columns of about equal height, without breaking a section.
std::vector<std::vector<KeySection>> keySheetColumns(std::vector<KeySection> sections, int columns);

/// Pixels that the columns take with this theme's fonts.
QSize keySheetSize(const std::vector<std::vector<KeySection>>& columns, const Theme& theme);
void paintKeySheet(QPainter& painter, const std::vector<std::vector<KeySection>>& columns,
                   const Theme& theme);

/// The same as text, a line a key.
QString keySheetText(const std::vector<KeySection>& sections);

/// One page, as large as the sheet. Either the whole file is there afterwards or nothing has changed.
std::optional<Error> writeKeySheetPdf(const QString& path,
                                      const std::vector<std::vector<KeySection>>& columns);

}  // namespace spanscope::ui
